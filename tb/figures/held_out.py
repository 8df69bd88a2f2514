"""Held-out predictions that `make calibrate` wrote, on this machine or committed.

Calibrations of this machine are `sim_build/calibrate/<family>/calibrate.json`. A calibration is committed as a copy of
this file, `tb/calibrate/results/<family>.json`; the page of the repository uses committed ones only.
"""

from __future__ import annotations

import json
import math
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


@dataclass(frozen=True)
class Calibration:
    """Held-out predictions of one family, by name of a row, and the command that repeats them."""

    family: str
    command: str
    rows: Mapping[str, HeldOut]


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
        return Calibration(plain["family"], plain["command"], {one["name"]: _prediction(one) for one in plain["rows"]})
    except (OSError, ValueError, KeyError, TypeError) as error:
        remedy = "run make calibrate again"
        raise ResultsError("invalid calibration", f"{path}: {error}", remedy) from None


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
