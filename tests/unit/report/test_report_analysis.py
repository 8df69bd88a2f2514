"""Figures of a trace on a page: stages of messages by size, utilization of every resource, published points
on curves.

Strategy: the made-up ping-pong gives known stages and known times of use; shares are compared with sums made by hand.
Stages must add up to the printed latency. With a trace that is too long, cut off or missing, the page must still be
written, with a note.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pymodels.published import Published, load_published
from pymodels.published_roles import Scale
from pymodels.results import Kind, Series
from pymodels.trace import Part, TraceEvent, unit
from tb.report import analysis
from tb.report.analysis import analyse, stages, used
from tb.report.breakdown import MOST, breakdowns, names_of
from tb.report.contents import write_contents
from tb.report.lives import Lives
from tb.report.page import write_page
from tb.report.published_points import published_points
from tb.report.recorded import BOARD, TRACE, TraceError
from tb.report.use import CPU, LINK_IN, LINK_OUT, PCI, PROCESSOR, SRAM, uses
from tb.report.wire import Row, rows
from tests.unit.report.madeup import PUBLISHED, Question, results
from tests.unit.report.madeup_trace import LEGEND_OF_TWO, leave, message, ping_pong, trace


def test_stages_are_those_of_the_median_message_of_each_size_and_add_up() -> None:
    later = {True: 500_000, False: 0}
    slow = [(row[0] + later[row[0] > 2_000_000], *row[1:]) for row in message(0, 0, 1, 64)]
    others = [message(10_000 * i, i % 2, i + 2, size) for i, size in ((1, 64), (2, 64), (3, 0))]
    told = breakdowns(Lives(LEGEND_OF_TWO).take_all(rows(trace(slow, *others))).lives)
    assert [(one.life.size, one.count, one.latency) for one in told] == [(0, 1, 3_000_000), (64, 3, 3_000_000)]
    assert len(names_of(told)) == 13


def test_some_of_many_sizes_are_shown_including_first_and_last() -> None:
    parts = [message(10_000 * i, 0, i + 1, 4 * i) for i in range(30)]
    told = breakdowns(Lives(LEGEND_OF_TWO).take_all(rows(trace(*parts))).lives)
    sizes = [one.life.size for one in told]
    assert len(sizes) == MOST
    assert (sizes[0], sizes[-1]) == (0, 4 * 29)


def test_a_trace_whose_stages_contradict_its_latency_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Lives(LEGEND_OF_TWO).take_all(rows(ping_pong(1))).lives
    monkeypatch.setattr("tb.report.breakdown.stages_of", lambda life: [])
    with pytest.raises(ValueError, match="message 1: stages add up to 0 ps of 3000000 ps"):
        breakdowns(told)


def test_shares_are_of_the_time_from_the_first_send_to_the_last_end() -> None:
    whole = 3000  # ns: one message
    window = 1024 * 7500
    use_rows: list[Row] = [
        (window, unit(0, Part.SRAM), TraceEvent.SRAM_USE, 0, 1024, 0, 0),
        (512 * 15000, unit(1, Part.PCI), TraceEvent.PCI_USE, 0, 128, 64, 0),
    ]
    records = rows(trace(message(0, 0), [*use_rows]))
    paris, metz = uses(LEGEND_OF_TWO, Lives(LEGEND_OF_TWO).take_all(records), records)
    assert paris.shares[CPU] == pytest.approx(200 / whole)
    assert paris.shares[PROCESSOR] == pytest.approx(600 / whole)
    assert [paris.shares[SRAM], metz.shares[PCI]] == pytest.approx([0.5, 0.25])
    assert [paris.shares[LINK_OUT], paris.shares[LINK_IN]] == pytest.approx([96 / whole, 8 / whole])
    assert [metz.shares[LINK_OUT], metz.shares[LINK_IN]] == pytest.approx([8 / whole, 96 / whole])
    assert metz.shares[CPU] == 0


def test_a_page_shows_stages_and_use(tmp_path: Path) -> None:
    found = analyse(leave(tmp_path))
    text = write_page(tmp_path, Question(), results(), [], found).read_text(encoding="utf-8")
    assert "64 B: 3.000 us" in text
    assert "wire and switch: 0.100 us, 3.3 %" in text
    assert "<td>paris</td>" in text
    assert "".join(stages(found)) in text.replace("\n", "")
    assert "".join(used(found)) in text.replace("\n", "")


def test_stages_of_host_software_on_a_board_are_marked_as_those_of_the_pc(tmp_path: Path) -> None:
    assert not analyse(leave(tmp_path)).of_pc
    found = analyse(leave(tmp_path, legend=replace(LEGEND_OF_TWO, place=BOARD)))
    assert found.of_pc == {"host_send", "nic_notice", "until_seen"} & {*names_of(found.breakdowns)} | found.of_pc
    text = write_page(tmp_path, Question(), results(), [], found).read_text(encoding="utf-8")
    assert "Stages marked (PC) begin or end in host software" in text
    assert "wire and switch</td>" in text
    assert "(PC)</td>" in text


def test_a_trace_that_is_too_long_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "SOON", 10)
    found = analyse(leave(tmp_path))
    assert not found.breakdowns
    text = write_page(tmp_path, Question(), results(), [], found).read_text(encoding="utf-8")
    assert "records: too many to analyse after every run" in text


def test_dropped_records_are_noted(tmp_path: Path) -> None:
    found = analyse(leave(tmp_path, legend=replace(LEGEND_OF_TWO, lost=12)))
    assert "dropped 12 records" in found.note


def test_a_missing_trace_is_empty_and_a_truncated_one_an_error(tmp_path: Path) -> None:
    assert analyse(tmp_path) == analysis.Analysis()
    leave(tmp_path)
    (tmp_path / TRACE).write_bytes((tmp_path / TRACE).read_bytes()[:-1])
    with pytest.raises(TraceError):
        analyse(tmp_path)


def test_published_points_are_drawn_with_their_curve() -> None:
    value = next(v for v in load_published() if v.study == "grim_channel_scan" and v.metric == "scan_us_lanai4_33MHz_8")
    measured = {"scan_us_lanai4_33MHz_8": 5.4, "scan_us_lanai4_33MHz_1": 0.9}
    made = replace(results(measured), study=value.study, profile=value.profile)
    other = next(v for v in load_published() if v.metric == "scan_us_lanai4_33MHz_1")
    assert published_points(Series((1, 8, 16), (0.9, 5.4, 9), "channels", "us"), made) == [
        (1, other.value),
        (8, value.value),
    ]
    assert published_points(Series((1, 8, 16), (0.8, 5.3, 9), "channels", "us"), made) == []


def published(metric: str, value: float, name: str = "", **changed: Any) -> Published:
    """Make a published value of the study in `results`."""
    row = Published(
        name or metric, "paper 9", value, "MB/s", Kind.PREDICTED, "made_up", metric, "lanai9+p2-300", 0.1, 1.0
    )
    return replace(row, **changed)


def test_peak_and_half_bandwidth_are_points_of_their_curve() -> None:
    peak = published("rate_peak", 100.0)
    half = published("half_B", 900.0, unit="B", scored=Scale.RATE, peak="rate_peak")
    made = results({"rate_peak": 90.0, "half_B": 700.0})
    curve = Series((64, 1024, 4096), (10.0, 60.0, 90.0), "B", "MB/s")
    assert published_points(curve, made, [peak, half]) == [(900.0, 50.0), (4096, 100.0)]
    other = Series((64, 1024, 4096), (10.0, 60.0, 91.0), "B", "MB/s")
    assert published_points(other, made, [peak, half]) == [], "the curve of another metric"


def test_a_size_within_the_name_of_a_metric_is_the_place_of_its_point() -> None:
    made = results({"one_way_us_16B_250MHz": 2.0, "all_4": 1.0})
    curve = Series((4, 16), (1.0, 2.0), "B", "us")
    assert published_points(curve, made, [published("one_way_us_16B_250MHz", 3.0)]) == [(16, 3.0)]
    bus = results({"one_way_us_16B_pci32_33": 2.0})
    assert published_points(curve, bus, [published("one_way_us_16B_pci32_33", 3.0)]) == [(16, 3.0)]
    assert published_points(curve, made, [published("all_4", 3.0, over="other")]) == [], "a ratio is no point"
    assert published_points(curve, made, [published("all_4", 3.0)]) == [(4, 3.0)]


def test_a_value_with_settings_is_a_point_of_a_run_with_them_only() -> None:
    curve, value = Series((4,), (1.0,), "B", "us"), published("all_4", 3.0, settings="host.clock_mhz=400")
    given: tuple[dict[str, float | str], ...] = (
        {},
        {"host.clock_mhz": 300},
        {"host.clock_mhz": 400},
        {"host.clock_mhz": 400.0},
    )
    runs = [replace(results({"all_4": 1.0}), settings=one) for one in given]
    assert [len(published_points(curve, run, [value])) for run in runs] == [0, 0, 1, 1]
    preset = published("all_4", 3.0, settings="via.preset=bvia2")
    runs = [replace(results({"all_4": 1.0}), settings={"via.preset": one}) for one in ("bvia1", "bvia2")]
    assert [len(published_points(curve, run, [preset])) for run in runs] == [0, 1]


def test_the_index_lists_every_report_and_marks_unreadable_ones(tmp_path: Path) -> None:
    from pymodels.results import write_results

    for name, failures in (("made up", ""), ("worse", "it broke\n")):
        (tmp_path / name).mkdir()
        write_results(results(published=PUBLISHED), tmp_path / name / "results.json")
        (tmp_path / name / "failures.txt").write_text(failures, encoding="utf-8")
        (tmp_path / name / "report.html").touch()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "results.json").write_text('{"schema": 0}', encoding="utf-8")
    (tmp_path / "old" / "report.html").touch()
    text = write_contents(tmp_path).read_text(encoding="utf-8")
    assert 'href="made%20up/report.html"' in text
    assert (text.count("passed"), text.count(">failed<")) == (1, 1)
    assert "results of another version: run it again" in text
    assert "2 published values, measured / published 0.80 to 1.00" in text


def test_an_empty_index_has_a_note(tmp_path: Path) -> None:
    assert "No study has been run" in write_contents(tmp_path).read_text(encoding="utf-8")
