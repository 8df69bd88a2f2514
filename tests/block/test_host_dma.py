"""Host DMA engine with a memory; the bench acts as the PCI side.

Strategy: random chains of control blocks (both directions, any alignment on both sides, lengths from 0) are written
into SRAM and started. An independent model executes the same chains on byte images; SRAM, host memory, checksums,
marks, order and WAKE must agree. Grants, gaps and stalls of the PCI side and gated clocks are crossed. Priority,
continuation by PULSE, start-up time, splitting of long blocks and errors have their own tests.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles
from cocotb.utils import get_sim_time

from pymodels.nic.dma import write_block
from pymodels.registers import Block, Flag
from tb.agents.streams import never, sometimes
from tests.block.cases import cases
from tests.block.dma_bench import BLOCKS, DmaBench
from tests.block.nic_bench import NIC_PS, SRAM_BYTES


@cocotb.test(timeout_time=10, timeout_unit="ms")
@cases(stall=[0.0, 0.5], grant=[0.0, 0.6], sleep=[False, True])
async def random_chains_do_what_their_blocks_say(dut: Any, stall: float, grant: float, sleep: bool) -> None:
    """Run four chains at once, three times."""
    bench = DmaBench(dut, sleep)
    bench.pci.pace(stall)
    bench.allow = sometimes(grant, bench.rng) if grant else never()
    for chain in range(4):
        bench.chain(chain, chain * 0x200, 12, 500)
    before = bytes(bench.image)
    await bench.start()
    for chain in range(4):
        await bench.load(chain)
    assert before == bytes(bench.image)
    bench.model.pulse(15)
    expected = bench.model.run()
    await bench.pulse(15)
    await bench.idle()
    assert bench.done == expected
    bench.check()
    progress = int(dut.progress.value)
    for chain in range(4):
        last = [block for block in expected if block.chain == chain][-1]
        assert progress >> 32 * chain & 0xFFFFFFFF == last.bytes


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def every_alignment_of_both_sides_works(dut: Any) -> None:
    """Run 8 x 8 offsets in both directions, with lengths around a word."""
    bench = DmaBench(dut)
    pairs = [(a, b, e2l) for a in range(8) for b in range(8) for e2l in (0, 1)]
    await bench.start()
    for first in range(0, len(pairs), 64):
        for index, (a, b, e2l) in enumerate(pairs[first : first + 64]):
            at = index * Block.SIZE
            length = bench.rng.randrange(1, 20)
            write_block(bench.image, at, at + 24, Flag(e2l), length, BLOCKS + 32 * index + a, 64 * index + b)
        write_block(bench.image, 64 * Block.SIZE, 0, Flag.TERMINAL, 0, 0, 0)
        bench.sram.store(0, bytes(bench.image[:BLOCKS]))
        bench.model.current[1] = 0
        await bench.load(1)
        bench.model.pulse(2)
        expected = bench.model.run()
        await bench.pulse(2)
        await bench.idle()
        assert bench.done == expected
        bench.done.clear()
        bench.check()


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def a_higher_chain_goes_first_after_the_block_in_work(dut: Any) -> None:
    """Start chain 0 during the first block of chain 3: that block, then all of chain 0, then the rest."""
    bench = DmaBench(dut)
    for index in range(4):
        write_block(bench.image, index * 24, index * 24 + 24, Flag(0), 400, BLOCKS, 0x1000 * index)
        write_block(bench.image, 0x400 + index * 24, 0x418 + index * 24, Flag(0), 9, BLOCKS, 0x8000 + 16 * index)
    for base in (96, 0x460):
        write_block(bench.image, base, 0, Flag.TERMINAL, 0, 0, 0)
    await bench.start()
    bench.model.current[:] = [0x400, 0, 0, 0]
    for chain in (0, 3):
        await bench.load(chain)
    await bench.pulse(8)
    await ClockCycles(dut.clk, 30)
    await bench.pulse(1)
    await bench.idle()
    assert [block.chain for block in bench.done] == [3, 0, 0, 0, 0, 3, 3, 3]


@cocotb.test(timeout_time=10, timeout_unit="ms")
@cocotb.parametrize(start_clocks=[0, 60])
async def a_chain_continues_at_its_terminal_block(dut: Any, start_clocks: int) -> None:
    """Alternate two blocks like firmware (mark the next TERMINAL, fill and clear this one, PULSE): none is lost."""
    bench = DmaBench(dut, start_clocks=start_clocks)
    bench.image[:BLOCKS] = bytes(BLOCKS)
    for slot in (0, 1):
        write_block(bench.image, 24 * slot, 24 - 24 * slot, Flag.TERMINAL, 0, 0, 0)
    await bench.start()
    await bench.load(2)
    for number in range(60):
        slot = number % 2
        at, other = 24 * slot, 24 - 24 * slot
        while not int.from_bytes(bench.sram.load(other, 4), "big") & Flag.TERMINAL:
            await bench.edge
        length = bench.rng.randrange(1, 40)
        block = bytearray(24)
        write_block(block, 0, other, Flag.E2L, length, BLOCKS + 8 * number, 64 * number)
        bench.sram.store(at, bytes(block))
        bench.image[BLOCKS + 8 * number : BLOCKS + 8 * number + length] = bench.host[64 * number : 64 * number + length]
        await bench.pause(20)
        await bench.pulse(4)
        await bench.pause(60)
    await bench.idle()
    assert len(bench.done) == 60
    assert bench.sram.load(BLOCKS, SRAM_BYTES - BLOCKS) == bytes(bench.image[BLOCKS:])


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def the_start_up_takes_its_clocks_without_edges(dut: Any) -> None:
    """Check that the command is sent cfg_start_clocks after the fetch began, with almost no edges in between."""
    bench = DmaBench(dut, start_clocks=300)
    write_block(bench.image, 0, 24, Flag.E2L, 64, BLOCKS, 0)
    write_block(bench.image, 24, 0, Flag.TERMINAL, 0, 0, 0)
    await bench.start()
    await bench.load(0)
    await ClockCycles(dut.clk, 5)
    before = int(dut.edges.value)
    pulsed = int(get_sim_time("ps")) - bench.origin
    await bench.pulse(1)
    while not bench.pci.commands:
        await bench.edge
    started = next(time for time, what in bench.log if what == "start")
    assert 300 <= (started - pulsed) // NIC_PS <= 303
    await bench.idle()
    assert int(dut.edges.value) - before < 60


@cocotb.test(timeout_time=10, timeout_unit="ms")
@cocotb.parametrize(e2l=[0, 1])
async def a_long_block_is_split_at_word_boundaries(dut: Any, e2l: int) -> None:
    """Move 65536 bytes from an odd address: three commands, continuous data (the bench's SRAM wraps at 8 KB)."""
    bench = DmaBench(dut)
    write_block(bench.image, 0, 24, Flag(e2l), 65536, 0, 0x1003)
    write_block(bench.image, 24, 0, Flag.TERMINAL, 0, 0, 0)
    image = bytes(bench.image)
    await bench.start()
    await bench.load(0)
    await bench.pulse(1)
    await bench.idle()
    assert bench.pci.commands == [(not e2l, 0x1003, 32765), (not e2l, 0x9000, 32768), (not e2l, 0x11000, 3)]
    if e2l:
        wrapped = bytes(bench.host[0x1003 + 65536 - SRAM_BYTES :][:SRAM_BYTES])
        assert bench.sram.load(24, SRAM_BYTES - 24) == wrapped[24:]
    else:
        assert bytes(bench.host[0x1003 : 0x1003 + 65536]) == image * 8


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def an_error_stops_the_chain_at_its_block(dut: Any) -> None:
    """Check bus abort, address above 4 GB, and bytes outside the SRAM: error, no mark; PULSE retries the block."""
    bench = DmaBench(dut)
    write_block(bench.image, 0, 24, Flag.E2L, 100, BLOCKS, 0x40)
    for at, lar, eah in ((24, BLOCKS, 1), (48, 0x7FFFFF, 0), (72, 0x1000000, 0)):
        write_block(bench.image, at, at + 24, Flag(0), 8, lar, 0)
        bench.image[at + Block.EAH : at + Block.EAH + 4] = eah.to_bytes(4, "big")
    before = bytes(bench.image)
    await bench.start()
    await bench.load(1)
    bench.pci.fail_next = True
    for expected in (1, 1):
        await bench.pulse(2)
        await bench.idle()
        assert bench.errors == expected or bench.done
    assert len(bench.done) == 1 and bench.errors == 2
    for at, errors in ((24, 2), (48, 3), (72, 4)):
        bench.model.current[1] = at
        await bench.load(1)
        await bench.pulse(2)
        await bench.idle()
        assert bench.errors == errors + 1
        assert bench.sram.load(at, 4) == before[at : at + 4]
    assert len(bench.pci.commands) == 2


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def ebus_reset_stops_all_chains_between_blocks(dut: Any) -> None:
    """Check that the active block ends normally, and that nothing starts until a PULSE after the reset."""
    bench = DmaBench(dut)
    bench.chain(0, 0, 10, 300)
    await bench.start()
    await bench.load(0)
    await bench.pulse(1)
    await ClockCycles(dut.clk, 40)
    dut.hold_reset.value = 1
    await ClockCycles(dut.clk, 300)
    finished = len(bench.done)
    assert 0 < finished < 10 and not int(dut.status.value) & 0x10F
    dut.hold_reset.value = 0
    await ClockCycles(dut.clk, 100)
    assert len(bench.done) == finished
    await bench.pulse(1)
    await bench.idle()
    bench.model.pulse(1)
    assert bench.done == bench.model.run()
    bench.check()


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def sleeping_clocks_change_no_time(dut: Any) -> None:
    """Compare starts and ends in ps, with gated and free-running clocks."""
    logs, edges = [], []
    bench = DmaBench(dut, start_clocks=40)
    image = bytes(bench.image)
    for sleep in (0, 1):
        dut.rst.value = 1
        dut.sleep.value = sleep
        bench.rng.seed(3)
        bench.image[:] = image
        bench.chain(2, 0, 20, 200)
        await bench.start()
        bench.log.clear()
        begin = int(get_sim_time("ps")) - bench.origin
        await bench.load(2)
        await bench.pulse(4)
        await bench.idle()
        logs.append([(time - begin, what) for time, what in bench.log])
        edges.append(int(dut.edges.value))
    assert logs[0] == logs[1] and len(logs[0]) == 40
    assert edges[1] < edges[0]
