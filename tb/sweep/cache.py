"""Cache of point results by key: known points are not repeated, and an interrupted sweep can continue."""

from __future__ import annotations

from pathlib import Path

from pymodels.results import Results, ResultsError, read_results, write_atomically
from tb.sweep.points import Point
from tb.tools.paths import OUT

FOLDER = OUT / "sweep" / "points"


class Cache:
    """Folder of results, one atomic file a point."""

    def __init__(self) -> None:
        self.folder = FOLDER

    def path(self, point: Point) -> Path:
        """Return the path of a point's results."""
        return self.folder / point.key[:2] / f"{point.key}.json"

    def find(self, point: Point) -> Results | None:
        """Return the results of a point, or None if they are missing or unreadable."""
        path = self.path(point)
        if not path.is_file():
            return None
        try:
            return read_results(path)
        except ResultsError:
            return None

    def keep(self, point: Point, text: str) -> Results:
        """Store the text of a point's `results.json`. Raises ResultsError if writing fails or the text is invalid."""
        write_atomically(self.path(point), text)
        return read_results(self.path(point))
