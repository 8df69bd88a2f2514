"""Strips: each mark is at the place of its ratio, on an axis that has all of them, as SVG and as text.

Strategy: marks with known ratios are drawn. Places are compared with the logarithm of the ratio; marks beyond the axis
are arrows at its ends.
"""

from __future__ import annotations

import math
import re

import pytest

from tb.report.strips import COLUMNS, EDGE, FARTHEST, WIDTH, Marks, axis, ruler, strip, text_ruler, text_strip

MIDDLE = COLUMNS // 2


@pytest.mark.parametrize(
    ("ratios", "reach"), [((), 1.25), ((1.2,), 1.25), ((1.2, 0.6), 2.0), ((4.9,), 5.0), ((0.15,), 10.0), ((99.0,), 10)]
)
def test_the_axis_is_the_shortest_that_has_all_marks(ratios: tuple[float, ...], reach: float) -> None:
    found = axis([Marks(one) for one in ratios])
    assert found.reach == reach and found.ticks[0] == pytest.approx(1 / reach) and found.ticks[-1] == reach


def test_places_are_logarithmic_around_the_published_value() -> None:
    on = axis([Marks(9.0)])
    assert [on.place(one) for one in (0.1, 1.0, 10.0)] == pytest.approx([0.0, 0.5, 1.0])
    assert on.place(2.0) - 0.5 == pytest.approx(0.5 * math.log10(2.0))
    assert on.place(0.0) == on.place(-1.0) == -math.inf and on.place(math.inf) == math.inf


def test_a_text_strip_has_each_mark_at_its_place() -> None:
    on = axis([Marks(9.0)])
    drawn = text_strip(Marks(10.0, 0.1, 1.0, 2.0), on)
    assert len(drawn) == COLUMNS and (drawn[0], drawn[MIDDLE], drawn[-1]) == ("o", "|", "*")
    assert drawn.count("=") == round((COLUMNS - 1) * on.place(2.0)) - MIDDLE
    assert text_strip(Marks(), on).strip(". ") == "|"
    assert text_ruler(on).split() == ["0.1", "0.2", "0.5", "1", "2", "5", "10"] and text_ruler(on)[MIDDLE] == "1"


def test_marks_beyond_the_axis_are_arrows_at_its_ends() -> None:
    on = axis([Marks(99.0)])
    assert on.reach == FARTHEST
    assert text_strip(Marks(99.0, 0.01), on)[:: COLUMNS - 1] == "<>"
    assert text_strip(Marks(-0.5), on)[0] == "<"
    both = strip(Marks(99.0, -1.0), on, "far")
    assert "<circle" not in both and "l8 5l-8 5z" in both and "l-8 5l8 5z" in both


def test_a_drawn_strip_has_published_value_interval_today_and_first_run() -> None:
    on = axis([Marks(1.9)])
    drawn = strip(Marks(2.0, 0.5, 1.0, 2.0), on, "is <2>")
    assert 'aria-label="is &lt;2&gt;"' in drawn
    middle = EDGE + (WIDTH - 2 * EDGE) / 2
    centres = [float(one) for one in re.findall(r'cx="([\d.]+)"', drawn)]
    assert centres == [EDGE, WIDTH - EDGE], "the first run is below today's default"
    assert f'<rect x="{middle:.1f}"' in drawn and f"M{middle:.1f} 5l5 5" in drawn
    assert "<rect" not in strip(Marks(2.0, low=1.0), on, "") and "<circle" not in strip(Marks(), on, "")
    assert [float(one) for one in re.findall(r">([\d.]+)</text>", ruler(on))] == [0.5, 1.0, 2.0]
