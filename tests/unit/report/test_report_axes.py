"""Labels at the axes of a figure, and the position of its legend.

Strategy: small series are drawn; the texts of the SVG, which stay text, are compared together with their heights.
"""

from __future__ import annotations

import re

from pymodels.results import Series
from tb.report.figure import curves

CODES = Series((0, 1, 2), (5, 7, 6), "code: BT CG FT", "percent")


def heights(series: Series, *names: str) -> dict[str, float]:
    """Return how far below its top the words of a figure are in which each of these names is a curve."""
    drawn = curves(dict.fromkeys(names, series), "some curves", "f", {})
    found = re.findall(r'<text[^>]* y="([\d.]+)"[^>]*>([^<]+)</text>', drawn)
    return {word: float(y) for y, word in found}


def test_an_axis_whose_unit_lists_names_shows_them() -> None:
    words = heights(CODES, "one")
    assert {"BT", "CG", "FT", "code"} <= words.keys()
    assert CODES.x_unit not in words


def test_an_axis_whose_points_do_not_match_its_names_shows_numbers() -> None:
    words = heights(Series((2, 4, 8), (5, 7, 6), "hosts: on one switch", "us"), "one")
    assert {"2", "8", "hosts: on one switch"} <= words.keys()
    assert "switch" not in words


def test_the_legend_is_above_the_curves() -> None:
    words = heights(CODES, "first", "second")
    assert max(words["first"], words["second"]) < words["7"]


def test_sizes_near_each_other_share_a_text_on_their_axis() -> None:
    sizes = (4, 64, 256, 512, 768, 1024, 1280, 1536, 2032)
    words = heights(Series(sizes, sizes, "B", "us"), "one")
    shown = [one for one in words if one.endswith((" B", "KB"))]
    assert shown == ["4 B", "64 B", "256 B", "768 B", "2,032 B"]
    even = (0, 64, 256, 1024, 4096)
    assert {"0 B", "64 B", "256 B", "1 KB", "4 KB"} <= heights(Series(even, even, "B", "us"), "one").keys()


def test_sizes_in_either_unit_are_on_powers_of_two() -> None:
    sizes = (0, 64, 1024)
    drawn = [heights(Series(sizes, sizes, unit, "us"), "one") for unit in ("B", "bytes")]
    assert drawn[0] == drawn[1]
    assert "1 KB" in drawn[1]
