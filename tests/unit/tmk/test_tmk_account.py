"""Time account of a TreadMarks process: computation, communication, wait, protocol.

Strategy: programs with known activity. Computation must equal the computed time to the picosecond, despite Requests,
signals and threads. TreadMarks' work must be accounted as protocol. The four shares are contiguous and add up to all of
the time.
"""

from __future__ import annotations

import struct
import zlib
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from firmware.tmk.host import Tmk
from firmware.tmk.host.account import Share
from pymodels.host import PAGE
from tb.studies.tmk._tmk_apps import COLOURS, WIDTH, Ran, Window, show
from tests.unit.tmk.tmk_bench import Bench

WAYS: dict[str, dict[str, Any]] = {
    "udp": {"on": "udp"},
    "interrupt": {"on": "via"},
    "timer": {"on": "via", "scheme": "timer", "timer_us": 300},
    "thread": {"on": "via", "scheme": "thread", "below": {"preset": "bvia2"}},
    "polling": {"on": "via", "scheme": "polling"},
}
COMPUTED_NS = 40_000


def spans(bench: Bench) -> list[int]:
    """Return the accounted time of each process, checking that it has no gap."""
    for tmk in bench.all:
        intervals = tmk.account.intervals
        assert all(before[1] == after[0] for before, after in pairwise(intervals))
        assert sum(tmk.account.total(share) for share in Share) == intervals[-1][1] - intervals[0][0]
    return [tmk.account.intervals[-1][1] - tmk.account.intervals[0][0] for tmk in bench.all]


def pixels(data: bytes) -> NDArray[np.uint8]:
    """Return the pixels of a PNG made by `pymodels.formats.png`."""
    width, height = struct.unpack(">2I", data[16:24])
    begin = data.index(b"IDAT")
    rows = zlib.decompress(data[begin + 4 : begin + 4 + struct.unpack(">I", data[begin - 4 : begin])[0]])
    lines: NDArray[np.uint8] = np.frombuffer(rows, np.uint8).reshape(height, 1 + 3 * width)
    return lines[:, 1:].reshape(height, width, 3)


def us(tmk: Tmk, share: Share) -> float:
    """Return the shares of a process in us."""
    return tmk.account.total(share) / 1e6


def test_a_program_without_computation_has_no_computation_share() -> None:
    bench = Bench(2, pages=8)
    bench.all[0].malloc(8 * PAGE)

    async def program(tmk: Tmk) -> None:
        tmk.account.open()
        if tmk.proc_id == 0:
            for page in range(8):
                await tmk.process.write(tmk.memory.base + page * PAGE, b"word")
        await tmk.barrier(0)
        tmk.account.close()

    bench.program(program)
    spans(bench)
    one, other = bench.all
    assert one.account.total(Share.COMPUTATION) == other.account.total(Share.COMPUTATION) == 0
    assert us(one, Share.PROTOCOL) > 100 > us(other, Share.PROTOCOL) > 1, "8 twins"
    assert us(other, Share.WAIT) > 100 > us(one, Share.COMMUNICATION) > 1


@pytest.mark.parametrize("way", WAYS)
def test_computation_is_exact_to_the_picosecond_despite_requests_of_others(way: str) -> None:
    bench = Bench(3, pages=16, **WAYS[way])
    bench.all[0].malloc(16 * PAGE)

    async def program(tmk: Tmk) -> None:
        if tmk.proc_id == 0:
            await tmk.distribute(b"")
        await tmk.barrier(0)
        tmk.account.open()
        for number in range(6):
            await tmk.process.compute(COMPUTED_NS)
            await tmk.poll()
            await tmk.process.write(tmk.memory.base + PAGE * ((number + tmk.proc_id) % 4) + 4 * tmk.proc_id, b"word")
            await tmk.process.compute(COMPUTED_NS)
            if number == 3:
                await tmk.barrier(1)
        await tmk.exit()

    bench.program(program, within_us=1e6)
    spans(bench)
    for tmk in bench.all:
        assert tmk.account.total(Share.COMPUTATION) == 12 * COMPUTED_NS * 1000
        assert all(tmk.account.total(share) for share in Share)


