"""Whole LANai 4 NIC: PCI segment with host CPU and host memory on one side, its own link looped back on the other.

Strategy: as for the LANai 9 (`test_nic`), with the same shared tests, the bench is host driver and firmware at once.
Its registers have firmware's names, so their translation is tested, too (addresses, bits, limits that name the last
word). Random packets take the whole path from host memory to host memory by the one host DMA. They are compared byte by
byte at the end. NIC and bus share a gated clock.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from pymodels.nic.net import packet_key
from pymodels.nics.lanai4.registers import WORD, Ebus, Pci4, Reg4, Size4
from pymodels.registers import Control, Isr, Reg, isr_mask
from tests.block.cases import some
from tests.block.netlists import sleeping_clocks
from tests.block.nic4_card import Card4Bench
from tests.block.nic_card import BASE, CLK_TRACE, LINK_TRACE
from tests.block.nic_shared_tests import (
    RECEIVE,
    SEND,
    all_known,
    blocked,
    contended,
    interrupts,
    out_of_reset,
    random_pio,
    sleeping_changes_nothing,
    swallowed,
)


async def begin(dut: Any, **settings: int) -> Card4Bench:
    """Return a bench out of reset, with the LANai out of reset, too."""
    bench = Card4Bench(dut, **settings)
    await out_of_reset(bench)
    return bench


@cocotb.test(timeout_time=8, timeout_unit="ms")
@cocotb.parametrize(wide=[0, 1])
async def the_sram_window_stores_and_returns_bytes(dut: Any, wide: int) -> None:
    """Store and load any size, on a 32-bit bus and as a 32-bit card in a 64-bit slot."""
    await random_pio(await begin(dut, cfg_wide=wide))


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def the_host_sees_registers_big_endian(dut: Any) -> None:
    """Check the addresses of special registers, control register and version; a partial write is flagged."""
    bench = await begin(dut)
    for here in (Reg4.DEBUG, Reg4.EIMR):
        value = bench.rng.getrandbits(32)
        await bench.host_write(Pci4.REGISTERS + here, value)
        assert await bench.host_read(Pci4.REGISTERS + here) == value
    await bench.lanai_write(Reg.LED, 0xCAFE)
    assert await bench.host_read(Pci4.REGISTERS + Reg4.LED) == 0xCAFE
    assert await bench.host_read(Pci4.REGISTERS + Reg4.VERSION) == Size4.VERSION
    assert await bench.host_read(Pci4.EEPROM) == 0
    bench.cpu.store(BASE + Pci4.REGISTERS + Reg4.DEBUG, b"\1\2")
    await bench.quiet()
    assert await bench.lanai_read(Reg.ERRORS) == 8


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def the_lanai_interrupts_the_host(dut: Any) -> None:
    """Check the path from HOST_SIG through EIMR and the card's enable to INTA#, and the host's answer."""
    bench = await begin(dut)
    await interrupts(bench, Pci4.REGISTERS + Reg4.ISR, 1 << 30 | 1 << 16)
    assert bench.flags == isr_mask(Isr.LANAI_SIG)


@cocotb.test(timeout_time=16, timeout_unit="ms")
@cocotb.parametrize(delay=[0, 25])
async def a_packet_returns_over_the_looped_link(dut: Any, delay: int) -> None:
    """Send from SRAM and receive into SRAM: check bytes, syndrome, registers, ISR, trace keys; any length by SA."""
    bench = await begin(dut, cfg_delay=delay)
    for _ in some(range(8)):
        packet = bench.packet(bench.rng.randrange(5, 300))
        align = -len(packet) % WORD
        bench.sram.store(SEND, bytes(align) + packet)
        await bench.arm(RECEIVE, RECEIVE + 0x1000)
        await bench.send(SEND + align, len(packet))
        await bench.isr(Isr.RECV)
        await ClockCycles(dut.clk, 3)
        assert bench.sram.load(RECEIVE, len(packet) + 1) == packet + b"\0"
        assert await bench.lanai_read(Reg.RECV_LENGTH) == len(packet) + 1
        rmp, off_by = await bench.lanai_read(Reg.RMP), (await bench.lanai_read(Reg.ISR)) >> Isr.ORUN1 & 3
        assert rmp - RECEIVE - off_by == len(packet) + 1
        await bench.quiet()
        assert bench.last == dict.fromkeys((*CLK_TRACE, *LINK_TRACE), packet_key(packet))


@cocotb.test(timeout_time=40, timeout_unit="ms")
@cocotb.parametrize(wide=[0, 1], cut=[False, True])
async def bytes_travel_from_host_memory_to_host_memory(dut: Any, wide: int, cut: bool) -> None:
    """Move by host DMA, link and host DMA at any address; with `cut` the send follows DMA_CTR by SML."""
    bench = await begin(dut, cfg_wide=wide, cfg_start_clocks=20)
    rng, memory = bench.rng, bytearray(bench.memory.bytes)
    for number in some(range(6)):
        packet = bench.packet(WORD * rng.randrange(2, 175))
        source, target = WORD * rng.randrange(0x400), 0x8000 + 0x400 * number + WORD * rng.randrange(16)
        stored = packet + bytes(WORD)  # includes the word of the syndrome: off by three
        bench.memory.bytes[source : source + len(packet)] = packet
        memory[source : source + len(packet)] = packet
        memory[target : target + len(stored)] = stored
        bench.sram.store(RECEIVE + len(packet), bytes(WORD))
        await bench.arm(RECEIVE, RECEIVE + 0x1000)
        await bench.transfer(True, SEND, source, len(packet))
        if cut:
            await bench.send_behind_transfer(SEND, len(packet), len(packet))
        else:
            await bench.isr(Isr.WAKE1)
            await bench.send(SEND, len(packet))
        await bench.isr(Isr.RECV)
        await bench.transfer(False, RECEIVE, target, len(stored))
        await bench.isr(Isr.WAKE1)
        await bench.quiet()
        assert bench.memory.bytes == memory
        if len(packet) > 300:
            head, filled = bench.latest("tr_tx_head"), bench.latest("tr_dma_done", nth=2)
            assert (head < filled) == cut, "cut-through: the head leaves while the DMA still fills"
    assert bench.bad == []


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def a_second_transfer_is_rejected_during_the_first(dut: Any) -> None:
    """Check that a write of the DMA registers during a transfer is ignored and flagged, and the transfer ends well."""
    bench = await begin(dut)
    data = bench.rng.randbytes(800)
    bench.memory.bytes[: len(data)] = data
    await bench.transfer(True, SEND, 0, len(data))
    await bench.lanai_write(Ebus.LAR, RECEIVE)
    await bench.isr(Isr.WAKE1)
    await bench.quiet()
    assert bench.sram.load(SEND, len(data)) == data
    assert bench.bad == ["st_send_misuse"]


@cocotb.test(timeout_time=16, timeout_unit="ms")
async def a_blocked_packet_sleeps_in_the_link(dut: Any) -> None:
    """Check that an unarmed NIC sends STOP, with idle clocks and no loss; once armed, all arrives."""
    await blocked(await begin(dut))


@cocotb.test(timeout_time=16, timeout_unit="ms")
async def a_nic_in_reset_swallows_packets(dut: Any) -> None:
    """Check that LANai reset clears armed buffers and firmware state, and that packets are dropped and counted."""
    await swallowed(await begin(dut))


@cocotb.test(timeout_time=30, timeout_unit="ms")
@sleeping_clocks()
async def sleeping_clocks_change_no_time(dut: Any) -> None:
    """Move four packets on the whole path: equal times of all trace records, gated or not."""
    bench = Card4Bench(dut, cfg_start_clocks=80, cfg_cdc_latency=1)

    async def out() -> None:
        await bench.control(1 << Control.LANAI_RESET_OFF)
        await ClockCycles(dut.clk, 50)

    async def step() -> None:
        packet = bench.packet(WORD * bench.rng.randrange(5, 50))
        bench.memory.bytes[: len(packet)] = packet
        await bench.transfer(True, SEND, 0, len(packet))
        await bench.isr(Isr.WAKE1)
        await bench.send(SEND, len(packet))
        await ClockCycles(dut.clk, 100)
        await bench.arm(RECEIVE, RECEIVE + 0x1000)
        await bench.isr(Isr.RECV)
        await ClockCycles(dut.clk, 100)

    await sleeping_changes_nothing(bench, out, step)


@cocotb.test(timeout_time=8, timeout_unit="ms")
@cocotb.parametrize(accesses=[1, 2])
async def the_processor_loses_to_dma(dut: Any, accesses: int) -> None:
    """Check that a processor requesting in every clock always gets a grant, except during a DMA with one port."""
    bench = await begin(dut, cfg_accesses=accesses)
    await contended(bench, bench.transfer(False, SEND, 0x100, 2000), accesses)


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def no_output_is_unknown_after_reset(dut: Any) -> None:
    """Check that every wire of the bench's top level has a value (Icarus keeps X)."""
    await all_known(Card4Bench(dut))
