"""The protocol checker on hand-written bus traces.

Strategy: a correct trace of each kind (single write, read burst, retry, master abort, 64 bit) passes and is decoded.
Then one signal in one clock of a correct trace is changed, and the checker must name the violated rule. No simulator is
involved.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from pymodels.pci.pci import Command, Termination, Transaction
from pymodels.pci.rules import BusRules, ProtocolError, Sample

IDLE = Sample(gnt=1)


def with_parity(trace: list[Sample]) -> list[Sample]:
    """Put right PAR and PAR64 one clock behind every clock."""
    done = [trace[0]]
    for before, now in itertools.pairwise(trace):
        low = (before.ad & 0xFFFFFFFF).bit_count() + (before.cbe & 0xF).bit_count()
        high = (before.ad >> 32).bit_count() + (before.cbe >> 4).bit_count()
        done.append(replace(now, par=low & 1, par64=high & 1))
    return done


def address(command: Command, at: int, wide: bool = False) -> Sample:
    return Sample(ad=at, cbe=command, frame=True, req64=wide, gnt=1)


def write_burst(phases: int = 1, wide: bool = False) -> list[Sample]:
    """Medium DEVSEL#, no wait states."""
    last = phases == 1
    wires: dict[str, Any] = {"cbe": 0x00 if wide else 0xF0, "irdy": True, "gnt": 1}
    trace = [IDLE, address(Command.MEMORY_WRITE, 0x1000, wide)]
    trace.append(Sample(ad=1, frame=not last, req64=wide and not last, **wires))
    for phase in range(phases):
        last = phase == phases - 1
        trace.append(
            Sample(ad=1 + phase, frame=not last, req64=wide and not last, trdy=True, devsel=True, ack64=wide, **wires)
        )
    return with_parity([*trace, IDLE, IDLE, IDLE])


def read_one() -> list[Sample]:
    trace = [IDLE, address(Command.MEMORY_READ, 0x2000)]
    trace += [Sample(cbe=0xF0, irdy=True), Sample(cbe=0xF0, irdy=True, devsel=True)]
    trace += [Sample(ad=0xCAFE, cbe=0xF0, irdy=True, devsel=True, trdy=True), IDLE, IDLE]
    return with_parity(trace)


def retry() -> list[Sample]:
    """Burst write with a disconnect: FRAME# is deasserted a clock after STOP#."""
    trace = [IDLE, address(Command.MEMORY_WRITE, 0x1000), Sample(ad=1, cbe=0xF0, frame=True, irdy=True)]
    trace += [Sample(ad=1, cbe=0xF0, frame=True, irdy=True, devsel=True, stop=True)]
    trace += [Sample(ad=1, cbe=0xF0, irdy=True, devsel=True, stop=True), IDLE, IDLE, IDLE]
    return with_parity(trace)


def late_irdy() -> list[Sample]:
    """Write whose master is ready two clocks after its target."""
    wait = Sample(ad=1, cbe=0xF0, frame=True, devsel=True, trdy=True)
    trace = [IDLE, address(Command.MEMORY_WRITE, 0x1000), Sample(ad=1, cbe=0xF0, frame=True), wait, wait]
    return with_parity([*trace, replace(wait, frame=False, irdy=True), IDLE, IDLE])


def disconnect() -> list[Sample]:
    """Burst write with a disconnect with data."""
    wires: dict[str, Any] = {"cbe": 0xF0, "irdy": True, "devsel": True, "stop": True}
    trace = [IDLE, address(Command.MEMORY_WRITE, 0x1000), Sample(ad=1, cbe=0xF0, frame=True, irdy=True)]
    trace += [Sample(ad=1, cbe=0xF0, frame=True, irdy=True, devsel=True)]
    trace += [Sample(ad=1, frame=True, trdy=True, **wires), Sample(ad=2, **wires), IDLE, IDLE, IDLE]
    return with_parity(trace)


def master_abort() -> list[Sample]:
    data = Sample(ad=1, cbe=0xF0, irdy=True)
    return with_parity([IDLE, address(Command.MEMORY_WRITE, 0x1000), data, data, data, data, IDLE, IDLE])


def run(trace: list[Sample]) -> list[Transaction]:
    rules = BusRules()
    return [done for sample in trace if (done := rules.step(sample)) is not None]


def test_a_single_write_is_decoded() -> None:
    (done,) = run(write_burst())
    assert (done.command, done.end, done.clocks) == (Command.MEMORY_WRITE, Termination.COMPLETION, 3)
    assert done.bytes_moved() == [(0x1000, 1), (0x1001, 0), (0x1002, 0), (0x1003, 0)]


def test_a_wide_burst_is_decoded() -> None:
    (done,) = run(write_burst(3, wide=True))
    assert done.wide and [phase.address for phase in done.phases] == [0x1000, 0x1008, 0x1010]


def test_a_read_is_decoded() -> None:
    (done,) = run(read_one())
    assert done.phases[0].data == 0xCAFE and done.master == 0


