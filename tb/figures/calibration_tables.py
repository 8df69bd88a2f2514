"""Tables of calibrations on the page of fidelity: one line a family, and the values that published rows narrow most."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from tb.figures.held_out import Calibration, UncertainValue
from tb.report.tables import Table, number, percent

NARROWED = 0.8
"""Ratio of widths below which a value counts as narrowed."""
LISTED = 8
"""Maximum number of values that are listed for a family."""
NUMBERS = (
    *("family", "values", "points, failed", "conditioning rows", "space left", "plausible points", "implausibility"),
    *("inside 90 %", "error", "width"),
)
COLUMNS = (*NUMBERS, "not met by any point", "commit", "command")
VALUES = ("value", "range", "profile", "median after", "90 % after", "ratio of widths")


def calibration_table(calibrations: Iterable[Calibration]) -> Table:
    """Return the calibrations as a table, one line a family."""
    return Table(COLUMNS, tuple(map(_line, calibrations)))


def number_table(calibrations: Iterable[Calibration]) -> Table:
    """Return the numbers of the calibrations as a table, one line a family."""
    return Table(NUMBERS, tuple(_line(one)[: len(NUMBERS)] for one in calibrations))


def unmet(calibrations: Iterable[Calibration]) -> list[str]:
    """Return a sentence for each family with the rows that no point meets."""
    return [f"Rows of {one.family} that no point meets: {'; '.join(one.unmet)}." for one in calibrations if one.unmet]


def skipped(calibrations: Iterable[Calibration]) -> list[str]:
    """Return a sentence for each family with the rows without a prediction, and the reasons."""
    told = {one.family: [f"{name} ({why})" for name, why in one.skipped.items()] for one in calibrations}
    return [f"Rows of {family} without a prediction: {'; '.join(rows)}." for family, rows in told.items() if rows]


def _line(one: Calibration) -> tuple[str, ...]:
    return (
        one.family,
        str(len(one.values)),
        f"{one.points}, {one.failed}",
        str(one.conditioning),
        f"{100 * one.left:.2g} %",
        str(one.met),
        f"{_distance(one.default)}, {_distance(one.best)}",
        f"{one.inside} of {len(one.rows)}",
        percent(one.error) if one.rows else "-",
        percent(one.width) if one.rows else "-",
        "; ".join(one.unmet) or "none",
        one.commit[:8],
        f"`{one.command}`",
    )


def _distance(implausibility: float | None) -> str:
    return "failed" if implausibility is None else f"{implausibility:.2f}"


def narrowed(one: Calibration) -> list[UncertainValue]:
    """Return the values that the rows narrow, strongest first."""
    return sorted((value for value in one.values if value.ratio < NARROWED), key=lambda value: value.ratio)


def value_table(one: Calibration) -> Table:
    """Return the values of a family that its rows narrow most, before and after."""
    return Table(VALUES, tuple(map(_value_line, narrowed(one)[:LISTED])))


def family_table(calibrations: Iterable[Calibration]) -> Table:
    """Return the values that the rows narrow most, with their family in the first column."""
    lines = ((one.family, *line) for one in calibrations for line in value_table(one).rows)
    return Table(("family", *VALUES), tuple(lines), words=2)


def _value_line(value: UncertainValue) -> tuple[str, ...]:
    low, middle, high = map(number, value.posterior)
    told = ", ".join(map(number, value.choices)) or f"{number(value.low)} - {number(value.high)}"
    return (
        value.name,
        f"{told} {value.unit}".rstrip(),
        number(value.today),
        middle,
        f"{low} - {high}",
        f"{value.ratio:.2f}",
    )


def narrowing(one: Calibration) -> str:
    """Return the numbers of narrowed and of other values of a family as text."""
    found = len(narrowed(one))
    listed = f" ({LISTED} listed)" if found > LISTED else ""
    return f"{one.family}: {found} values narrowed{listed}, {len(one.values) - found} not narrowed"


def as_json(one: Calibration) -> dict[str, Any]:
    """Return a calibration as plain values for JSON, without its rows."""
    told = {name: value for name, value in asdict(one).items() if name != "rows"}
    sums = {"held_out": len(one.rows), "inside": one.inside, "error": _finite(one.error), "width": _finite(one.width)}
    return {**told, **sums}


def _finite(share: float) -> float | None:
    return share if math.isfinite(share) else None
