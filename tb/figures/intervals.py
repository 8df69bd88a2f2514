"""Reader of the intervals that `make uncertainty` wrote."""

from __future__ import annotations

import json
from pathlib import Path

from pymodels.results import ResultsError
from tb.figures.record import Interval
from tb.tools.paths import OUT

FOLDER = OUT / "uncertainty"
NAME = "uncertainty.json"
OF_ROW = {name: name for name in ("low", "median", "high", "measured", "failed")} | {"draws": "drawn"}
"""Fields of an interval with their keys in a row of the file."""


def known_intervals(folder: Path = FOLDER) -> dict[str, Interval]:
    """Return the intervals by row name. Raises ResultsError for an invalid file."""
    return {name: one for path in sorted(folder.glob(f"*/{NAME}")) for name, one in _read(path).items()}


def _read(path: Path) -> dict[str, Interval]:
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        made = {"command": plain["command"], "date": plain["date"]}
        return {
            one["name"]: Interval(**{name: one[key] for name, key in OF_ROW.items()}, **made) for one in plain["rows"]
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultsError("invalid intervals", f"{path}: {error}", "run make uncertainty again") from None