def test_a_retry_moves_no_data() -> None:
    (done,) = run(retry())
    assert done.end is Termination.RETRY and not done.phases


def test_a_master_abort_is_decoded() -> None:
    (done,) = run(master_abort())
    assert done.end is Termination.MASTER_ABORT


BREAKS: list[tuple[str, list[Sample], int, dict[str, Any]]] = [
    ("two agents drive", write_burst(), 2, {"conflict": True}),
    ("more than one GNT#", write_burst(), 2, {"gnt": 3}),
    ("FRAME# without GNT#", write_burst(), 0, {"gnt": 0}),
    ("PAR is wrong", write_burst(), 2, {"par": 1 - write_burst()[2].par}),
    ("PAR64 is wrong", write_burst(2, True), 4, {"par64": 1 - write_burst(2, True)[4].par64}),
    ("reserved command", write_burst(), 1, {"cbe": 0x8}),
    ("IRDY# without a transaction", write_burst(), 4, {"irdy": True}),
    ("target drives without a transaction", write_burst(), 4, {"devsel": True}),
    ("REQ64# with AD[2] set", write_burst(1, True), 1, {"ad": 0x1004}),
    ("TRDY# or STOP# without DEVSEL#", write_burst(), 2, {"trdy": True}),
    ("TRDY# in the turn-around clock", read_one(), 2, {"trdy": True, "devsel": True}),
    ("IRDY# dropped within a data phase", write_burst(2), 3, {"irdy": False, "trdy": False}),
    ("FRAME# changed within a data phase", write_burst(2), 3, {"frame": False}),
    ("FRAME# released without IRDY#", write_burst(), 2, {"irdy": False}),
    ("C/BE# changed within a data phase", write_burst(2), 3, {"cbe": 0xF1}),
    ("write data changed within a data phase", write_burst(2), 3, {"ad": 9}),
    ("FRAME# kept after STOP#", retry(), 4, {"frame": True}),
    ("STOP# dropped before the end", retry(), 4, {"stop": False}),
    ("TRDY# or STOP# without DEVSEL#", retry(), 3, {"devsel": False}),
    ("REQ# kept after the target stopped", [replace(sample, gnt=2) for sample in retry()], 5, {"req": 2}),
    ("FRAME# asserted again", write_burst(), 3, {"frame": True}),
    ("ACK64# without REQ64#", write_burst(), 3, {"ack64": True}),
    ("ACK64# does not go with DEVSEL#", write_burst(2, True), 4, {"ack64": False}),
    ("REQ64# does not go with FRAME#", write_burst(2, True), 2, {"req64": False}),
    ("FRAME# while the bus was not idle", with_parity([*write_burst()[:4], *write_burst()[1:]]), 4, {}),
    ("REQ64# without FRAME#", write_burst(), 0, {"req64": True}),
    ("TRDY# or STOP# changed within a data phase", late_irdy(), 4, {"trdy": False, "stop": True}),
    ("DEVSEL# dropped without target abort", write_burst(3), 4, {"devsel": False, "trdy": False}),
    ("TRDY# without DEVSEL#", write_burst(3), 4, {"devsel": False}),
    ("TRDY# kept after a data phase with STOP#", disconnect(), 5, {"trdy": True}),
    ("master gave up before", master_abort(), 4, {"irdy": False}),
    ("DEVSEL# too late", master_abort(), 6, {"devsel": True, "irdy": True}),
]


@pytest.mark.parametrize(("rule", "trace", "clock", "change"), BREAKS, ids=[f"{b[0]} {b[2]}" for b in BREAKS])
def test_a_broken_rule_is_named(rule: str, trace: list[Sample], clock: int, change: dict[str, Any]) -> None:
    broken = [replace(sample, **change) if at == clock else sample for at, sample in enumerate(trace)]
    with pytest.raises(ProtocolError) as caught:
        run(broken)
    assert rule in str(caught.value)


def test_a_target_must_answer_within_16_clocks() -> None:
    wait = Sample(cbe=0xF0, irdy=True, devsel=True)
    trace = with_parity([IDLE, address(Command.MEMORY_READ, 0x2000), Sample(cbe=0xF0, irdy=True), *[wait] * 14])
    with pytest.raises(ProtocolError, match="later than 16 clocks"):
        run(trace)
    assert run(trace[:-1]) == []


def long_write(after: int) -> list[Sample]:
    """Write burst of a master that loses GNT# at once, with FRAME# in `after` data phases from clock 9 on."""
    wires: dict[str, Any] = {"cbe": 0xF0, "irdy": True, "devsel": True, "trdy": True}
    first = Sample(ad=1, cbe=0xF0, frame=True, irdy=True)
    phases = [Sample(ad=1, frame=phase < 6 + after, **wires) for phase in range(7 + after)]
    return with_parity([IDLE, address(Command.MEMORY_WRITE, 0x1000), first, *phases, IDLE])


