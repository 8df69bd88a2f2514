"""PCI agents of sanlab.agents against each other: terminations, parity, arbitration, configuration, resets, errors.

Strategy: a master and a target share a bus on which the design is idle. Each behaviour of the specification is
provoked once. It is observed by the caller, the other agent, a monitor with the bus rules, or the clock numbers.
Faults are injected by one agent and must be reported by the other.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable
from itertools import pairwise, repeat
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles

from tb.agents.wires import MissingWiresError
from tb.sanlab.agents import pci

BASE = 0x10_0000
SIZE = 1 << 12
SLOT = 5
RETRY, DISCONNECT = pci.Termination.RETRY, pci.Termination.DISCONNECT
TARGET_ABORT, MASTER_ABORT = pci.Termination.TARGET_ABORT, pci.Termination.MASTER_ABORT


class Bench:
    """Masters, target, arbiter and monitor on one bus. `monitor`: settings of the monitor."""

    def __init__(self, dut: Any, masters: int, config: pci.ConfigSpace | None, monitor: dict[str, Any]) -> None:
        dut.rst.value = 1
        for name in (
            "mc_valid",
            "mw_valid",
            "mr_ready",
            "tw_ready",
            "tread_ready",
            "td_valid",
            "card",
            "card_target_abort",
        ):
            dut[name].value = 0
        dut.base.value = 0xE000_0000
        Clock(dut.clk, 30, unit="ns", impl="gpi").start(start_high=False)
        self.dut = dut
        self.bus = pci.PciBus.from_prefix(dut, "pci")
        given = (self.bus, dut.clk, dut.rst)
        self.masters = [pci.PciMaster(*given) for _ in range(masters)]
        self.master = self.masters[0]
        self.memory = bytearray(SIZE)
        self.target = pci.PciTarget(*given, self.memory, BASE, config=config, slot=SLOT)
        self.arbiter = pci.PciArbiter(*given, park=1)
        self.monitor = pci.PciMonitor(*given, **monitor)

    @property
    def ends(self) -> list[tuple[pci.Termination, int]]:
        """Termination and data phases of each transaction."""
        return [(done.end, len(done.phases)) for done in self.monitor.transactions]


async def begin(dut: Any, masters: int = 1, config: pci.ConfigSpace | None = None, **monitor: Any) -> Bench:
    bench = Bench(dut, masters, config, monitor)
    await ClockCycles(dut.clk, 4)
    dut.rst.value = 0
    await ClockCycles(dut.clk, 2)
    bench.master.wide = False
    return bench


async def failure(call: Awaitable[Any]) -> str:
    """Return the text of the error that a call raises."""
    with pytest.raises(pci.PciError) as caught:
        await call
    return str(caught.value)


def checked(dut: Any, **settings: Any) -> Any:
    """Return the decorator of a test with a time limit."""
    return cocotb.test(timeout_time=1, timeout_unit="ms", **settings)(dut)


@checked
async def a_disconnect_without_data_ends_after_the_phases_before_it(dut: Any) -> None:
    bench = await begin(dut)
    bench.target.script += [pci.Answer(DISCONNECT, 3), pci.Answer(DISCONNECT, 2, with_data=True)]
    await bench.master.write(BASE, bytes(range(32)))
    assert bench.ends == [(DISCONNECT, 3), (DISCONNECT, 3), (pci.Termination.COMPLETION, 2)]
    assert bench.memory[:32] == bytes(range(32))


@checked
async def a_retried_read_is_repeated_after_two_clocks_without_request(dut: Any) -> None:
    bench = await begin(dut)
    bench.memory[8:12] = b"back"
    bench.target.script += [pci.Answer(RETRY), pci.Answer(RETRY)]
    assert await bench.master.read(BASE + 8, 4) == b"back"
    assert bench.ends == [(RETRY, 0), (RETRY, 0), (pci.Termination.COMPLETION, 1)]
    first, second, _ = bench.monitor.transactions
    assert second.start >= first.start + first.clocks + 1


@checked
async def a_stop_before_irdy_ends_frame_with_irdy(dut: Any) -> None:
    bench = await begin(dut)
    bench.master.irdy_waits = repeat(5)
    bench.target.devsel = 0
    bench.target.script += [pci.Answer(RETRY), pci.Answer(DISCONNECT, 1)]
    await bench.master.write(BASE, bytes(range(12)))
    assert bench.ends == [(RETRY, 0), (DISCONNECT, 1), (pci.Termination.COMPLETION, 2)]
    assert bench.memory[:12] == bytes(range(12))


@checked
async def a_master_gives_up_at_its_retry_limit(dut: Any) -> None:
    bench = await begin(dut)
    bench.master.retry_limit = 3
    bench.target.script += [pci.Answer(RETRY)] * 4
    text = await failure(bench.master.read(BASE, 4))
    assert text.startswith("MEMORY_READ 0x00100000: the target answered with Retry until the limit of the master;")
    assert bench.ends == [(RETRY, 0)] * 4


@checked
async def a_target_abort_reports_the_bytes_before_it(dut: Any) -> None:
    config = pci.ConfigSpace(0x1234, 0x5678)
    bench = await begin(dut, config=config)
    bench.target.script.append(pci.Answer(TARGET_ABORT, 2))
    text = await failure(bench.master.write(BASE, bytes(20)))
    assert text.startswith("MEMORY_WRITE 0x00100000: the target ended the transfer after 8 bytes (target abort);")
    assert bench.ends == [(TARGET_ABORT, 2)]
    assert config.status & 1 << 11


@checked
async def an_address_without_target_ends_with_a_master_abort(dut: Any) -> None:
    bench = await begin(dut)
    bench.target.script.append(pci.Answer(MASTER_ABORT))
    assert "no target asserted DEVSEL# (master abort)" in await failure(bench.master.read(BASE, 4))
    assert "no target asserted DEVSEL# (master abort)" in await failure(bench.master.write(0x40, bytes(64)))
    assert [done.clocks for done in bench.monitor.transactions] == [6, 7]


@checked
async def fast_back_to_back_writes_have_no_idle_clock(dut: Any) -> None:
    bench = await begin(dut, fast_back_to_back=True)
    bench.master.fast_back_to_back = True
    writes = [cocotb.start_soon(bench.master.write(BASE + 16 * k, bytes([k + 1] * 8))) for k in range(4)]
    for write in writes:
        await write
    assert bench.memory[:56:16] == bytes([1, 2, 3, 4])
    done = bench.monitor.transactions
    assert [after.start - before.start for before, after in pairwise(done)] == [4] * 3


@checked
async def fast_back_to_back_is_a_violation_for_other_monitors(dut: Any) -> None:
    bench = await begin(dut, strict=False)
    bench.master.fast_back_to_back = True
    writes = [cocotb.start_soon(bench.master.write(BASE + 16 * k, bytes(8))) for k in range(2)]
    for write in writes:
        await write
    assert [text.split(": ")[1] for text in bench.monitor.violations] == ["FRAME# while the bus was not idle"]


@checked
async def the_latency_timer_ends_a_burst_that_has_lost_its_grant(dut: Any) -> None:
    bench = await begin(dut, 2, latency_timers={1: 12})
    first, second = bench.masters
    second.wide = False
    first.latency_timer = 12
    long = cocotb.start_soon(first.write(BASE, bytes(400)))
    await ClockCycles(dut.clk, 6)
    await second.write(BASE + 1000, b"turn")
    await long
    masters = [done.master for done in bench.monitor.transactions]
    assert masters[:3] == [1, 2, 1]
    assert 12 <= bench.monitor.transactions[0].clocks <= 15
    assert bench.arbiter.grants[2] >= 1


@checked
async def a_burst_that_keeps_the_bus_violates_its_latency_timer(dut: Any) -> None:
    bench = await begin(dut, 2, strict=False, latency_timers={1: 12})
    long = cocotb.start_soon(bench.masters[0].write(BASE, bytes(400)))
    await ClockCycles(dut.clk, 6)
    await bench.masters[1].write(BASE + 1000, b"turn")
    await long
    rules = [text.split(": ")[1] for text in bench.monitor.violations]
    assert rules == ["transaction continues after the latency timer without GNT#"]


@checked
async def masters_take_turns(dut: Any) -> None:
    bench = await begin(dut, 3)
    writes = [cocotb.start_soon(master.write(BASE + 8 * k, bytes(8))) for k in range(6) for master in bench.masters]
    for write in writes:
        await write
    turns = [done.master for done in bench.monitor.transactions]
    assert all(set(turns[at : at + 3]) == {1, 2, 3} for at in range(0, 18, 3)), turns


@checked
async def grants_on_an_idle_bus_have_a_clock_between_them(dut: Any) -> None:
    bench = await begin(dut, 2)
    grants: list[tuple[int, bool]] = []
    bench.bus.hooks.append(lambda sample: grants.append((sample.gnt, bench.bus.idle)))
    for master in bench.masters[::-1]:
        await master.write(BASE, bytes(8))
        await ClockCycles(dut.clk, 5)
    changes = [(before, after) for before, after in pairwise(grants) if before[0] != after[0]]
    assert {0b010, 0b100} <= {gnt for gnt, _ in grants}
    assert all(not idle or 0 in {gnt, after} for (gnt, idle), (after, _) in changes)


@checked
async def wrong_parity_of_a_write_is_reported_by_perr(dut: Any) -> None:
    bench = await begin(dut, strict=False)
    bench.master.corrupt(phases={1})
    text = await failure(bench.master.write(BASE, bytes(12)))
    assert text.startswith("MEMORY_WRITE 0x00100000: wrong data parity in a transfer of 12 bytes;")
    assert (bench.target.check.errors, len(bench.monitor.perr)) == (1, 1)
    assert [text.split(": ")[1] for text in bench.monitor.violations] == ["PAR is wrong"]
    await bench.master.write(BASE, bytes(12))
    assert bench.target.check.errors == 1


@checked
async def wrong_parity_of_a_read_is_found_by_the_master(dut: Any) -> None:
    bench = await begin(dut, strict=False)
    bench.target.script.append(pci.Answer(bad_parity=frozenset({2})))
    assert "wrong data parity in a transfer of 16 bytes" in await failure(bench.master.read(BASE, 16))
    assert (bench.master.check.errors, len(bench.monitor.perr)) == (1, 1)
    await bench.master.read(BASE, 16)


@checked
async def wrong_parity_of_an_address_is_reported_by_serr(dut: Any) -> None:
    bench = await begin(dut, strict=False)
    bench.master.corrupt(address=True)
    await bench.master.write(BASE, b"data")
    assert (bench.target.address_errors, len(bench.monitor.serr)) == (1, 1)
    assert not bench.monitor.perr


@checked
async def a_target_reports_parity_as_its_command_register_allows(dut: Any) -> None:
    config = pci.ConfigSpace(0x1234, 0x5678)
    bench = await begin(dut, config=config, strict=False)
    bench.master.corrupt(phases={0})
    await bench.master.write(BASE, b"data")
    assert config.status & 1 << 15 and not bench.monitor.perr
    await bench.master.config_write(SLOT, 4, b"\x42\x01")
    bench.master.corrupt(address=True, phases={0})
    await failure(bench.master.write(BASE, b"data"))
    assert config.status >> 14 == 3 and bench.monitor.perr and bench.monitor.serr
    await bench.master.config_write(SLOT, 6, b"\x00\xc0")
    assert config.status >> 14 == 0


FAR = 0x12_3456_0000
"""Base of a window that needs 64 address bits."""


@checked
async def addresses_above_4_gib_have_two_address_phases(dut: Any) -> None:
    bench = await begin(dut)
    far = bytearray(SIZE)
    target = pci.PciTarget(bench.bus, dut.clk, dut.rst, far, FAR)
    for devsel, wide in ((0, False), (1, False), (2, True), (3, True)):
        target.devsel, bench.master.wide = devsel, wide
        data = bytes(range(devsel, devsel + 29))
        await bench.master.write(FAR + 7, data)
        assert far[7 : 7 + len(data)] == data and not any(bench.memory)
        assert await bench.master.read(FAR + 7, len(data)) == data
    assert {done.address >> 12 for done in bench.monitor.transactions} == {FAR >> 12}
    wides = [done.wide for done in bench.monitor.transactions]
    assert wides == [False] * 4 + [bench.bus.width == 64] * 4
    assert not bench.target.address_errors and not target.address_errors


@checked
async def a_transfer_across_4_gib_is_two_transactions(dut: Any) -> None:
    bench = await begin(dut)
    memory = bytearray(128)
    pci.PciTarget(bench.bus, dut.clk, dut.rst, memory, (1 << 32) - 64)
    await bench.master.write((1 << 32) - 8, bytes(range(24)))
    assert memory[56:80] == bytes(range(24))
    assert [done.address for done in bench.monitor.transactions] == [(1 << 32) - 8, 1 << 32]


@checked
async def an_unclaimed_64_bit_address_ends_with_a_master_abort_a_clock_later(dut: Any) -> None:
    bench = await begin(dut)
    for address in (BASE + SIZE, FAR):
        assert "MEMORY_WRITE" in await failure(bench.master.write(address, b"lost"))
    short, long = bench.monitor.transactions
    assert short.end is long.end is MASTER_ABORT and long.clocks == short.clocks + 1


@checked
async def wrong_parity_of_each_address_phase_is_reported(dut: Any) -> None:
    bench = await begin(dut, strict=False)
    pci.PciTarget(bench.bus, dut.clk, dut.rst, bytearray(SIZE), FAR)
    bench.master.corrupt(address=True)
    await bench.master.write(FAR, b"data")
    assert bench.target.address_errors == 2, "both address phases have wrong parity"
    assert bench.monitor.violations and "PAR is wrong" in bench.monitor.violations[0]


@checked
async def a_long_address_needs_a_memory_command(dut: Any) -> None:
    bench = await begin(dut)
    assert "use an address below 2**32" in await failure(bench.master.io_read(1 << 32, 4))
    assert "use an address below 2**64" in await failure(bench.master.write((1 << 64) - 2, b"long"))


@checked
async def type_1_cycles_reach_configuration_spaces_behind_a_bridge(dut: Any) -> None:
    own, other = pci.ConfigSpace(0x1111, 0x2222), pci.ConfigSpace(0x3333, 0x4444)
    bench = await begin(dut, config=pci.ConfigSpace(0xAAAA, 0xBBBB))
    bench.target.behind = {(2, 7): own, (3, 31): other}
    assert await bench.master.config_read(7, 0, bus=2) == b"\x11\x11\x22\x22"
    await bench.master.config_write(31, 0x3C, b"\x5a", bus=3)
    assert other.dword(0x3C) & 0xFF == 0x5A and own.dword(0x3C) & 0xFF == 0
    assert await bench.master.config_read(SLOT, 0) == b"\xaa\xaa\xbb\xbb", "type 0 reaches the bridge itself"
    assert "CONFIGURATION_READ" in await failure(bench.master.config_read(7, 0, bus=3))
    first = bench.monitor.transactions[0]
    assert first.address == 2 << 16 | 7 << 11 | 1 and bench.monitor.transactions[-1].end is MASTER_ABORT
    assert "give bus 0 to 255, device 0 to 31" in await failure(bench.master.config_read(32, 0, bus=3))


@checked
async def a_stream_of_transactions_returns_what_was_written(dut: Any) -> None:
    """Log the rate of the agents, the figure of tb/sanlab/agents/README.md."""
    bench = await begin(dut)
    begun = time.perf_counter()
    for number in range(100):
        data = bytes(number + at & 0xFF for at in range(32))
        await bench.master.write(BASE + 32 * (number % 64), data)
        assert await bench.master.read(BASE + 32 * (number % 64), 32) == data
    rate = len(bench.monitor.transactions) / (time.perf_counter() - begun)
    assert len(bench.monitor.transactions) == 200
    dut._log.info("%.0f transactions of 32 bytes in a wall second", rate)


@checked
async def a_window_is_sized_and_moved_by_configuration_cycles(dut: Any) -> None:
    config = pci.ConfigSpace(0x1234, 0x5678, window=SIZE)
    bench = await begin(dut, config=config)
    master = bench.master
    assert await master.config_read(SLOT, 0) == b"\x34\x12\x78\x56"
    await failure(master.read(BASE, 4))
    await master.config_write(SLOT, 0x10, b"\xff" * 4)
    assert int.from_bytes(await master.config_read(SLOT, 0x10), "little") == (1 << 32) - SIZE
    await master.config_write(SLOT, 0x10, (0x2000_0000).to_bytes(4, "little"))
    await master.config_write(SLOT, 4, b"\x02")
    await master.write(0x2000_0004, b"here")
    assert bench.memory[4:8] == b"here"
    assert await master.config_read(SLOT, 0x0D, 1) == b"\x00"
    await master.config_write(SLOT, 0x0D, b"\x20")
    assert config.latency_timer == 0x20
    assert await master.config_read(SLOT, 0x02, 6) == b"\x78\x56\x02\x00\x80\x00"


@checked
async def io_special_and_acknowledge_cycles_are_served(dut: Any) -> None:
    bench = await begin(dut)
    ports = bytearray(16)
    pci.PciTarget(bench.bus, dut.clk, dut.rst, ports, 0x300, io=True)
    await bench.master.io_write(0x301, b"ab")
    await bench.master.io_write(0x304, b"word")
    assert await bench.master.io_read(0x301, 7) == b"ab\0word"
    await bench.master.special_cycle(0x0001_0002)
    assert bench.target.messages == [0x0001_0002]
    bench.target.vector = 0x21
    assert await bench.master.interrupt_acknowledge() == b"\x21\0\0\0"
    io = [done for done in bench.monitor.transactions if done.command is pci.Command.IO_WRITE]
    assert [done.address for done in io] == [0x301, 0x304]


@checked
async def a_reset_interrupts_transfers_and_the_bus_recovers(dut: Any) -> None:
    bench = await begin(dut)
    transfer = cocotb.start_soon(failure(bench.master.write(BASE, bytes(400))))
    await ClockCycles(dut.clk, 20)
    dut.rst.value = 1
    assert "reset after" in await transfer
    later = cocotb.start_soon(bench.master.write(BASE, b"again"))
    await ClockCycles(dut.clk, 4)
    dut.rst.value = 0
    await later
    assert bench.memory[:5] == b"again"


@checked
async def wait_states_beyond_the_limits_are_violations(dut: Any) -> None:
    bench = await begin(dut, strict=False)
    bench.target.initial_waits = repeat(20)
    await bench.master.read(BASE, 4)
    bench.target.initial_waits = repeat(0)
    bench.master.irdy_waits = repeat(12)
    await bench.master.read(BASE, 4)
    rules = [text.split(": ")[1] for text in bench.monitor.violations]
    assert rules == ["first data phase later than 16 clocks", "IRDY# later than 8 clocks"]


@checked
async def two_drivers_of_one_wire_are_a_violation(dut: Any) -> None:
    bench = await begin(dut, strict=False)
    intruder = bench.bus.pins()
    write = cocotb.start_soon(bench.master.write(BASE, bytes(16)))
    while not (await bench.bus.edge()).first:
        pass
    intruder.activate("irdy")
    await bench.bus.edge()
    intruder.clear()
    await write
    assert [text.split(": ")[1] for text in bench.monitor.violations] == ["two agents drive one wire"]


@checked
async def a_scoreboard_compares_the_transactions_of_a_monitor(dut: Any) -> None:
    bench = await begin(dut)
    received: list[pci.Transaction] = []
    bench.monitor.add_callback(received.append)
    await bench.master.write(BASE + 1, b"xyz")
    (done,) = received
    assert done.bytes_moved() == [(BASE + 1, ord("x")), (BASE + 2, ord("y")), (BASE + 3, ord("z"))]


@checked
async def a_64_bit_transfer_falls_back_to_32_bits(dut: Any) -> None:
    bench = await begin(dut)
    if bench.bus.width == 32:
        return
    for accepted in (True, False):
        bench.master.wide, bench.target.wide = True, accepted
        await bench.master.write(BASE + 6, bytes(range(1, 41)))
        assert bench.memory[:48] == bytes(6) + bytes(range(1, 41)) + bytes(2)
        assert await bench.master.read(BASE + 6, 40) == bytes(range(1, 41))
        assert {done.wide for done in bench.monitor.transactions[-2:]} == {accepted}


@checked
async def invalid_uses_are_rejected(dut: Any) -> None:
    bench = await begin(dut)
    master = bench.master
    assert await failure(master.write(BASE, b"")) == ("MEMORY_WRITE 0x00100000: 0 bytes; transfer at least one byte")
    assert await failure(master.read(1 << 64, 4)) == (
        "MEMORY_READ 0x10000000000000000: 4 bytes do not fit into 64 address bits; use an address below 2**64"
    )
    with pytest.raises(pci.PciError, match="PCI bus: agents have different clocks or resets; give all agents of"):
        pci.PciTarget(bench.bus, dut.rst, dut.rst, bytearray(4))
    with pytest.raises(MissingWiresError, match="missing wires pcx_ad_i, pcx_ad_o, pcx_ad_oe; the agent binds"):
        pci.PciBus.from_prefix(dut, "pcx")
    unarbitrated = pci.PciBus.from_prefix(dut, "pci")
    masters = [pci.PciMaster(unarbitrated, dut.clk, dut.rst) for _ in range(2)]
    assert await failure(masters[0].read(BASE, 4)) == (
        "PCI bus: several masters without an arbiter; add a PciArbiter to the bus"
    )
