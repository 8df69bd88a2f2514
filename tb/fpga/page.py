"""Tables in tb/fpga/README.md that commands write, each between two comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pymodels.results import write_atomically
from tb.plan.provenance import DIRTY
from tb.quality.text import HDL
from tb.tools.git import git
from tb.tools.paths import ROOT

PAGE = Path(__file__).with_name("README.md")
HEADINGS = ("block", "clock", "Fmax MHz", "first", "profile", "goal", "LUTs", "flops", "block RAMs", "DSPs")


def marks(maker: str) -> tuple[str, str]:
    """Return the comments between which a command writes."""
    return f"<!-- written by {maker} -->", f"<!-- end of what {maker} writes -->"


def write_part(maker: str, source: str, lines: Iterable[str]) -> None:
    """Replace the part of the page that a command writes; its first line names the commit of the hardware.

    Args:
        maker: Command, such as `make pnr`.
        source: Conditions of the results, shown with the commit above them.
        lines: Table in Markdown.
    """
    begin, end = marks(maker)
    made = "\n".join([begin, f"Commit {hardware_commit()}, {source}.", "", *lines, end])
    text = PAGE.read_text(encoding="utf-8")
    write_atomically(PAGE, re.sub(f"{begin}.*{end}", lambda _: made, text, flags=re.DOTALL))


def hardware_commit() -> str:
    """Return the last commit that changed hdl, with `+changes` if hdl differs from it."""
    last = git(ROOT, "rev-list", "-1", "HEAD", "--", str(HDL)).strip()
    return last + (DIRTY if git(ROOT, "status", "--porcelain", "--", str(HDL)) else "")


def table_lines(headings: Sequence[str], rows: Iterable[Sequence[str]], words: int) -> Iterator[str]:
    """Yield a table in Markdown whose first `words` columns are words, the others numbers."""
    yield _row(headings)
    yield _row(["---"] * words + ["---:"] * (len(headings) - words))
    yield from map(_row, rows)


def write_table(
    routed: Sequence[Mapping[str, Any]], records: Mapping[str, Mapping[str, Mapping[str, float]]], seed: int
) -> None:
    """Replace the table in the page.

    Args:
        routed: Routed blocks as dictionaries.
        records: First and last recorded rates by target and clock.
        seed: Seed of place and route.
    """
    write_part("make pnr", f"seed {seed}, LFE5UM5G-85F", _lines(routed, records))


def _lines(
    routed: Sequence[Mapping[str, Any]], records: Mapping[str, Mapping[str, Mapping[str, float]]]
) -> Iterator[str]:
    rows = []
    for one in routed:
        used = [str(one["used"].get(kind, 0)) for kind in ("TRELLIS_COMB", "TRELLIS_FF", "DP16KD", "MULT18X18D")]
        for clock in one["clocks"]:
            rates = clock["mhz"], records[one["target"]][clock["name"]]["first"], clock["required"], clock["goal"]
            rows.append((f"`{one['target']}`", f"`{clock['name']}`", *map(_rate, rates), *used))
        if one["failed"]:
            rows.append((f"`{one['target']}`", "not routed", *[""] * (len(HEADINGS) - 2)))
    yield from table_lines(HEADINGS, rows, words=2)


def _rate(mhz: float | None) -> str:
    return "" if mhz is None else f"{mhz:.1f}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
