"""Rules of the SP adapter for host and processor other than packets: SRAM, doorbells, timer, order, misuse.

Strategy: the bench is host driver and firmware at once, as in `test_sp_adapter`, with few packets. Commands must
execute in order, and misuse must be flagged without other effects. The processor must share the internal bus, and the
timer must expire with an idle clock.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from pymodels.nics.sp.registers import SpCommand, SpControl, SpError, SpPci, SpReg, SpSize, SpStatus
from tests.block.nic_card import BASE
from tests.block.nic_shared_tests import all_known
from tests.block.sp_card import TARGET, SpBench, begin, bring


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def a_fetch_waits_for_the_stores_before_it(dut: Any) -> None:
    """Check that FETCH, STORE, ALARM and READ execute in the order of the FIFO."""
    bench = await begin(dut, cfg_start_clocks=60)
    packet = bench.a_packet(64)
    for number in range(3):
        await bench.store(TARGET + 16 * number, (number, 1, 2))
    await bench.order(1 << SpCommand.ALARM, 0)
    await bring(bench, packet, 0)
    assert (await bench.read_host(TARGET + 32, 3)) == (2, 1, 2), "READ comes last and sees what the STOREs wrote"
    await bench.done()
    assert int(dut.intr.value)
    kinds = [name for _, name, _ in bench.log if name.startswith("tr_dma")]
    assert kinds == ["tr_dma_start", "tr_dma_done"] * 5
    bench.check()
    await bench.host_write(SpPci.CONTROL, 1 << SpControl.INTERRUPT)
    await bench.quiet()
    assert not int(dut.intr.value) and not await bench.lanai_read(SpReg.INTERRUPT)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def the_sram_returns_what_the_host_stores(dut: Any) -> None:
    """Check that random stores arrive in order while the right engine has the bus, and that loads see them."""
    bench = await begin(dut)
    packet, image = bench.a_packet(2032), bytearray(bench.sram.load(0, 0x400))
    await bring(bench, packet, 0)
    await bench.launch(packet)
    for _ in range(40):
        length = 4 * bench.rng.randrange(1, 9)
        at = 4 * bench.rng.randrange((0x400 - length) // 4)
        data = bench.rng.randbytes(length)
        image[at : at + length] = data
        bench.cpu.store(BASE + at, data)
        if bench.rng.random() < 0.3:
            at = 4 * bench.rng.randrange(0x100)
            assert await bench.cpu.load(BASE + at, 4) == bytes(image[at : at + 4])
    await bench.until(SpStatus.ARRIVED)
    await bench.lanai_write(SpReg.RECV_NEXT, 0)
    await bench.done()
    assert bench.sram.load(0, 0x400) == bytes(image)
    bench.check()


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(present=[0, 1])
async def doorbells_become_entries_where_the_adapter_has_them(dut: Any, present: int) -> None:
    """Check entries in SRAM, BELL and producer (`sp-future`); without doorbells a store is flagged and ignored."""
    bench = await begin(dut, cfg_doorbell=present)
    await bench.lanai_write(SpReg.BELL_BASE, 0x1000)
    for number in range(3):
        bench.cpu.store(BASE + SpPci.DOORBELL + 4 * number, (7 + number).to_bytes(4, "big"))
    await bench.cpu.all_taken()
    await bench.quiet()
    assert await bench.lanai_read(SpReg.BELL_PRODUCER) == 3 * present
    assert int(dut.isr.value) >> SpStatus.BELL & 1 == present
    if present:
        entries = [(SpPci.DOORBELL + 4 * k).to_bytes(4, "big") + (7 + k).to_bytes(4, "big") for k in range(3)]
        assert bench.sram.load(0x1000, 24) == b"".join(entries)
        await bench.lanai_write(SpReg.BELL_CONSUMER, 2)
        await bench.edge
        assert int(dut.isr.value) >> SpStatus.BELL & 1
        await bench.lanai_write(SpReg.BELL_CONSUMER, 3)
        await bench.edge
        assert not int(dut.isr.value) >> SpStatus.BELL & 1
    else:
        assert await bench.lanai_read(SpReg.ERRORS) == 1 << SpError.PIO_MISUSE


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def misuse_is_flagged_and_cleared(dut: Any) -> None:
    """Check a packet of impossible size, commands for a missing packet, and an overflowing queue."""
    bench = await begin(dut, cfg_start_clocks=2000)
    for value in (SpSize.USER + 1, (SpSize.INLINE + 1) << 16, 1 << 16 | 8):
        await bench.lanai_write(SpReg.SEND_START, value)
        assert await bench.lanai_read(SpReg.ERRORS) == 1 << SpError.SEND_MISUSE
        await bench.lanai_write(SpReg.ERRORS, 1 << SpError.SEND_MISUSE)
    await bench.lanai_write(SpReg.RECV_NEXT, 0)
    assert await bench.lanai_read(SpReg.ERRORS) == 1 << SpError.PACKET_MISUSE
    await bench.lanai_write(SpReg.ERRORS, 1 << SpError.PACKET_MISUSE)
    assert await bench.lanai_read(SpReg.ERRORS) == 0
    for _ in range(SpSize.FIFO // 16 + SpSize.QUEUE):
        await bench.store(TARGET, (1, 2))
    assert await bench.lanai_read(SpReg.ERRORS) == 1 << SpError.QUEUE_OVERFLOW
    assert not int(dut.isr.value) >> SpStatus.ROOM & 1


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def the_timer_expires_at_its_set_time(dut: Any) -> None:
    """Check that TIME is set after the written number of clocks, idle meanwhile, and that 0 stops the timer."""
    bench = await begin(dut)
    await bench.lanai_write(SpReg.TIMER, 500)
    begun, edges = int(dut.cycle.value), int(dut.edges.value)
    await bench.until(SpStatus.TIME)
    assert abs(int(dut.cycle.value) - begun - 500) <= 2
    assert int(dut.edges.value) - edges < 10
    await bench.lanai_write(SpReg.ACK, 1 << SpStatus.TIME)
    await bench.lanai_write(SpReg.TIMER, 50)
    await bench.lanai_write(SpReg.TIMER, 0)
    await ClockCycles(dut.clk, 100)
    assert not int(dut.isr.value) >> SpStatus.TIME & 1


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def the_processor_takes_turns_with_the_right_engine(dut: Any) -> None:
    """Check that a lone processor always gets the bus, and during packets after each beat at the latest."""
    bench = await begin(dut, cfg_bus_beat=3, cfg_bus_access=6)
    dut.cpu_req.value = 1
    dut.sleep.value = 0
    await bench.edge
    assert await bench.refusals(100) == 0
    packet = bench.a_packet(2000)
    await bring(bench, packet, 0)
    await bench.until_counted(SpStatus.FETCHED, 1)
    await bench.launch(packet)
    await ClockCycles(dut.clk, 20)
    refused = await bench.refusals(900)
    assert 780 <= refused <= 820, "one clock of nine: a beat of 3 clocks, then its own access of 6"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def no_output_is_unknown_after_reset(dut: Any) -> None:
    """Check that every wire of the bench's top level has a value (Icarus keeps X)."""
    await all_known(SpBench(dut))