def test_a_master_without_grant_stops_after_its_latency_timer() -> None:
    def steps(after: int, timers: dict[int, int]) -> int:
        rules = BusRules(timers=timers)
        return sum(rules.step(sample) is not None for sample in long_write(after))

    assert steps(1, {0: 6}) == 1
    with pytest.raises(ProtocolError, match="after the latency timer without GNT#"):
        steps(2, {0: 6})
    assert steps(2, {1: 6}) == 1, "the timer of another master"


def test_byte_enables_are_stable_before_irdy() -> None:
    late = [Sample(ad=1, cbe=cbe, frame=True, devsel=cbe == 0xF1, trdy=cbe == 0xF1) for cbe in (0xF0, 0xF1)]
    trace = with_parity([IDLE, address(Command.MEMORY_WRITE, 0x1000), *late])
    with pytest.raises(ProtocolError, match="C/BE# changed within a data phase"):
        run(trace)


def test_a_later_data_phase_must_end_within_8_clocks() -> None:
    wait = Sample(ad=2, cbe=0xF0, irdy=True, devsel=True)
    last = replace(wait, trdy=True)
    for waits in (7, 8):
        trace = with_parity([*write_burst(2)[:4], *[wait] * waits, last, IDLE, IDLE])
        if waits == 7:
            assert len(run(trace)) == 1
            continue
        with pytest.raises(ProtocolError, match="data phase later than 8 clocks"):
            run(trace)


def test_a_master_must_give_up_after_the_devsel_time_out() -> None:
    data = Sample(ad=1, cbe=0xF0, irdy=True)
    with pytest.raises(ProtocolError, match="no master abort after the DEVSEL# time-out"):
        run(with_parity([IDLE, address(Command.MEMORY_WRITE, 0x1000), *[data] * 8]))


def test_irdy_must_be_asserted_within_8_clocks() -> None:
    wait = Sample(ad=1, cbe=0xF0, frame=True, devsel=True, trdy=True)
    trace = with_parity([IDLE, address(Command.MEMORY_WRITE, 0x1000), Sample(ad=1, cbe=0xF0, frame=True), *[wait] * 7])
    with pytest.raises(ProtocolError, match="IRDY# later than 8 clocks"):
        run(trace)


def dual_write(wide: bool = False) -> list[Sample]:
    """Write of one data phase to 0x5_0000_1000: two address phases, medium DEVSEL#."""
    command, high = int(Command.MEMORY_WRITE), 5
    first = high << 32 | 0x1000 if wide else 0x1000
    second = high << 32 | high if wide else high
    code = command << 4 if wide else 0
    trace = [IDLE, Sample(ad=first, cbe=code | Command.DUAL_ADDRESS_CYCLE, frame=True, req64=wide, gnt=1)]
    trace.append(Sample(ad=second, cbe=code | command, frame=True, req64=wide))
    trace += [Sample(ad=9, cbe=0xF0, irdy=True)]
    trace += [Sample(ad=9, cbe=0xF0, irdy=True, trdy=True, devsel=True, ack64=wide)]
    return with_parity([*trace, IDLE, IDLE, IDLE])


@pytest.mark.parametrize("wide", [False, True])
def test_a_dual_address_cycle_has_a_64_bit_address(wide: bool) -> None:
    (done,) = run(dual_write(wide))
    assert (done.command, done.address, done.wide) == (Command.MEMORY_WRITE, 0x5_0000_1000, wide)
    assert (done.start, done.clocks, len(done.phases)) == (2, 4, 1)
    assert done.phases[0].address == 0x5_0000_1000


DUAL = [
    ("IRDY#, or no FRAME#, in the second address phase", False, {"frame": False}),
    ("IRDY#, or no FRAME#, in the second address phase", False, {"irdy": True}),
    ("target drives in the second address phase", False, {"devsel": True}),
    ("REQ64# changed between the address phases", True, {"req64": False}),
    ("command 0xd after a dual address cycle", False, {"cbe": 0xD}),
    ("command 0xa after a dual address cycle", False, {"cbe": 0xA}),
    ("dual address cycle for an address below 4 GiB", False, {"ad": 0}),
    (r"C/BE\[7:4\]# differs from the command", True, {"cbe": 0x67}),
    (r"AD\[63:32\] differs from the upper address", True, {"ad": 6 << 32 | 5}),
    ("PAR is wrong", False, {"par": 1}),
]


@pytest.mark.parametrize(("rule", "wide", "change"), DUAL)
def test_a_broken_rule_of_the_second_address_phase_is_named(rule: str, wide: bool, change: dict[str, Any]) -> None:
    trace = dual_write(wide)
    trace[2] = replace(trace[2], **change)
    with pytest.raises(ProtocolError, match=rule):
        run(trace)


def test_devsel_may_come_five_clocks_after_the_second_address_phase() -> None:
    trace = dual_write()
    waiting = replace(trace[3], par=trace[4].par)
    run([*trace[:4], *[waiting] * 2, *trace[4:]])
    with pytest.raises(ProtocolError, match="DEVSEL# too late"):
        run([*trace[:4], *[waiting] * 3, *trace[4:]])