def test_a_communication_thread_during_a_critical_section_has_its_own_share() -> None:
    bench = Bench(3, pages=8, **WAYS["thread"])
    bench.all[0].malloc(8 * PAGE)

    async def program(tmk: Tmk) -> None:
        if tmk.proc_id == 0:
            await tmk.distribute(b"")
        await tmk.barrier(0)
        tmk.account.open()
        for page in range(8):  # all request from process 0, and then from each other
            await tmk.process.write(tmk.memory.base + page * PAGE + 4 * tmk.proc_id, b"word")
        await tmk.barrier(1)
        for page in range(8):
            await tmk.process.read(tmk.memory.base + (page + tmk.proc_id) % 8 * PAGE, 4)
        await tmk.barrier(1)
        await tmk.process.compute(COMPUTED_NS)
        tmk.account.close()

    bench.program(program)
    spans(bench)
    for tmk in bench.all:
        assert tmk.account.total(Share.COMPUTATION) == COMPUTED_NS * 1000, "behind all that was served"
        assert tmk.account.intervals[-1][2] is Share.COMPUTATION


def test_missing_parts_of_a_long_response_count_as_wait() -> None:
    bench = Bench(2, pages=16)
    bench.all[0].malloc(16 * PAGE)
    one, other = bench.all
    bench.do(one, one.distribute(b""))
    bench.do(other, other.process.read(one.memory.base, 4))

    async def rewrite(number: int) -> None:
        await one.lock_acquire(0)
        await one.process.write(one.memory.base, bytes([number]) * PAGE)
        await one.lock_release(0)
        await one.coherence.make_diff(0)

    for number in range(12):
        bench.do(one, rewrite(number + 1))
    bench.do(other, other.lock_acquire(0))
    other.account.open()
    bench.do(other, other.process.read(one.memory.base, 4))
    other.account.close()
    spans(bench)
    shares = [share for *_, share in other.account.intervals]
    assert shares.count(Share.WAIT) >= 2, "for the first part, and for the second"


def test_messages_and_faults_are_counted_in_the_measured_time() -> None:
    bench = Bench(2, pages=16)
    window = Window(bench.all)

    async def program(tmk: Tmk) -> None:
        array = await tmk.array(4, 8, "u4")
        await tmk.barrier(0)
        tmk.account.open()
        await tmk.barrier(0)
        if tmk.proc_id == 1:
            await array.load(0, 2)
        await tmk.barrier(0)
        if tmk.proc_id == 1:  # the other has closed its account
            await array.load(2, 3)
        tmk.account.close()
        await array.load(0, 4)
        await tmk.exit()

    bench.program(program)
    found = window.ran()
    assert found.counts["barriers"] == 2 and found.counts["faults"] == len(found.faults) == 3
    assert found.counts["messages"] == 2 * 2 + 3 * 2 - 1, "the last Response is that of the closed account"
    assert found.seconds >= max(spans(bench)) / 1e12


def test_messages_of_the_barriers_before_and_after_the_measured_time_are_not_counted() -> None:
    bench = Bench(8, pages=16)
    window = Window(bench.all)

    async def program(tmk: Tmk) -> None:
        await tmk.barrier(0)
        tmk.account.open()  # process 0 has not released all others yet
        await tmk.barrier(0)
        tmk.account.close()
        await tmk.exit()

    bench.program(program)
    counts = window.ran().counts
    assert counts["messages"] == 2 * 7 and counts["barriers"] == 1


def test_the_picture_shows_which_process_read_and_wrote_which_page_when(tmp_path: Path) -> None:
    faults = [(0, 0, 0, False), (500_000_000, 1, 1, True), (999_000_000, 2, 3, False)]
    curves: dict[str, Any] = {}
    lab: Any = SimpleNamespace(
        series=lambda name, *curve: curves.update({name: curve}),
        plan=SimpleNamespace(request=SimpleNamespace(folder=tmp_path)),
    )
    show(lab, "sor_udp", Ran(0.001, {}, {}, faults, 4))
    dots = pixels((tmp_path / "sor_udp.png").read_bytes())
    assert dots.shape == (4, WIDTH, 3)
    drawn = {
        (int(page), int(across)): tuple(dots[page, across])
        for page, across in zip(*np.where(dots.sum(2) < 765), strict=True)
    }
    dark, bright = [tuple(value // 2 for value in colour) for colour in COLOURS], COLOURS
    assert drawn == {(0, 0): dark[0], (1, (WIDTH - 1) // 2): bright[1], (3, (WIDTH - 1) * 999 // 1000): dark[2]}
    assert curves["sor_udp_faults"][:2] == ([0.0, 0.5, 0.999], [1.0, 2.0, 3.0])
