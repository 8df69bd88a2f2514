"""Tables of metrics: rows of text, the same for terminal and page.

Strategy: metrics by name go in, whole tables come out and are compared. Missing cells, missing columns, unknown names
and a run without messages or wall time are tested; numbers are tested at every change of their form.
"""

from __future__ import annotations

import pytest

from pymodels.results import Cost, Kind, compare
from tb.report import tables
from tests.unit.report.madeup import PUBLISHED, SIZED, STAGES, results


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (3.0, "3"),
        (65536, "65,536"),
        (0.16, "0.16"),
        (0.00001234, "1.234e-05"),
        (6.3014, "6.301"),
        (-6.3014, "-6.301"),
        (116.974, "116.97"),
        (1432.77, "1,432.8"),
        (123456.7, "123,457"),
        (1e300, "1e+300"),
    ],
)
def test_numbers_are_short_and_exact_enough(value: float, text: str) -> None:
    assert tables.number(value) == text


@pytest.mark.parametrize(
    ("bytes_", "text"), [(0, "0 B"), (1000, "1,000 B"), (4096, "4 KB"), (1 << 20, "1 MB"), (0.5, "0.5 B")]
)
def test_sizes_use_the_largest_unit_that_divides_them(bytes_: float, text: str) -> None:
    assert tables.size(bytes_) == text


@pytest.mark.parametrize(("ns", "text"), [(5, "5 ns"), (1500, "1.5 us"), (2_000_000, "2 ms"), (3.5e9, "3.5 s")])
def test_simulated_time_has_the_unit_that_suits_it(ns: float, text: str) -> None:
    assert tables.duration(ns) == text


def test_sizes_are_in_numerical_order() -> None:
    table = tables.sizes(SIZED)
    assert table.headings == ("size", "one-way us", "MB/s")
    assert [row[0] for row in table.rows] == ["0 B", "16 B", "1 KB", "64 KB"]
    assert table.rows[2] == ("1 KB", "15.750", "65.02")


def test_conditions_are_in_numerical_order_with_latency_utilisation_and_bandwidth() -> None:
    base = {"L_base_poll_4B": 18.2, "U_base_poll_4B": 100.0}
    metrics = {**base, "B_window_16_64B": 1101.4, "B_window_8_64B": 7.0, "L_base_poll_16B": 36.0, "x": 1.0}
    table = tables.conditions(metrics)
    assert table.headings == ("condition", "latency us", "CPU %", "MB/s")
    assert table.rows == (
        ("base poll 4B", "18.20", "100.0", ""),
        ("base poll 16B", "36.00", "", ""),
        ("window 8 64B", "", "", "7.00"),
        ("window 16 64B", "", "", "1,101.40"),
    )
    assert tables.others(metrics).rows == (("x", "1"),)


def test_a_size_without_bandwidth_leaves_its_cell_empty() -> None:
    table = tables.sizes({"one_way_us_0B": 6.0, "one_way_us_8B": 7.0, "bandwidth_MBps_8B": 1.1})
    assert table.rows == (("0 B", "6.000", ""), ("8 B", "7.000", "1.10"))


def test_an_unmeasured_column_is_omitted() -> None:
    assert tables.sizes({"bandwidth_MBps_8B": 1.1}).headings == ("size", "MB/s")
    assert not tables.sizes({"bandwidth_MBps_peak": 1.1})


def test_stages_are_in_order_and_add_up() -> None:
    stages = tables.stages(STAGES)
    assert [(stage.name, stage.us) for stage in stages] == [("host", 3.0), ("wire and switch", 1.5), ("poll", 0.5)]
    assert tables.stage_table(stages).rows[-1] == ("together", "5.000", "100.0 %")
    assert not tables.stage_table(())


def test_stages_of_no_length_have_no_share() -> None:
    assert tables.stages({"stage_us_00_a": 0.0})[0].share == 0.0


def test_every_metric_is_shown_once() -> None:
    others = tables.others({**SIZED, **STAGES, "bandwidth_MBps_peak": 117.0, "stage_us_sum": 5.0, "one_way_us_B": 1.0})
    assert [row[0] for row in others.rows] == ["bandwidth_MBps_peak", "stage_us_sum", "one_way_us_B"]


def test_quoted_values_have_dashes() -> None:
    table = tables.published(PUBLISHED)
    assert table.rows[0][2:] == ("input", "0.16", "0.1605", "1.003")
    assert table.rows[2][2:] == ("quoted", "10", "-", "-")
    assert set(tables.KINDS) == set(Kind)


def test_first_measured_values_have_a_column_if_recorded() -> None:
    recorded = compare("knee", "Figure 4.6", 5000.0, 5100.0, Kind.PREDICTED, first=4000.0)
    table = tables.published([*PUBLISHED[:1], recorded])
    assert table.headings == ("value", "source", "kind", "published", "first", "measured", "ratio")
    assert [row[4] for row in table.rows] == ["-", "4,000"]


def test_cost_shows_the_parts_of_the_wall_time() -> None:
    rows = {row[0]: row[1] for row in tables.cost(results()).rows}
    assert rows["simulated"] == "1.25 ms"
    assert (rows["wall"], rows["RTL"], rows["Python"], rows["other"]) == ("4.00 s", "50 %", "25 %", "25 %")
    assert rows["wake-ups per message"] == "3.5"


def test_cost_of_a_run_without_messages_or_wall_time_has_no_shares() -> None:
    assert tables.cost(results(cost=Cost(), wall_s=0.0)).rows == (("simulated", "1.25 ms"), ("wall", "0.00 s"))
