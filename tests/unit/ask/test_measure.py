"""`make measure`: conditions, intervals, groups, names of signals, and what the command writes.

Strategy: waveform files in VCD are written by hand, with numbers, texts, reals and unknown bits; expected intervals are
read off them. tests/system/test_waves.py measures FST files of both simulators.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from pymodels.errors import ConfigError, SanlabError
from tb.ask import measure as command
from tb.ask.intervals import Intervals, histogram, spread
from tb.ask.measure import file_of, measure, open_file
from tb.ask.measured_page import Measured, bars, endless, spread_table
from tb.ask.waveform import Waveform, WaveformError
from tb.report import waves
from tests.unit.report.madeup_trace import leave

HEAD = """$timescale 1ns $end
$scope module top $end
$scope module host_paris $end
$var wire 1 ! req $end
$var wire 1 " ack $end
$var wire 9 # rx [8:0] $end
$var string 1 $ path $end
$var wire 8 % message [7:0] $end
$var real 64 & level $end
$scope module inner $end
$var wire 1 ! asked $end
$upscope $end
$upscope $end
$scope module host_metz $end
$var wire 1 ' req $end
$var wire 8 ( message [7:0] $end
$upscope $end
$scope module switch_s0 $end
$scope module gen_port[1] $end
$var wire 9 # rx [8:0] $end
$upscope $end
$upscope $end
$upscope $end
$enddefinitions $end
"""
CHANGES = """#0
0!
0"
b0 #
s $
b1 %
r0.5 &
0'
b1111 (
#10
1!
ssend $
#14
1"
b11 #
#20
0!
0"
b10 %
s $
r1.5 &
#30
1!
b0 #
#50
1"
sreceive $
#60
0!
0"
#70
1!
bx1 #
ssend $
#80
s $
#90
b100000001 #
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "other.vcd"
    file.write_text(HEAD + CHANGES, encoding="utf-8")
    return file


def of(path: Path, begin: str, end: str, within: str = "", each: str = "") -> list[tuple[int, int | None]]:
    """Return begin and end in ns of each interval."""
    found = measure(open_file(path), begin, end, within, each).found
    return [
        (int(a), int(b) if ended else None) for a, b, ended in zip(found.begin, found.end, found.ended, strict=True)
    ]


def rejected(path: Path, *words: str) -> str:
    with pytest.raises(SanlabError) as caught:
        measure(open_file(path), *words)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_an_interval_ends_at_the_next_occurrence_and_the_last_has_no_end(path: Path) -> None:
    assert of(path, "paris.req rises", "ack rises") == [(10, 14), (30, 50), (70, None)]
    measured = measure(open_file(path), "paris.req rises", "ack rises")
    assert endless(measured) == ["no end: begins at 0.070000 us, TO does not occur again"]
    assert spread_table(measured).rows == (("all", "2", "4.000", "12.000", "20.000", "20.000", "1"),)


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [
        ("ack falls", "ack rises", [(20, 50), (60, None)]),
        ("ack rises", "ack rises", [(14, 50), (50, None)]),
        ("paris.path=send", "paris.path changes", [(10, 20), (70, 80)]),
        ("path!=", "path=", [(10, 20), (50, 80)]),
        ("paris.rx=3", "paris.rx=0x101", [(14, 90)]),
        ("paris.rx=xxxxxxxx1", "paris.rx rises", [(70, 90)]),
        ("level=1.5", "paris.req rises", [(20, 30)]),
        ("path changes", "path=receive", [(10, 50), (20, 50), (50, None), (70, None), (80, None)]),
    ],
)
def test_conditions_on_values_edges_and_changes(path: Path, begin: str, end: str, expected: list[object]) -> None:
    assert of(path, begin, end) == expected


def test_an_end_at_the_same_time_counts_only_on_another_signal(path: Path) -> None:
    assert of(path, "paris.path=send", "paris.req rises") == [(10, 10), (70, 70)]
    assert of(path, "paris.req rises", "inner.asked rises") == [(10, 30), (30, 70), (70, None)]


def test_an_interval_lies_within_one_period_of_the_condition(path: Path) -> None:
    found = measure(open_file(path), "paris.req rises", "ack falls", "path=send").found
    assert (found.begin.tolist(), found.outside) == ([10, 70], 1)
    assert found.ended.tolist() == [True, False] and found.left.tolist() == [False, True]
    assert endless(measure(open_file(path), "paris.req rises", "ack falls", "path=send")) == [
        "no end: begins at 0.070000 us, WITHIN ends before TO occurs"
    ]
    assert of(path, "paris.req rises", "path changes", "paris.message=2") == [(30, 50), (70, 70)]


def test_groups_have_the_value_of_the_signal_next_to_the_first_condition(path: Path) -> None:
    measured = measure(open_file(path), "paris.req rises", "ack rises", each="message")
    assert measured.conditions["EACH"] == "top.host_paris.message"
    assert measured.found.keys == ("1", "2", "2")
    assert [row[:2] + row[-1:] for row in spread_table(measured).rows] == [
        ("all", "2", "1"),
        ("2", "1", "1"),
        ("1", "1", "0"),
    ]
    assert endless(measured) == ["no end: begins at 0.070000 us, message 2, TO does not occur again"]


TEXTS = """$timescale 1ns $end
$scope module paris $end
$scope module cpu $end
$var string 1 a call $end
$var string 1 b message $end
$upscope $end
$scope module nic $end
$var string 1 c sending $end
$upscope $end
$upscope $end
$scope module metz $end
$scope module nic $end
$var string 1 d completion $end
$var string 1 e path $end
$var string 1 f message $end
$upscope $end
$upscope $end
$scope module switch_s0 $end
$var wire 9 g rx [8:0] $end
$upscope $end
$enddefinitions $end
#0
s a\ns b\ns c\ns d\ns e\ns f\nb0 g
#10
ssend a\ns1 b
#20
s a\ns b
#30
ssend a\ns2 b
#40
s a\ns b\ns2 d
#42
b1 g
#50
s d\nsreceive e\ns2 f
#60
s e\ns f\ns1 d
#70
s d\nsreceive e\ns1 f\ns1 c
#80
s e\ns f\ns2 c
"""
"""Two messages of which the second one overtakes the first: call, completion and path `receive` of each."""


@pytest.mark.parametrize(
    ("begin", "end", "each", "expected"),
    [
        ("paris.call=send", "completion rises", "", [(10, 40), (30, 40)]),
        ("paris.call=send", "completion rises", "message", [(10, 60), (30, 40)]),
        ("paris.call=send", "completion falls", "cpu.message", [(10, 70), (30, 50)]),
        ("paris.call=send", "metz.path=receive", "message", [(10, 70), (30, 50)]),
        ("paris.call=", "metz.path=", "message", [(20, 80), (40, 60)]),
        ("metz.completion rises", "metz.path=receive", "message", [(40, 50), (60, 70)]),
        ("metz.path=receive", "sending changes", "message", [(50, 80), (70, 70)]),
        ("paris.call=send", "metz.path=receive", "cpu.message, completion", [(10, 70), (30, 50)]),
        ("paris.call=send", "s0.rx rises", "message", [(10, 42), (30, 42)]),
    ],
)
def test_an_interval_ends_at_the_next_occurrence_with_its_key(
    tmp_path: Path, begin: str, end: str, each: str, expected: list[object]
) -> None:
    path = tmp_path / "texts.vcd"
    path.write_text(TEXTS, encoding="utf-8")
    assert of(path, begin, end, each=each) == expected


def test_an_occurrence_with_another_key_does_not_end_an_interval(tmp_path: Path) -> None:
    path = tmp_path / "texts.vcd"
    path.write_text(TEXTS.replace("s1 d", "s3 d"), encoding="utf-8")
    measured = measure(open_file(path), "paris.call=send", "completion rises", each="message")
    assert measured.conditions["EACH"] == "paris.cpu.message, metz.nic.completion"
    assert [row[:2] + row[-1:] for row in spread_table(measured).rows] == [
        ("all", "1", "1"),
        ("2", "1", "0"),
        ("1", "0", "1"),
    ]


def test_short_names_omit_scopes_prefixes_and_brackets(path: Path) -> None:
    file = open_file(path)
    for name in ("s0.port1.rx", "switch_s0.gen_port[1].rx", "top.switch_s0.gen_port[1].rx", "S0.PORT[1].RX"):
        assert file.find(name, "FROM").path == "top.switch_s0.gen_port[1].rx"
    assert file.find("asked", "FROM").wire == file.find("paris.req", "FROM").wire


def test_unknown_and_ambiguous_signals_are_rejected_with_the_nearest_names(path: Path) -> None:
    assert rejected(path, "pari.rq rises", "ack rises") == "FROM: unknown signal: pari.rq; did you mean 'paris.req'?"
    assert rejected(path, "ack rises", "s0.prt1.rx falls").endswith("did you mean 's0.port1.rx'?")
    assert rejected(path, "ack rises", "req rises") == (
        "TO: ambiguous signal: req is the name of 2 signals; "
        "give more of its name: top.host_metz.req, top.host_paris.req"
    )


def test_invalid_conditions_are_rejected_with_the_valid_forms(path: Path) -> None:
    assert rejected(path, "ack", "ack falls").startswith(
        "FROM: invalid condition: FROM is 'ack'; give <signal>=<value>"
    )
    assert rejected(path, "ack rises", "").startswith("TO: invalid condition: TO is ''")
    assert rejected(path, "ack rises", "ack falls", "ack rises").startswith("WITHIN: not a period")
    assert rejected(path, "rx=GO", "ack rises") == (
        "FROM: unknown value: top.host_paris.rx is never GO; its values have no names: give a number"
    )
    assert rejected(path, "path=sent", "ack rises").endswith("path = sent at no time of the file; did you mean 'send'?")


def test_values_have_the_names_that_the_views_of_a_run_give_them(tmp_path: Path) -> None:
    (tmp_path / "other.vcd").write_text(HEAD + CHANGES, encoding="utf-8")
    named = Waveform(tmp_path / "other.vcd", {"top.host_paris.rx": {3: "GO", 0x101: "01"}})
    assert measure(named, "paris.rx=GO", "port1.rx=01").found.begin.tolist() == [14]
    assert named.find("rx", "FROM").path == "top.host_paris.rx", "of three, the one of the views"
    with pytest.raises(ConfigError, match=r"rx is never GP; did you mean 'GO'\?"):
        measure(named, "paris.rx=GP", "paris.rx=01")
    assert measure(named, "ack rises", "ack falls", each="paris.rx").found.keys == ("GO", "0")


def test_missing_and_damaged_files_are_rejected(tmp_path: Path) -> None:
    for name, text in (("none.vcd", None), ("text.vcd", "no waveform"), ("cut.vcd", HEAD[:200])):
        if text is not None:
            (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(WaveformError, match=name):
            measure(open_file(tmp_path / name), "a rises", "b rises")
    with pytest.raises(WaveformError, match=r"waves\.fst: no such file; "):
        file_of(str(tmp_path / "folder"))
    with pytest.raises(ConfigError, match="did you mean 'grim_pingpong'"):
        file_of("grim_pingpon")
    assert file_of("a/b.FST") == Path("a/b.FST")


def test_a_histogram_lists_few_different_lengths_one_by_one_and_many_in_bins(path: Path) -> None:
    measured = measure(open_file(path), "paris.req rises", "ack rises")
    assert list(bars(measured)) == [f" 4.000 ns  {'#' * 40} 1", f"20.000 ns  {'#' * 40} 1"]
    many = histogram(np.arange(100, 160))
    assert sum(count for *_, count in many) == 60 and len(many) == 12
    assert (many[0][0], many[-1][1]) == (100, 159)


def test_p99_is_a_length_that_occurs() -> None:
    lengths = np.arange(1, 201)
    found = spread(Intervals(np.zeros(200, np.int64), lengths, np.zeros(200, bool)))
    assert (found.minimum, found.median, found.p99, found.maximum) == (1, 100.5, 198, 200)


def test_the_command_writes_a_page_and_a_table(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "OUT", tmp_path / "out")
    assert command.main([str(path), "--from=paris.req rises", "--to=ack rises", "--each=message"]) == 0
    shown = capsys.readouterr().out
    assert "FROM   top.host_paris.req rises" in shown and "no end: begins at 0.070000 us, message 2" in shown
    table = pq.read_table(tmp_path / "out" / "measure" / "measure.parquet")
    assert table.to_pydict() == {
        "begin_ps": [10_000, 30_000, 70_000],
        "end_ps": [14_000, 50_000, None],
        "length_ps": [4_000, 20_000, None],
        "within": [True, True, True],
        "key": ["1", "2", "2"],
    }
    assert table.schema.metadata[b"TO"] == b"top.host_paris.ack rises"
    page = (tmp_path / "out" / "measure" / "measure.html").read_text(encoding="utf-8")
    assert "<h2>Histogram</h2>" in page and "20.000 ns: 1" in page and "TO does not occur again" in page


def test_the_files_about_a_run_belong_to_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    leave(tmp_path)
    (tmp_path / waves.FILE).write_text(HEAD + CHANGES, encoding="utf-8")  # the reader recognises the format
    assert command.main([f"{tmp_path}/", "--from=ack rises", "--to=ack falls"]) == 0
    assert (tmp_path / "measure.html").exists() and (tmp_path / "measure.parquet").exists()
    assert command.main([f"{tmp_path}/", "--from=ack rise", "--to=ack falls"]) == 2
    assert capsys.readouterr().err.startswith("FROM: invalid condition")


def test_times_of_a_file_are_scaled_to_picoseconds(tmp_path: Path) -> None:
    for scale, tick_ps in (("100 fs", 0.1), ("1 ps", 1.0), ("10 us", 1e7)):
        (tmp_path / "a.vcd").write_text(HEAD.replace("1ns", scale) + CHANGES, encoding="utf-8")
        assert open_file(tmp_path / "a.vcd").tick_ps == pytest.approx(tick_ps)
        measured: Measured = measure(open_file(tmp_path / "a.vcd"), "ack rises", "ack falls")
        assert measured.length(1) == {"100 fs": "0.000", "1 ps": "0.001", "10 us": "10,000.000"}[scale]
