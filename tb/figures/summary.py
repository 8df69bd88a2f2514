"""First part of the page of fidelity: held-out predictions, today's defaults and the null model, side by side."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pymodels.published_scores import unit
from pymodels.results import Kind
from tb.figures.held_out import Calibration, HeldOut, held_out, uncalibrated
from tb.figures.misses import Miss, load_misses
from tb.figures.nearest import Nearest, null_model, predictions
from tb.figures.rows import Group, Row
from tb.report.tables import Table, number, percent

COLUMNS = ("rows", "number", "inside 90 %", "median width", "held-out error", "today's error", "null model's error")
TIMES = ("ns", "us", "ms", "s", "MB/s")
"""Units of scores that are times or bandwidths."""
NEAREST = ("prediction", "published", "other system", "its value", "null model's error", "today's error")


@dataclass(frozen=True)
class Evidence:
    """Rows with what they are compared with.

    Attributes:
        rows: All rows.
        calibrations: Calibrations by family.
        held: Held-out predictions by name of a row.
        null: Values of the nearest other systems by name of a row.
        misses: Explanations of missed rows by name of a row.
    """

    rows: Sequence[Row]
    calibrations: Mapping[str, Calibration]
    held: Mapping[str, HeldOut] = field(default_factory=dict)
    null: Mapping[str, Nearest] = field(default_factory=dict)
    misses: Mapping[str, Miss] = field(default_factory=dict)


def evidence(found: Sequence[Row], calibrations: Mapping[str, Calibration]) -> Evidence:
    """Return the rows with their held-out predictions, the null model and the explanations of misses."""
    return Evidence(found, calibrations, held_out(found, calibrations), null_model(found), load_misses())


def comparison(known: Evidence) -> Table:
    """Return coverage and medians of widths and errors by group of rows; a dash where a group lacks a prediction."""
    tests = predictions(known.rows)
    held = [row for row in known.rows if row.value.name in known.held and row.today]
    other = [row for row in tests if row.value.name in known.null]
    timed = [row for row in held if unit(row.value) in TIMES]
    groups = (
        ("held-out rows", held),
        ("of them times and bandwidths", timed),
        ("of them times and bandwidths that are predictions", [row for row in timed if row.group is Group.TEST]),
        ("of them predictions", [row for row in held if row.group is Group.TEST]),
        ("of them with a value of another system", [row for row in held if row.value.name in known.null]),
        ("predicted, with a value of another system", [row for row in other if row.value.kind is Kind.PREDICTED]),
        ("rebuilt for or estimated, with a value of another system", [row for row in other if _is_rebuilt(row)]),
        ("all predictions of quantities", tests),
    )
    return Table(COLUMNS, tuple(_line(label, rows, known) for label, rows in groups))


def _is_rebuilt(row: Row) -> bool:
    return row.value.kind is not Kind.PREDICTED


def _line(label: str, rows: Sequence[Row], known: Evidence) -> tuple[str, ...]:
    told = [known.held[row.value.name] for row in rows if row.value.name in known.held]
    inside = f"{sum(one.inside for one in told)} of {len(told)}" if told else "-"
    complete = len(told) == len(rows)
    return (
        label,
        str(len(rows)),
        inside if complete else "-",
        _median(rows, lambda row: known.held[row.value.name].width) if complete else "-",
        _median(rows, lambda row: known.held[row.value.name].error) if complete else "-",
        _median(rows, lambda row: row.error),
        _median(rows, lambda row: known.null[row.value.name].error) if _all_in(rows, known.null) else "-",
    )


def _all_in(rows: Sequence[Row], known: Mapping[str, object]) -> bool:
    return all(row.value.name in known for row in rows)


def _median(rows: Sequence[Row], share: Callable[[Row], float]) -> str:
    return percent(statistics.median(map(share, rows))) if rows else "-"


def missing(known: Evidence) -> list[str]:
    """Return what the comparison lacks, as sentences: families without a calibration, rows without another system."""
    told = []
    if families := uncalibrated(known.rows, known.calibrations):
        commands = ", ".join(f"`make calibrate FAMILY={name}`" for name in families)
        told.append(f"Not calibrated, so without held-out predictions: {', '.join(families)}. Commands: {commands}.")
    alone = [row.value.name for row in predictions(known.rows) if row.value.name not in known.null]
    if alone:
        told.append(f"Predictions without a published value of another system ({len(alone)}): {'; '.join(alone)}.")
    return told


def nearest_table(known: Evidence) -> Table:
    """Return the null model: the other system of each prediction, its value, and both errors."""
    lines = (
        (
            row.value.name,
            f"{number(row.value.value)} {row.value.unit}",
            f"{near.system} ({near.source})",
            number(near.value),
            percent(near.error),
            percent(row.error),
        )
        for row in predictions(known.rows)
        if (near := known.null.get(row.value.name))
    )
    return Table(NEAREST, tuple(lines), words=3)


def as_json(row: Row, known: Evidence) -> dict[str, Any]:
    """Return a row as plain values for JSON, with `held_out`, `nearest` and `miss`; None where it has no such value."""
    held, near = known.held.get(row.value.name), known.null.get(row.value.name)
    other = {"system": near.system, "source": near.source, "value": near.value} if near else None
    miss = known.misses.get(row.value.name) if held and not held.inside else None
    explained = {"mechanism": miss.mechanism, "test": miss.test, "result": miss.result} if miss else None
    return {**row.as_json(), "held_out": _held_out_json(held) if held else None, "nearest": other, "miss": explained}


def _held_out_json(one: HeldOut) -> dict[str, Any]:
    width = one.width if math.isfinite(one.width) else None
    ends = {"best": one.best, "low": one.low, "high": one.high, "inside": one.inside, "width": width}
    return {**ends, "ranks": dict(one.ranks)}


def told_held_out(row: Row, one: HeldOut) -> str:
    """Return a held-out prediction as text: best estimate, interval, and the position of the published value."""
    place = "inside" if one.inside else "outside"
    return f"{number(one.best)} {unit(row.value)} ({number(one.low)} to {number(one.high)}), published {place}"


def decided_by(one: HeldOut) -> str:
    """Return the strongest uncertain values with their total Sobol indices as text."""
    return ", ".join(f"{name} {total:.2f}" for name, total in one.ranks)
