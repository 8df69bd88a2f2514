"""TreadMarks over its substrates: too few receives, notification of Requests, flipped bits.

Strategy: processes of the machine over VIA. A Request without a posted receive is lost, and the hang report names the
waiting process. The wait of a Request for a computing process is measured under each scheme: none under interrupts,
uniform under a timer, the rest of the quantum under a thread. A bit flipped in a registered buffer that holds a diff
shows in the reader's array; a diff damaged on the wire is dropped.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from firmware.tmk.host import Tmk
from firmware.tmk.host.over_via import RESPONSE, OverVia
from pymodels.host import PAGE
from pymodels.machine import MachineError
from tests.unit.tmk.test_tmk import get, put, started, under

MS = 1_000_000
"""Nanoseconds in a millisecond."""


async def three_at_once(tmk: Tmk) -> None:
    """Return processes in which 2 had three locks of manager 1, which requests one and forwards two Requests."""
    locks = {1: 9, 0: 1, 3: 5}
    if tmk.proc_id == 2:
        for lock in locks.values():
            await under(tmk, lock, lambda: get(tmk, 0))
    await tmk.barrier(0)
    if tmk.proc_id == 2:
        await tmk.process.compute(5 * MS)
    else:
        await under(tmk, locks[tmk.proc_id], lambda: get(tmk, 0))
    await tmk.exit()


@pytest.mark.parametrize(("prepost", "lost"), [(0, False), (3, False), (1, True)])
def test_one_receive_is_too_few_for_a_forwarding_manager_and_the_report_names_the_waiting_process(
    prepost: int, lost: bool
) -> None:
    bench = started(4, on="via", scheme="polling", prepost=prepost)
    if not lost:
        bench.program(three_at_once)
        return
    with pytest.raises(MachineError, match=r"host[013]: process tmk waits for lock [159]"):
        bench.program(three_at_once, within_us=1e5)


# ---- how a process that computes is notified of Requests


def delays(scheme: str, gaps_ms: list[float], **options: Any) -> list[float]:
    """Return the waits in ms of Requests to a computing process, each sent a time after the previous reply."""
    bench = started(2, pages=len(gaps_ms), on="via", scheme=scheme, **options)
    took = []

    async def program(tmk: Tmk) -> None:
        if tmk.proc_id == 0:
            await tmk.process.compute(150 * MS)
            return
        for page, gap in enumerate(gaps_ms):
            await tmk.process.compute(gap * MS)
            begun = bench.machine.kernel.now
            await get(tmk, page * PAGE // 4)
            took.append((bench.machine.kernel.now - begun) / 1e9)

    bench.program(program)
    return took


def test_under_interrupts_a_request_does_not_wait_for_computation() -> None:
    assert max(delays("interrupt", [3.0, 7.0, 11.0])) < 0.2


def test_under_a_timer_waits_of_requests_are_uniform_up_to_its_period() -> None:
    took = sorted(delays("timer", [11.0] * 4)[1:])  # an answer comes with the timer: the next Request 11 ms behind it
    assert all(8.9 < one < 9.1 for one in took), "twenty ms less eleven"
    spread = sorted(delays("timer", [1.0 + 0.9 * number for number in range(10)]))
    assert all(0.8 < after - before < 1.0 for before, after in pairwise(spread))
    assert spread[0] < 1 and 8.5 < spread[-1] < 10


@pytest.mark.parametrize("period_us", [500, 2000])
def test_the_timer_period_bounds_the_wait_of_a_request(period_us: int) -> None:
    took = delays("timer", [0.37 + 0.11 * number for number in range(8)], timer_us=period_us)
    assert max(took) < period_us / 1000 + 0.4 and max(took) > period_us / 2000


def test_under_a_thread_a_request_waits_for_the_end_of_a_quantum() -> None:
    gaps = [3.0, 4.0, 6.0]  # a thread that is ready gets the CPU after 10 ms of computing, and gives way when it polls
    ends = [gap + one for gap, one in zip(gaps, delays("thread", gaps), strict=True)]
    assert all(one > 9 and one % 10 < 0.3 for one in ends), ends


def test_under_polling_a_request_waits_for_the_next_poll() -> None:
    bench = started(2, on="via", scheme="polling")
    took = []

    async def program(tmk: Tmk) -> None:
        if tmk.proc_id == 0:
            for _ in range(4):
                await tmk.process.compute(3 * MS)
                await tmk.poll()
            return
        await tmk.process.compute(MS)
        begun = bench.machine.kernel.now
        await get(tmk, 0)
        took.append((bench.machine.kernel.now - begun) / 1e9)

    bench.program(program)
    assert 1.9 < took[0] < 2.3


# ---- bits that change


def test_a_bit_flipped_in_a_buffer_with_a_diff_shows_in_the_array() -> None:
    bench = started(on="via")
    other = bench.all[1]
    substrate = other._substrate
    assert isinstance(substrate, OverVia)
    line = substrate.lines[0][RESPONSE]
    bench.do(other, get(other, 0))
    received = line.received

    async def flipped(process: Any, copied: bool) -> bytes:
        place, _ = line._receives[0]
        lies = process.load_bytes(place, 256)
        if (at := lies.find((0x5A17C3E0).to_bytes(4, "big"))) >= 0:
            process.store_bytes(place + at, (0x5A17C3E1).to_bytes(4, "big"))
        return await received(process, copied)

    async def program(tmk: Tmk) -> int:
        if tmk.proc_id == 0:
            await put(tmk, 7, 0x5A17C3E0)
        await tmk.barrier(1)
        found = await get(tmk, 7)
        await tmk.exit()
        return found

    line.received = flipped  # type: ignore[method-assign]
    assert bench.program(program) == [0x5A17C3E0, 0x5A17C3E1]


@pytest.mark.parametrize("on", ["udp", "via"])
def test_a_diff_damaged_on_the_wire_is_dropped_and_the_waiting_process_is_named(on: str) -> None:
    bench = started(on=on)
    other = bench.all[1]
    bench.do(other, get(other, 0))

    async def program(tmk: Tmk) -> None:
        if tmk.proc_id == 0:
            await put(tmk, 7, 0x5A17C3E0)
        await tmk.barrier(1)
        if tmk.proc_id == 1:
            bench.machine.faults.lose(0.0, 1.0, 3)
            await get(tmk, 7)
        await tmk.barrier(1)

    with pytest.raises(MachineError, match="host1: process tmk waits for diffs of page 0"):
        bench.program(program, within_us=1e5)
