"""The intervals that `make uncertainty` left: of which row, and how far its value goes."""

from __future__ import annotations

import json
from pathlib import Path

from pymodels.results import ResultsError
from tb.figures.record import Interval
from tb.tools.paths import OUT

FOLDER = OUT / "uncertainty"
NAME = "uncertainty.json"


def known_intervals(folder: Path = FOLDER) -> dict[str, Interval]:
    """The intervals by the names of rows. ResultsError for a file that is none."""
    return {name: one for path in sorted(folder.glob(f"*/{NAME}")) for name, one in _read(path).items()}


def _read(path: Path) -> dict[str, Interval]:
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        return {one["name"]: Interval(one["low"], one["median"], one["high"]) for one in plain["rows"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultsError("no intervals", f"{path}: {error}", "run make uncertainty again") from None
