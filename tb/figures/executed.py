"""`python -m tb.figures.executed [--check]`: charged and executed clocks of compiled paths on the LANai's
core, as a page.

The page `pymodels/costs/executed.md` is generated from the layers' committed `executed.toml` and the profiles.
`--check` compares it instead.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

from pymodels.costs.executed import LEVELS, PACES
from pymodels.hardware.processors import NicProcessor
from pymodels.lanai.chips import CHIPS
from pymodels.profiles import load_profile, parse_settings
from pymodels.profiles.default import DEFAULT_KIND
from pymodels.published import load_published
from pymodels.results import write_atomically
from pymodels.roots import TREE
from tb.studies.costs.executed_costs import (
    AROUND,
    CHANNELS,
    SEARCHED,
    USUAL,
    WITHIN,
    Beside,
    beside,
    layers,
    search_clocks,
)
from tb.studies.grim.grim_channel_scan import VARIANTS

PAGE = TREE / "pymodels/costs/executed.md"
LONG = 30
"""Clocks of a long path; one clock is at most 3 % of it."""
MEASURED = 3
"""Additional clocks of a run of `grim_channel_scan`, for any number of channels."""
TITLES = {chip.name.replace(" ", "").lower(): chip.name for chip in CHIPS}


def clocks_ps(chip: str) -> tuple[int, ...]:
    """Return the clock periods for Figure 4.10: those with which its study runs."""
    other = [parse_settings(text) for profile, text in VARIANTS.values() if chip == (profile or DEFAULT_KIND)]
    return tuple(load_profile(chip).override(settings).integer("clock.nic_ps") for settings in ({}, *other))


def all_rows(chip: str) -> list[Beside]:
    """Return each path at each optimisation level, with the processor of the chip's profile."""
    processor = NicProcessor.from_profile(load_profile(chip))
    return [one for layer in layers() for one in beside(layer, chip, processor)]


def page() -> str:
    """Return the text of the page."""
    rows = {chip: all_rows(chip) for chip in reversed(PACES)}
    return "\n".join(_lines(rows)) + "\n"


def _lines(rows: dict[str, list[Beside]]) -> Iterator[str]:
    yield from ("# Charged and executed clocks of compiled paths", "")
    yield "Written by `python -m tb.figures.executed` from the `executed.toml` of all layers; do not edit. Clocks as in"
    yield "[costs](README.md#what-a-path-takes): charged by the profile, taken on the core without contention."
    yield from ("", f"## All paths of a layer, {USUAL}", "", *_sums(rows), "")
    yield from (f"## A path alone, {USUAL}", "", *_spread(rows), "")
    yield from ("## Levels of optimisation", "", *_levels(rows), "")
    yield from ("## Figure 4.10: a search of empty channels, in us", "", *_figure(rows))


