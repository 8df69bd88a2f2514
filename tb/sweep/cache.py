"""Results of points by their key: what was done once is not done again, and a sweep that was killed goes on."""

from __future__ import annotations

from pathlib import Path

from pymodels.results import Results, ResultsError, read_results, write_atomically
from tb.sweep.points import Point
from tb.tools.paths import OUT

FOLDER = OUT / "sweep" / "points"


class Cache:
    """A folder of results, one file a point. A file is whole or not there."""

    def __init__(self) -> None:
        self.folder = FOLDER

    def path(self, point: Point) -> Path:
        """Where a point's results are."""
        return self.folder / point.key[:2] / f"{point.key}.json"

    def find(self, point: Point) -> Results | None:
        """The results of a point; None when it was never done, or when they cannot be read any more."""
        path = self.path(point)
        if not path.is_file():
            return None
        try:
            return read_results(path)
        except ResultsError:
            return None

    def keep(self, point: Point, text: str) -> Results:
        """Keep the text of a point's `results.json`. Raises ResultsError when the disk refuses, or it is none."""
        write_atomically(self.path(point), text)
        return read_results(self.path(point))
