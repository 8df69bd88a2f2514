"""Host DMA of the machine.

Strategy: chains of control blocks are placed in SRAM as by firmware, and started by PULSE. The bytes at their target
and the words that the engine writes back are checked. Order, priority and the end of a chain are read from the trace.
Lengths and alignments are drawn by hypothesis. Invalid transfers (memory that was not allocated, a block that is too
long) must raise an error with the address.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pymodels.machine import Machine, MachineError
from pymodels.machine.host_dma import checksums
from pymodels.registers import Flag, Isr, Reg
from pymodels.trace import TraceEvent

E2L, TERMINAL, WAKE = int(Flag.E2L), int(Flag.TERMINAL), int(Flag.WAKE)


def block(machine: Machine, at: int, link: int, size: int, lar: int, eal: int) -> None:
    """Lay out a control block on node 0."""
    machine.nic(0).store_words(at, (link, 0, size, lar, 0, eal))


def load_list(machine: Machine, chain: int, at: int) -> None:
    """Load a chain's list pointer, as the host does."""
    machine.nic(0).card.write(0x800100 + 4 * chain, at.to_bytes(4, "big"))


@settings(max_examples=40)
@given(size=st.integers(0, 3000), near=st.integers(0, 15), far=st.integers(0, 15), to_sram=st.booleans())
def test_any_length_and_alignment_moves_exactly_these_bytes(size: int, near: int, far: int, to_sram: bool) -> None:
    machine = Machine(2, host_bytes=1 << 16, sram_bytes=1 << 16)
    buffer = machine.host(0).allocate(4096)
    data = bytes((i * 7 + 1) & 0xFF for i in range(size))
    nic, lar, eal = machine.nic(0), 0x1000 + near, buffer.address + far
    (machine.host(0).memory if to_sram else nic.sram).write(eal if to_sram else lar, data)
    block(machine, 0x100, 0x120 | (E2L if to_sram else 0) | WAKE, size, lar, eal)
    block(machine, 0x120, TERMINAL, 0, 0, 0)
    load_list(machine, 2, 0x100)
    nic.write(Reg.PULSE, 1 << 2)
    machine.run()
    target = nic.sram.data if to_sram else machine.host(0).memory.data
    start = lar if to_sram else eal
    assert target[start - 1 : start + size + 1] == b"\0" + data + b"\0"
    assert nic.load(0x100) & TERMINAL and nic.special.isr == 1 << Isr.WAKE2
    assert nic.special.read(Reg.DMA_PROGRESS2) == size
    assert nic.load(0x104) == checksums(lar, data)


def test_the_checksums_sum_the_two_half_words_of_each_sram_word() -> None:
    assert checksums(0x1000, bytes.fromhex("0001 0002 0003 0004")) == 0x00040006
    assert checksums(0x1001, bytes.fromhex("01 0002 03")) == 0x00010002 + 0x03000000
    assert checksums(0x1000, bytes.fromhex("ffff 0000 0001 0000 ffff 0000")) == 0x00010000
    assert checksums(0x1000, bytes.fromhex("ffff 0000 ffff 0000")) == 0xFFFF0000


def test_a_chain_works_in_order_and_stops_at_a_terminal_block() -> None:
    machine = Machine(2)
    nic, base = machine.nic(0), machine.host(0).allocate(4096).address
    nic.store_words(0x1000, (11, 22, 33))
    for i in range(3):
        link = 0x100 + 24 * (i + 1) | (TERMINAL if i == 2 else 0)
        block(machine, 0x100 + 24 * i, link, 4, 0x1000 + 4 * i, base + 4 * i)
    load_list(machine, 0, 0x100)
    nic.write(Reg.PULSE, 1)
    machine.run()
    assert machine.host(0).load_words(base, 3) == (11, 22, 0)
    assert nic.special.read(Reg.DMA_LIST0) == 0x130
    nic.store(0x130, 0x148)  # the third is filled now; the next stays terminal
    block(machine, 0x148, TERMINAL, 0, 0, 0)
    nic.write(Reg.PULSE, 1)
    machine.run()
    assert machine.host(0).load_words(base, 3) == (11, 22, 33)


def test_the_current_block_is_finished_before_a_higher_chain_is_served() -> None:
    machine = Machine(2)
    nic, base = machine.nic(0), machine.host(0).allocate(65536).address
    for chain, at in ((0, 0x100), (3, 0x200)):
        for i in range(2):
            block(machine, at + 24 * i, at + 24 * (i + 1), 2048, 0x1000, base)
        block(machine, at + 48, TERMINAL, 0, 0, 0)
        load_list(machine, chain, at)
    nic.write(Reg.PULSE, 8)
    machine.run(until_us=1)
    nic.write(Reg.PULSE, 1)
    machine.run()
    assert [record[4] for record in machine.trace.of_event(TraceEvent.DMA_DONE)] == [3, 0, 0, 3]


def test_progress_of_a_transfer_can_be_followed() -> None:
    machine = Machine(2)
    nic, base = machine.nic(0), machine.host(0).allocate(65536).address
    block(machine, 0x100, 0x120 | E2L, 4096, 0x1000, base)
    block(machine, 0x120, TERMINAL, 0, 0, 0)
    load_list(machine, 1, 0x100)
    nic.write(Reg.PULSE, 2)
    seen = []
    for microsecond in range(1, 12):
        machine.run(until_us=microsecond)
        seen.append(nic.special.read(Reg.DMA_PROGRESS1))
    assert seen == sorted(seen) and seen[0] == 0 and seen[-1] == 4096 and len(set(seen)) > 4


def test_dma_outside_of_allocated_host_memory_is_an_error() -> None:
    machine = Machine(2)
    base = machine.host(0).allocate(4096).address
    block(machine, 0x100, 0x120, 8, 0x1000, base + 4092)
    load_list(machine, 0, 0x100)
    with pytest.raises(MachineError, match=f"host host0: DMA at {base + 4092:#x}"):
        machine.nic(0).write(Reg.PULSE, 1)


@pytest.mark.parametrize(("chain", "bit"), [(0, Isr.WAKE1), (1, Isr.WAKE1), (2, Isr.WAKE2), (3, Isr.WAKE2)])
def test_each_chain_raises_its_wake_bit_if_the_block_says_so(chain: int, bit: Isr) -> None:
    machine = Machine(2)
    nic, base = machine.nic(0), machine.host(0).allocate(64).address
    block(machine, 0x100, 0x118, 4, 0x1000, base)
    block(machine, 0x118, 0x130 | WAKE, 4, 0x1000, base)
    block(machine, 0x130, TERMINAL, 0, 0, 0)
    load_list(machine, chain, 0x100)
    nic.write(Reg.PULSE, 1 << chain)
    assert nic.special.read(Reg.DMA_STATUS) == 1 << 8 | chain << 4 | 1 << chain
    while not nic.special.isr:
        machine.run(until_us=machine.kernel.now / 1e6 + 0.1)
    assert nic.load(0x118) & TERMINAL and nic.special.isr == 1 << bit
