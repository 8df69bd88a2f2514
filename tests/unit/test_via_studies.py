"""What studies of VIA compute: conditions, buffers, curves, and how busy a NIC was.

Strategy: small cases by hand; traces are made up of a few records whose overlaps are counted on fingers.
"""

from __future__ import annotations

import numpy as np
import pytest

from pymodels.trace import RECORD, Part, TraceEvent, unit
from tb.studies._curves import cheaper_up_to, half_bandwidth, slope
from tb.studies._via_busy import busy_percent
from tb.studies._via_case import Case


def test_half_of_the_peak_is_found_between_sizes() -> None:
    assert half_bandwidth([100, 200, 400], [10.0, 30.0, 100.0], 100.0) == pytest.approx(200 + 200 * 20 / 70)
    assert half_bandwidth([100, 200], [80.0, 100.0], 100.0) == 100


def test_the_cheaper_of_two_is_so_up_to_where_it_first_is_not() -> None:
    assert cheaper_up_to([1, 2, 3, 4], [1.0, 2.0, 3.0, 1.0], [2.0, 2.0, 2.0, 2.0]) == 2
    assert cheaper_up_to([1, 2], [3.0, 1.0], [2.0, 2.0]) == 0


def test_a_slope_is_that_of_the_best_line() -> None:
    assert slope([1, 2, 3], [5.0, 7.0, 9.0]) == pytest.approx(2)
    assert slope([0, 1, 2, 3], [0.0, 2.0, 0.0, 2.0]) == pytest.approx(0.4)


def test_a_long_message_is_cut_by_the_maximum_transfer_size() -> None:
    assert Case(10, most=4).pieces == [4, 4, 2]
    assert Case(8, most=4).pieces == [4, 4]
    assert Case(0).pieces == [0]


@pytest.mark.parametrize(("reuse", "fresh"), [(100, 0), (75, 25), (50, 50), (25, 75), (0, 100)])
def test_so_many_percent_of_the_messages_use_the_first_buffer(reuse: int, fresh: int) -> None:
    places = [Case(4, reuse=reuse).place(number) for number in range(100)]
    others = [place for place in places if place]
    assert len(others) == fresh and len(set(others)) == fresh, "a fresh buffer is used once"
    assert max(others, default=0) <= fresh


def test_overlapping_transfers_count_once_and_only_inside_the_interval() -> None:
    dma = unit(1, Part.HOST_DMA)
    rows = [
        (10, dma, TraceEvent.DMA_START),
        (30, dma, TraceEvent.DMA_START),
        (40, dma, TraceEvent.DMA_DONE),
        (60, dma, TraceEvent.DMA_DONE),
        (90, dma, TraceEvent.DMA_START),
        (120, dma, TraceEvent.DMA_DONE),
        (50, unit(0, Part.HOST_DMA), TraceEvent.DMA_START),
        (95, unit(1, Part.NIC_CPU), TraceEvent.WORK_START),
        (99, unit(1, Part.NIC_CPU), TraceEvent.WORK_END),
    ]
    trace = np.zeros(len(rows), dtype=RECORD)
    for row, (time, where, event) in zip(trace, rows, strict=True):
        row["time"], row["unit"], row["event"] = time, where, event
    # 20 to 60 and 90 to 100 of 80; 95 to 99 of 80
    assert busy_percent(trace, 1, 20, 100) == {"dma": 100 * 50 / 80, "processor": 100 * 4 / 80}
