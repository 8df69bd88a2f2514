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


def test_irdy_must_be_asserted_within_8_clocks() -> None:
    wait = Sample(ad=1, cbe=0xF0, frame=True, devsel=True, trdy=True)
    trace = with_parity([IDLE, address(Command.MEMORY_WRITE, 0x1000), Sample(ad=1, cbe=0xF0, frame=True), *[wait] * 7])
    with pytest.raises(ProtocolError, match="IRDY# later than 8 clocks"):
        run(trace)
