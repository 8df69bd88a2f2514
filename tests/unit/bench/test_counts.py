"""Instructions per message (`make counts`): attribution, first counted message, and the comparison with
recorded counts.

Strategy: a Callgrind file is written by hand. Inclusive costs of calls, and names that are defined where a function is
first called, would change its sums when read wrongly. Counts are compared with counts a little above and below the
limit, and with those of another compiler. Callgrind itself is not run.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tb.bench import counts
from tb.bench.between import Between
from tb.bench.callgrind import LOOP, NODE, PARTS, PYTHON, SWITCH, by_part
from tb.bench.counts import COMMITTED, WORKLOADS, compared

FILE = """\
# callgrind format
positions: line
events: Ir
summary: 0

ob=(1) /builds/top/obj/Vtop
fl=(1) ???
fn=(1) Cluster::edge(bool, bool)
10 3
+2 4
cfn=(2) void eval_nba_of<5ul, 1ul>(Vnode___024root*)
calls=7 51
* 1000

fn=(2)
5 20
cob=(2) /usr/lib/libpython3.11.so.1.0
cfn=(3) PyObject_Call
calls=1 0
-3 5000

fn=(4) Vswitch_8___024root___nba_comb__TOP__41(Vswitch_8___024root*)
0 300

ob=(3) /builds/top/libdoorway.so
fn=(5) san_trace
7 50

ob=(2)
fn=(3)
9 600
totals: 977
"""
TOOLS = {"g++": "12.2.0", "Python": "3.11.7"}


def committed(streaming: int) -> dict[str, object]:
    return {"with": TOOLS, "counts": {"streaming": {NODE: streaming - 300, SWITCH: 100, LOOP: 100, PYTHON: 100}}}


def measured(nodes: int) -> dict[str, dict[str, int]]:
    return {"streaming": {NODE: nodes, SWITCH: 100, LOOP: 100, PYTHON: 100}}


def test_instructions_count_for_the_part_of_their_function_without_callees() -> None:
    assert by_part(FILE.splitlines()) == {NODE: 20, SWITCH: 300, LOOP: 57, PYTHON: 600}


def test_functions_are_listed_with_their_instructions_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "FOLDER", tmp_path)
    workload = counts.Workload("a_study", "a_cluster", "", 2, 4)
    workload.folder.mkdir(parents=True)
    (workload.folder / counts.MAIN_THREAD).write_text(FILE, encoding="utf-8")
    assert counts.functions(workload, 4) == [
        (PYTHON, "PyObject_Call", 300),
        (SWITCH, "switch_8: nba_comb__TOP__41", 150),
        (LOOP, "san_trace", 25),
        (NODE, "eval_nba_of<5ul, 1ul>", 10),
    ]


def test_counting_begins_and_ends_at_its_messages_once_each() -> None:
    told: list[str] = []
    between = Between(2, 5, lambda: told.append("begin"), lambda: told.append("end"))
    for before, now, expected in ((0, 1, []), (1, 3, ["begin"]), (3, 4, ["begin"]), (4, 6, ["begin", "end"])):
        between.changed(before, now)
        assert told == expected
    between.changed(6, 7)
    assert told == ["begin", "end"]


@pytest.mark.parametrize("nodes", [100_000 - 300 - 2_900, 100_000 - 300 + 2_900])
def test_a_change_of_less_than_three_percent_is_not_reported(nodes: int) -> None:
    assert compared(measured(nodes), TOOLS, committed(100_000)) == ["no change above 3 % of the committed counts"]


@pytest.mark.parametrize(("nodes", "change"), [(96_500, "-3.2 %"), (103_000, "+3.3 %")])
def test_a_larger_change_is_reported_with_its_main_part(nodes: int, change: str) -> None:
    expected = f"streaming: {nodes + 300:,} instructions a message, {change} of 100,000; most in: {NODE}"
    assert compared(measured(nodes), TOOLS, committed(100_000)) == [expected]


def test_counts_of_another_compiler_are_reported_and_not_compared() -> None:
    said = compared(measured(500_000), {**TOOLS, "g++": "13.1.0"}, committed(100_000))
    assert said == ["not compared with the committed counts: g++ 13.1.0 instead of 12.2.0"]


def test_every_workload_has_a_committed_count_of_every_part() -> None:
    counts = json.loads(COMMITTED.read_text(encoding="utf-8"))["counts"]
    assert list(counts) == list(WORKLOADS)
    assert all(list(parts) == list(PARTS) for parts in counts.values())
