"""What stands at the axes of a figure, and where its legend stands.

Strategy: small series are drawn; the SVG's text, which stays text, is looked at with its height.
"""

from __future__ import annotations

import re

from pymodels.results import Series
from tb.report.figure import curves

CODES = Series((0, 1, 2), (5, 7, 6), "code: BT CG FT", "percent")


def heights(series: Series, *names: str) -> dict[str, float]:
    """Of all words of a figure in which each of these names is a curve, how far below its top they stand."""
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
