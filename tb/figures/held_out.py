"""Held-out predictions that `make calibrate` wrote, on this machine or committed.

Calibrations of this machine are `sim_build/calibrate/<family>/calibrate.json`. A calibration is committed as a copy of
this file, `tb/calibrate/results/<family>.json`; the page of the repository uses committed ones only.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pymodels.published_roles import Role
from pymodels.results import Kind, ResultsError
from tb.figures.rows import Row, apart
from tb.tools.paths import OUT, ROOT

FOLDER, NAME = OUT / "calibrate", "calibrate.json"
COMMITTED = ROOT / "tb" / "calibrate" / "results"
SCHEMA = 2
"""Schema of the files that `make calibrate` writes and this module reads."""
REMEDY = "run make calibrate again"
SHOWN = 3
"""Number of values that the page names for a row, greatest Sobol index first."""
SAME = 1e-9
"""Relative difference of published scores up to which a prediction belongs to a row."""


@dataclass(frozen=True)
class HeldOut:
    """Prediction of one row from the other tables, on the scale of its score."""

    published: float
    best: float
    low: float
    high: float
    ranks: tuple[tuple[str, float], ...]
    """Strongest uncertain values with their total Sobol indices."""

    @property
    def inside(self) -> bool:
        """True if the published score lies in the interval of 90 %."""
        return self.low <= self.published <= self.high

    @property
    def error(self) -> float:
        """Error of the best estimate relative to the published score."""
        return apart(self.best, self.published)

    @property
    def width(self) -> float:
        """Width of the interval of 90 % relative to the published score; infinite for a published score of 0."""
        return (self.high - self.low) / abs(self.published) if self.published else math.inf


@dataclass(frozen=True)
class UncertainValue:
    """Uncertain value of a family before and after its rows have conditioned it.

    Attributes:
        name: Key of a profile, or option of a study or layer.
        unit: Unit of the value.
        low: Lower end of the range on the first profile.
        high: Upper end.
        choices: Allowed values in place of a range; empty for a range.
        today: Value of the first profile.
        posterior: 5 %, 50 % and 95 % of the conditioned distribution.
        ratio: Width of the conditioned interval of 90 % relative to that of the range.
        why: Reason of the range.
    """

    name: str
    unit: str
    low: float
    high: float
    choices: tuple[float, ...]
    today: float
    posterior: tuple[float, float, float]
    ratio: float
    why: str


@dataclass(frozen=True)
class Calibration:
    """Calibration of one family.

    Attributes:
        family: Name of the family.
        command: Command that repeats the calibration.
        commit: Commit of the sources.
        rows: Held-out predictions by name of a row.
        values: Uncertain values.
        points: Number of points run.
        failed: Number of points at which a run failed.
        conditioning: Number of rows that condition the values.
        left: Share of the space that is plausible after the last wave, 0 to 1.
        met: Number of points whose runs meet all conditioning rows.
        default: Implausibility of the profiles' values, or None if a run failed there.
        best: Implausibility of the best point, or None if no run passed.
        unmet: Names of the rows that no point meets.
        skipped: Rows of the family without a prediction, with the reason.
    """

    family: str
    command: str
    commit: str
    rows: Mapping[str, HeldOut]
    values: tuple[UncertainValue, ...]
    points: int
    failed: int
    conditioning: int
    left: float
    met: int
    default: float | None
    best: float | None
    unmet: tuple[str, ...]
    skipped: Mapping[str, str]

    @property
    def inside(self) -> int:
        """Number of held-out rows whose published score lies in the interval of 90 %."""
        return sum(one.inside for one in self.rows.values())

    @property
    def error(self) -> float:
        """Median error of the held-out rows; NaN without rows."""
        return _median([one.error for one in self.rows.values()])

    @property
    def width(self) -> float:
        """Median relative width of the intervals of 90 %; NaN without rows."""
        return _median([one.width for one in self.rows.values()])


def _median(numbers: Sequence[float]) -> float:
    return statistics.median(numbers) if numbers else math.nan


def committed_calibrations(folder: Path = COMMITTED) -> dict[str, Calibration]:
    """Return the committed calibrations by family. Raises ResultsError for an invalid file."""
    return {one.family: one for one in map(_read, sorted(folder.glob("*.json")))}


def known_calibrations(folder: Path = FOLDER, committed: Path = COMMITTED) -> dict[str, Calibration]:
    """Return all calibrations by family; those of this machine replace committed ones.

    Raises ResultsError for an invalid file.
    """
    own = {one.family: one for one in map(_read, sorted(folder.glob(f"*/{NAME}")))}
    return {**committed_calibrations(committed), **own}


def _read(path: Path) -> Calibration:
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        if plain["schema"] == SCHEMA:
            return _calibration(plain)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ResultsError("invalid calibration", f"{path}: {error}", REMEDY) from None
    cause = f"{path}: schema is {plain['schema']!r}, but this version reads {SCHEMA}"
    raise ResultsError("calibration of another version", cause, REMEDY)


def _calibration(plain: Mapping[str, Any]) -> Calibration:
    default, best = (plain[key]["implausibility"] for key in ("default", "best"))
    return Calibration(
        family=str(plain["family"]),
        command=str(plain["command"]),
        commit=str(plain["commit"]),
        rows={one["name"]: _prediction(one) for one in plain["rows"]},
        values=tuple(_value(name, one) for name, one in plain["values"].items()),
        points=int(plain["points"]),
        failed=int(plain["failed"]),
        conditioning=len(plain["conditioning"]),
        left=float(plain["waves"][-1]["share"]),
        met=int(plain["met"]),
        default=None if default is None else float(default),
        best=None if best is None else float(best),
        unmet=tuple(map(str, plain["unmet"])),
        skipped={str(name): str(why) for name, why in plain["skipped"].items()},
    )


def _value(name: str, one: Mapping[str, Any]) -> UncertainValue:
    low, middle, high = map(float, one["posterior"])
    return UncertainValue(
        name=name,
        unit=str(one["unit"]),
        low=float(one["low"]),
        high=float(one["high"]),
        choices=tuple(map(float, one["choices"])),
        today=float(one["profile"]),
        posterior=(low, middle, high),
        ratio=float(one["ratio"]),
        why=str(one["why"]),
    )


def _prediction(one: Mapping[str, Any]) -> HeldOut:
    published, best, low, high = (float(one[key]) for key in ("published", "best", "low", "high"))
    ranks = tuple((str(rank["name"]), float(rank["total"])) for rank in one["ranks"][:SHOWN])
    return HeldOut(published, best, low, high, ranks)


def held_out(found: Sequence[Row], calibrations: Mapping[str, Calibration]) -> dict[str, HeldOut]:
    """Return the predictions of the rows by name, without those that were made for another published score."""
    told = {}
    for row in found:
        known = calibrations.get(row.value.family)
        prediction = known.rows.get(row.value.name) if known else None
        if prediction and math.isclose(prediction.published, row.published, rel_tol=SAME):
            told[row.value.name] = prediction
    return told


def uncalibrated(found: Sequence[Row], calibrations: Mapping[str, Calibration]) -> list[str]:
    """Return the families with conditioning rows that have no calibration, in the order of the alphabet."""
    trained = {row.value.family for row in found if _conditions(row)}
    return sorted(trained - calibrations.keys())


def _conditions(row: Row) -> bool:
    value = row.value
    return value.role is Role.TRAIN and value.kind is not Kind.QUOTED and not value.over
