"""Made-up results for the tests of reports: nothing in them was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pymodels.results import Comparison, Cost, Kind, Results, Series, compare

SIZES = (0, 16, 1024, 65536)
ONE_WAY = (6.2, 6.4, 15.75, 560.25)
SIZED = {f"one_way_us_{n}B": us for n, us in zip(SIZES, ONE_WAY, strict=True)} | {
    f"bandwidth_MBps_{n}B": n / us for n, us in zip(SIZES, ONE_WAY, strict=True)
}
STAGES = {"stage_us_01_wire_and_switch": 1.5, "stage_us_00_host": 3.0, "stage_us_02_poll": 0.5}
PUBLISHED = (
    compare("PIO write, a word", "paper 001, Table 2.1", 0.16, 0.1605, Kind.INPUT),
    compare("latency <short>", "paper 000, Figure 4.10", 8.0, 6.4, Kind.PREDICTED),
    compare("Giganet", "paper 001, Table 1.1", 10.0, None, Kind.QUOTED),
)


@dataclass(frozen=True)
class Question:
    """A study, as far as a report knows it."""

    name: str = "made_up"
    question: str = "Is 1 < 2 & 2 > 1?"


def results(
    metrics: Mapping[str, float] | None = None,
    series: Mapping[str, Series] | None = None,
    published: tuple[Comparison, ...] = (),
    cost: Cost | None = None,
    wall_s: float = 4.0,
) -> Results:
    """Make a result with the given parts, and a cost of two messages unless another is given."""
    spent = cost or Cost(cycles=1000, python_wakes=7, wall_rtl_s=2.0, wall_python_s=1.0, messages=2)
    cluster = {"name": "two_hosts"}
    return Results(
        "made_up",
        "icarus",
        3,
        cluster,
        "lanai9+p2-300",
        1_250_000,
        wall_s,
        metrics or {},
        series or {},
        published,
        spent,
    )