def _table(head: Sequence[str], lines: Iterable[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(map(str, one))} |" for one in lines)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _usual(rows: list[Beside], level: str = USUAL) -> list[Beside]:
    return [one for one in rows if one.level == level]


def _to(least: object, most: object) -> str:
    return f"{least}" if least == most else f"{least} to {most}"


def _sums(rows: dict[str, list[Beside]]) -> Iterator[str]:
    """Return the table of clock sums over the paths of each layer."""
    head = ["layer", "paths", *(f"{TITLES[chip]}: {word}" for chip in rows for word in ("charged", "taken"))]
    lines = []
    for layer in layers():
        own = {chip: [one for one in _usual(found) if one.layer == layer] for chip, found in rows.items()}
        cells: list[object] = [layer, len(next(iter(own.values())))]
        for found in own.values():
            cells.append(f"{sum(one.charged for one in found):,}")
            cells.append(_to(f"{sum(one.least for one in found):,}", f"{sum(one.most for one in found):,}"))
        lines.append(cells)
    return _table(head, lines)


def _spread(rows: dict[str, list[Beside]]) -> Iterator[str]:
    """Return the table of ratios of executed to charged clocks of single paths."""
    head = ("taken / charged", "paths", "least", "middle", "greatest", f"within {_percent(WITHIN)}")
    lines = []
    for chip, found in rows.items():
        for title, least in (("all", 0), (f"of {LONG} clocks and more", LONG)):
            ratios = sorted(one.ratio for one in _usual(found) if one.charged >= least)
            near = sum(abs(ratio - 1) <= WITHIN for ratio in ratios) / len(ratios)
            three = (f"{ratio:.2f}" for ratio in (ratios[0], median(ratios), ratios[-1]))
            lines.append((f"{TITLES[chip]}, {title}", len(ratios), *three, _percent(near)))
    return _table(head, lines)


def _levels(rows: dict[str, list[Beside]]) -> Iterator[str]:
    """Yield the table of clocks at other optimisation levels relative to the usual one, for paths countable
    at all levels.
    """
    head = ("clocks taken, over those at " + USUAL, "paths", "together", "least", "greatest")
    lines = []
    for chip, found in rows.items():
        taken = {
            level: {(one.layer, one.path): one.least + one.most for one in _usual(found, level)} for level in LEVELS
        }
        both = set.intersection(*(set(one) for one in taken.values()))
        long = [key for key in both if taken[USUAL][key] >= 2 * LONG]
        for level in LEVELS:
            if level != USUAL:
                whole = sum(taken[level][key] for key in both) / sum(taken[USUAL][key] for key in both)
                ratios = [taken[level][key] / taken[USUAL][key] for key in long]
                cells = (f"{ratio:.2f}" for ratio in (whole, min(ratios), max(ratios)))
                lines.append((f"{TITLES[chip]}, {level}", len(both), *cells))
    yield from _table(head, lines)
    yield from ("", f"Least and greatest of the paths of {LONG} clocks and more.")


def _figure(rows: dict[str, list[Beside]]) -> Iterator[str]:
    """Yield the table of the eight points, charged and over the optimisation levels."""
    cards = [(chip, ps) for chip in reversed(rows) for ps in clocks_ps(chip)]
    head = ["channels"]
    for chip, ps in cards:
        head += [f"{TITLES[chip]}, {1e6 / ps:.0f} MHz: {word}" for word in ("published", "charged", "over the levels")]
    lines = []
    for count in CHANNELS:
        cells: list[object] = [count]
        for chip, ps in cards:
            levels = [search_clocks(rows[chip], level, count) for level in LEVELS]
            charged, _, _ = search_clocks(rows[chip], USUAL, count)
            least, most = min(least for _, least, _ in levels), max(most for _, _, most in levels)
            us = [f"{clocks * ps / 1e6:.2f}" for clocks in (charged, least, most)]
            cells += [_published(chip, count), us[0], _to(us[1], us[2])]
        lines.append(cells)
    yield from _table(head, lines)
    yield ""
    yield f"From `{SEARCHED}`, `{AROUND[0]}`, `{AROUND[1]}` and the read of RTC. A run of"
    yield f"`grim_channel_scan` has {MEASURED} clocks more, once a search. The paper's LANai 9 has no published clock."


def _published(chip: str, count: int) -> str:
    """Return the published point of the figure, which does not depend on the clock."""
    names = {f"Search of {count} channel{'s' * (count > 1)}, {TITLES[chip]}{at}" for at in ("", " at 133 MHz")}
    return next(f"{one.value:g}" for one in load_published() if one.name in names)


def main(argv: list[str] | None = None, path: Path = PAGE) -> int:
    """Write or compare the page and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tb.figures.executed", description="Write pymodels/costs/executed.md."
    )
    parser.add_argument("--check", action="store_true", help="compare with the page, write nothing")
    words = parser.parse_args(argv)
    text = page()
    same = path.exists() and path.read_text(encoding="utf-8") == text
    if not same and not words.check:
        write_atomically(path, text)
    print(f"{path.name}: {'as committed' if same else 'differs' if words.check else 'written'}")
    return 0 if same or not words.check else 1


if __name__ == "__main__":
    sys.exit(main())
