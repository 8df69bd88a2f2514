"""Table of routed blocks in tb/fpga/README.md, between two comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pymodels.results import write_atomically
from tb.plan.provenance import commit
from tb.tools.paths import ROOT

PAGE = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- written by make pnr -->", "<!-- end of what make pnr writes -->"
HEADINGS = ("block", "clock", "Fmax MHz", "first", "profile", "goal", "LUTs", "flops", "block RAMs", "DSPs")


def write_table(
    routed: Sequence[Mapping[str, Any]], records: Mapping[str, Mapping[str, Mapping[str, float]]], seed: int
) -> None:
    """Replace the table in the page.

    Args:
        routed: Routed blocks as dictionaries.
        records: First and last recorded rates by target and clock.
        seed: Seed of place and route.
    """
    text = PAGE.read_text(encoding="utf-8")
    made = "\n".join(
        [
            BEGIN,
            f"Commit {commit(ROOT)}, seed {seed}, LFE5UM5G-85F.",
            "",
            *_lines(routed, records),
            END,
        ]
    )
    write_atomically(PAGE, re.sub(f"{BEGIN}.*{END}", lambda _: made, text, flags=re.DOTALL))


def _lines(
    routed: Sequence[Mapping[str, Any]], records: Mapping[str, Mapping[str, Mapping[str, float]]]
) -> Iterator[str]:
    yield _row(HEADINGS)
    yield _row(("---", "---", *["---:"] * (len(HEADINGS) - 2)))
    for one in routed:
        used = [str(one["used"].get(kind, 0)) for kind in ("TRELLIS_COMB", "TRELLIS_FF", "DP16KD", "MULT18X18D")]
        for clock in one["clocks"]:
            rates = clock["mhz"], records[one["target"]][clock["name"]]["first"], clock["required"], clock["goal"]
            yield _row((f"`{one['target']}`", f"`{clock['name']}`", *map(_rate, rates), *used))
        if one["failed"]:
            yield _row((f"`{one['target']}`", "failed", *[""] * (len(HEADINGS) - 2)))


def _rate(mhz: float | None) -> str:
    return "" if mhz is None else f"{mhz:.1f}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
