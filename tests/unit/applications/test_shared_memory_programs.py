"""Programs of shared memory: their results equal those of sequential programs, over UDP and over VIA.

Strategy: small problems on one, two, three and eight processes of the machine. SOR and Jacobi must equal a sequential
run bit for bit. FFT must equal one process bit for bit and a library to 1e-10. TSP must find the length of a dynamic
program without bounds. Results are read back from pages of the processes. `scaled` sizes must keep SOR's speed-up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from firmware.applications.shared_memory import PROGRAMS, Size
from firmware.tmk.host.account import Share
from tb.studies.tmk._tmk_apps import Window
from tests.amount import cases
from tests.unit.tmk.tmk_bench import Bench

SMALL = {
    "sor": Size(34, 64, 3, 10.0),
    "jacobi": Size(21, 40, 4, 10.0),
    "fft": Size(8, 0, 3, 1e4),
    "tsp": Size(7, 0, 1, 100.0),
}


def result(name: str, processes: int, **options: Any) -> NDArray[Any]:
    """Return the result of a run."""
    program, bench = PROGRAMS[name], Bench(processes, pages=256, **options)

    async def run(tmk: Any) -> Any:
        part = await program.run(tmk, SMALL[name])
        await tmk.exit()
        return part

    return program.joined(bench.program(run, within_us=1e8))


@pytest.mark.parametrize(
    ("processes", "on"), cases([(2, "udp"), (8, "udp"), (2, "via"), (8, "via")], [(8, "udp"), (2, "via")])
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_a_sequential_program(name: str, processes: int, on: str) -> None:
    got, right = result(name, processes, on=on), PROGRAMS[name].alone(SMALL[name])
    if name == "fft":
        assert np.abs(got - right).max() < 1e-10 * np.abs(right).max()
    else:
        assert np.array_equal(got, right)


@pytest.mark.parametrize(("name", "barriers"), [("jacobi", 202), ("fft", 33)])
def test_the_measured_window_contains_the_barriers_of_the_paper(name: str, barriers: int) -> None:
    program, bench, small = PROGRAMS[name], Bench(3, pages=256), SMALL[name]
    window = Window(bench.all)

    async def run(tmk: Any) -> None:
        await program.run(tmk, small)
        await tmk.exit()

    bench.program(run, within_us=1e8)
    more = program.sizes[program.usual].rounds - small.rounds
    assert window.ran().counts["barriers"] + 2 * more == barriers, "at the paper's size"


def test_fft_on_three_processes_gives_every_bit_of_one() -> None:
    assert np.array_equal(result("fft", 3), result("fft", 1))


def test_records_that_are_collected_change_no_result() -> None:
    assert np.array_equal(result("sor", 3, collect_bytes=2048), PROGRAMS["sor"].alone(SMALL["sor"]))


def speed_up(size: Size) -> float:
    """Return the speed-up of SOR on three processes: computing time over the time from first start to last end."""
    bench = Bench(3, pages=PROGRAMS["sor"].pages(size))

    async def run(tmk: Any) -> None:
        await PROGRAMS["sor"].run(tmk, size)
        await tmk.exit()

    bench.program(run, within_us=1e9)
    accounts = [tmk.account for tmk in bench.all]
    began, ended = min(one.intervals[0][0] for one in accounts), max(one.intervals[-1][1] for one in accounts)
    return sum(one.total(Share.COMPUTATION) for one in accounts) / (ended - began)


def test_a_problem_that_is_scaled_keeps_its_speed_up() -> None:
    size = Size(192, 1000, 8, 91.1)
    whole = speed_up(size)
    assert 1.5 < whole < 2.5, "communication counts"
    for by in (2, 4):
        assert speed_up(PROGRAMS["sor"].scaled(size, by)) == pytest.approx(whole, rel=0.03)
