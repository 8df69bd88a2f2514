"""What studies of EPOS compute from their measurements.

Strategy: curves made up of straight lines, whose crossing is known.
"""

from __future__ import annotations

import pytest

from tb.studies.epos.epos_threshold import crossing

SIZES = [100, 200, 300]


@pytest.mark.parametrize(
    ("pio", "dma", "at"),
    [
        ([1.0, 2.0, 3.0], [2.0, 2.25, 2.5], 233.33),
        ([1.0, 2.0, 3.0], [0.5, 0.5, 0.5], 0.0),
        ([1.0, 2.0, 3.0], [9.0, 9.0, 9.0], 300.0),
        ([1.0, 2.0, 3.0], [2.0, 1.0, 1.0], 150.0),
    ],
)
def test_the_crossing_of_two_curves_is_where_they_meet(pio: list[float], dma: list[float], at: float) -> None:
    assert crossing(SIZES, pio, dma) == pytest.approx(at, abs=0.01)
