"""The timeline of a made-up ping-pong, in the trace event format (JSON) that viewers read.

Strategy: the events are read back and checked against the format: every phase has its members, and spans of a thread
follow or contain one another. Every point of an arrow is in a span of its thread, and counters return to zero. Then
names and times of one message are compared with the trace. The command is run with windows, and with invalid arguments.
"""

from __future__ import annotations

import io
import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from firmware.mpi.call_names import NUMBERS
from pymodels.errors import ConfigError
from pymodels.lanai.program import Place
from pymodels.trace import CENTRAL_QUEUE, Part, TraceEvent, switch_port, unit
from tb.report import timeline as command
from tb.report import wire
from tb.report.functions import Calls
from tb.report.recorded import TRACE, read_recorded
from tb.report.timeline_messages import lanes
from tb.report.window import window_ps
from tests.unit.report.madeup_trace import LEGEND_OF_TWO, Row, leave, ping_pong, record, through_a_card, trace

E = TraceEvent
RESULTS = "result, until the NIC sees it"
MEMBERS = {
    "M": {"pid", "tid", "name", "args"},
    "X": {"pid", "tid", "ts", "dur", "name"},
    "C": {"pid", "tid", "ts", "name", "args"},
    "s": {"pid", "tid", "ts", "id", "cat", "name"},
}
MEMBERS["t"] = MEMBERS["f"] = MEMBERS["s"]
Event = dict[str, Any]


@pytest.fixture(scope="module", name="events")
def fixture_events(tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    folder = leave(tmp_path_factory.mktemp("run"), trace(used_rows(), ping_rows()))
    return written(folder)


def written(folder: Path) -> list[Event]:
    """Return the events of a run's timeline."""
    command.write_timeline(read_recorded(folder), folder / command.FILE)
    plain = json.loads((folder / command.FILE).read_text(encoding="utf-8"))
    assert plain["displayTimeUnit"] == "ns"
    return list(plain["traceEvents"])


def ping_rows() -> list[Row]:
    return list(wire.rows(ping_pong(2)))


def used_rows() -> list[Row]:
    """SRAM in two windows apart, PCI in one, a slack buffer on its way up and down, an output that was taken."""
    window = 1024 * 7500
    return [
        (window, unit(0, Part.SRAM), E.SRAM_USE, 0, 1024, 0),
        (3 * window, unit(0, Part.SRAM), E.SRAM_USE, 0, 512, 0),
        (512 * 15000, unit(1, Part.PCI), E.PCI_USE, 0, 128, 64),
        (1_000, unit(1, Part.NET_RECV), E.MOVE_START, 7, 3, 512),
        (4_000, unit(1, Part.NET_RECV), E.MOVE_DONE, 7, 3, 512),
        (1_000, switch_port(0, 1), E.SLACK_FILL, 0, 16, 0),
        (2_000, switch_port(0, 1), E.SLACK_FILL, 0, 5, 0),
        (1_000, switch_port(0, CENTRAL_QUEUE), E.QUEUE_FILL, 0, 128, 0),
        (3_000, switch_port(0, 0), E.STALL_START, 0, 1, 0),
        (4_000, switch_port(0, 0), E.STALL_END, 0, 1, 0),
        (5_000, unit(1, Part.LINK), E.STALL_START, 0, 0, 0),
        (6_000, unit(1, Part.LINK), E.STALL_END, 0, 0, 0),
    ]


def place(events: list[Event], process: str, thread: str) -> tuple[int, int]:
    """Return the process and thread that have these names."""
    (pid,) = {e["pid"] for e in events if e["name"] == "process_name" and e["args"]["name"] == process}
    (tid,) = {e["tid"] for e in events if (e["pid"], e["name"]) == (pid, "thread_name") and e["args"]["name"] == thread}
    return pid, tid


def spans(events: list[Event], process: str, thread: str) -> list[tuple[str, float, float]]:
    """(name, begin, duration) of the spans there, in microseconds."""
    there = place(events, process, thread)
    return [(e["name"], e["ts"], e["dur"]) for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == there]


def counter(events: list[Event], process: str, name: str) -> list[tuple[float, float]]:
    """(time in microseconds, value) of a counter."""
    (pid,) = {e["pid"] for e in events if e["name"] == "process_name" and e["args"]["name"] == process}
    found = [(e["ts"], e["args"]["value"]) for e in events if e["ph"] == "C" and (e["pid"], e["name"]) == (pid, name)]
    return sorted(found)


def test_every_event_has_the_members_of_its_phase(events: list[Event]) -> None:
    for event in events:
        assert MEMBERS[event["ph"]] <= set(event), event
        assert event.get("dur", 0) >= 0


def test_spans_of_a_thread_are_disjoint_or_nested(events: list[Event]) -> None:
    threads: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            threads[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for there, found in threads.items():
        stack: list[float] = []
        for begin, end in sorted(found, key=lambda span: (span[0], -span[1])):
            while stack and stack[-1] <= begin:
                stack.pop()
            assert not stack or end <= stack[-1] + 1e-9, (there, begin, end)
            stack.append(end)


def test_arrows_follow_each_message_through_spans(events: list[Event]) -> None:
    for number in (1, 2, 3, 4):
        points = [e for e in events if e["ph"] in "stf" and e["id"] == number]
        assert [e["ph"] for e in points] == ["s", *["t"] * (len(points) - 2), "f"]
        times = [e["ts"] for e in points]
        assert times == sorted(times)
        for point in points:
            assert any(
                e["ph"] == "X"
                and (e["pid"], e["tid"]) == (point["pid"], point["tid"])
                and e["ts"] <= point["ts"] <= e["ts"] + e["dur"]
                for e in events
            ), point
        assert len({(e["pid"], e["tid"]) for e in points}) == 8


def test_every_host_nic_switch_and_cable_is_a_process(events: list[Event]) -> None:
    names = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    hosts = {"host paris", "host metz", "NIC of paris", "NIC of metz"}
    assert names == hosts | {"switch sw0", "cable paris - sw0", "cable metz - sw0"}


def test_spans_have_readable_names(events: list[Event]) -> None:
    ping = "message 1, paris to metz, 64 B"
    assert spans(events, "host paris", "CPU")[0] == ("send", 0, 0.2)
    assert spans(events, "host paris", "calls and handlers")[0] == (f"send: {ping}", 0, 0.36)
    assert spans(events, "host metz", "calls and handlers")[0] == (f"handler 16: {ping}", 3, 0.05)
    assert spans(events, "NIC of paris", "processor")[0] == ("send_message", 0.51, 0.6)
    assert spans(events, "cable paris - sw0", "paris to sw0")[0] == (ping, 1.13, 0.096)
    assert (ping, 1.17, 0.131) in spans(events, "switch sw0", "port 0, from paris")
    assert ("ACK of message 1", 2.09, 0.013) in spans(events, "cable paris - sw0", "sw0 to paris")
    assert spans(events, "NIC of metz", "receive")[0] == (ping, 1.24, 0.096)
    assert spans(events, "NIC of metz", "host DMA, chain 0")[:2] == [
        ("96 B to the host", 1.95, 0.35),
        ("4 B to the host", 2.4, 0.2),
    ]


def test_moves_of_the_right_engine_of_an_sp_adapter_are_spans(events: list[Event]) -> None:
    assert spans(events, "NIC of metz", "right engine, received") == [("512 B to the FIFO", 0.001, 0.003)]


def test_calls_of_applications_are_spans_by_their_names(tmp_path: Path) -> None:
    recv, went = NUMBERS["MPI_Recv"], ((5, E.CALL_START), (7, E.CALL_END), (8, E.CALL_START))
    rows = [record(at, 1, Part.HOST_CPU, event, 0, recv) for at, event in went]
    rows.append(record(9, 0, Part.HOST_CPU, E.CALL_START, 0, 9999))
    legend = replace(LEGEND_OF_TWO, layers=("grim", "mpi"))
    events = written(leave(tmp_path, trace(rows), legend))
    thread = "calls of the application"
    assert spans(events, "host metz", thread) == [("MPI_Recv", 0.005, 0.002), ("MPI_Recv, not returned", 0.008, 0.001)]
    assert spans(events, "host paris", thread) == [("call 9999, not returned", 0.009, 0)]


def test_waiting_is_a_span(events: list[Event]) -> None:
    assert ("waits for port 1", 0.003, 0.001) in spans(events, "switch sw0", "port 0, from paris")
    assert ("stopped", 0.005, 0.001) in spans(events, "cable metz - sw0", "metz to sw0")


def test_counters_show_use_and_depth_and_end_at_zero(events: list[Event]) -> None:
    window = 1024 * 0.0075
    assert counter(events, "NIC of paris", "SRAM use, %") == [
        (0, 50),
        (pytest.approx(window), 0),
        (pytest.approx(2 * window), 25),
        (pytest.approx(3 * window), 0),
    ]
    assert counter(events, "host metz", "PCI use, %")[0] == (0, 25)
    assert counter(events, "switch sw0", "slack of port 1, characters") == [(0.001, 16), (0.002, 5)]
    assert counter(events, "switch sw0", "central queue, bytes") == [(0.001, 128)]
    assert counter(events, "NIC of paris", "messages sent, not acknowledged")[:2] == [(0.3, 1), (3.5, 0)]
    assert counter(events, "host metz", "messages before the host")[:2] == [(1.8, 1), (2.9, 0)]


def test_overlapping_calls_that_are_not_nested_get_separate_lanes() -> None:
    placed = lanes([(0, 10, "a"), (2, 5, "in a"), (5, 8, "in a too"), (8, 12, "over its end"), (12, 13, "after")])
    assert [(lane, name) for lane, (_, _, name) in placed] == [
        (0, "a"),
        (0, "in a"),
        (0, "in a too"),
        (1, "over its end"),
        (0, "after"),
    ]


def test_the_command_writes_a_window(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    leave(tmp_path)
    assert command.main([str(tmp_path), "--from", "7.9", "--to", "11.2"]) == 0
    assert "open it in https://ui.perfetto.dev" in capsys.readouterr().out
    events = json.loads((tmp_path / command.FILE).read_text(encoding="utf-8"))["traceEvents"]
    sends = [e["name"] for e in events if e["ph"] == "X" and e["name"].startswith("send:")]
    assert sends == ["send: message 1, paris to metz, 64 B"]


@pytest.mark.parametrize(
    ("begin", "end", "said"),
    [
        ("x", "", "FROM: invalid time: FROM is 'x'; give microseconds, such as 40 or 41.5"),
        ("", "-1", "TO: invalid time: TO is '-1'"),
        ("7", "7", "TO: empty window: TO is 7 us, FROM is 7 us; give a TO after FROM"),
    ],
)
def test_an_invalid_window_is_rejected(begin: str, end: str, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        window_ps(begin, end)
    assert str(raised.value).startswith(said)


def test_a_truncated_trace_is_reported_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    leave(tmp_path)
    (tmp_path / TRACE).write_bytes((tmp_path / TRACE).read_bytes()[:-7])
    assert command.main([str(tmp_path)]) == 2
    ended = capsys.readouterr()
    assert ended.err.startswith("trace unreadable: ")
    assert ended.err.count("\n") == 1
    assert not (tmp_path / command.FILE).exists()


def test_a_failed_write_leaves_no_partial_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    leave(tmp_path)
    (tmp_path / command.FILE).mkdir()
    assert command.main([str(tmp_path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert not list(tmp_path.glob(".*"))


def test_the_timeline_of_a_long_trace_is_written_only_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave(tmp_path)
    said = io.StringIO()
    monkeypatch.setattr(command, "SOON", 10)
    command.write_soon(tmp_path, Console(file=said, width=200))
    assert f"`make timeline STUDY={tmp_path.name}` writes it" in said.getvalue()
    assert not (tmp_path / command.FILE).exists()
    monkeypatch.setattr(command, "SOON", 1000)
    command.write_soon(tmp_path, Console(file=said))
    assert (tmp_path / command.FILE).exists()


def test_card_has_a_process_with_its_circuits_and_results_and_arrows_pass_through_it(tmp_path: Path) -> None:
    command.write_timeline(read_recorded(leave(tmp_path, trace(through_a_card(0)))), tmp_path / command.FILE)
    events = json.loads((tmp_path / command.FILE).read_text(encoding="utf-8"))["traceEvents"]
    circuits, result = place(events, "card of metz", "circuits"), place(events, "card of metz", RESULTS)
    spans = {(e["pid"], e["tid"]): (e["name"], e["ts"], e["dur"]) for e in events if e["ph"] == "X"}
    assert spans[circuits] == ("message 1, paris to card of metz, 64 B", 2.95, 0.3)
    assert spans[result] == ("message 2, card of metz to paris, 64 B", 3.25, 0.25)
    ends = {e["id"]: (e["pid"], e["tid"]) for e in events if e["ph"] == "f"}
    begins = {e["id"]: (e["pid"], e["tid"]) for e in events if e["ph"] == "s"}
    assert (ends[1], begins[2]) == (circuits, result)


def test_functions_of_a_nic_that_executes_are_slices_within_their_callers(tmp_path: Path) -> None:
    """Main polls inline; step is called, and has copy inline; it is called once more, and the run ends in it."""
    main, look, step, copy = Place("main"), Place("look", "a.c:3"), Place("step"), Place("copy", "b.c:9")
    legend = replace(LEGEND_OF_TWO, places=((main,), (main, look), (step,), (step, copy)))
    went = [
        (1, 0, 1),
        (2, 1, 0),
        (3, 0, 0),
        (4, 1, 0),
        (5, 2, 1),
        (6, 3, 0),
        (7, 2, 0),
        (8, 1, 0),
        (9, 2, 1),
        (11, 9, 0),
    ]
    rows = [(1000 * at, unit(1, Part.NIC_CPU), int(E.FUNCTION), 0, number, first) for at, number, first in went]
    events = written(leave(tmp_path, trace([*rows, record(12, 0, Part.NIC_CPU, E.ACK_SENT)]), legend))
    assert sorted(spans(events, "NIC of metz", "processor"), key=lambda one: (one[1], -one[2])) == [
        ("main", 0.001, 0.010),
        ("look", 0.002, 0.001),
        ("look", 0.004, 0.007),
        ("step", 0.005, 0.003),
        ("copy", 0.006, 0.001),
        ("step", 0.009, 0.002),
        ("(no function)", 0.011, 0.001),
    ]
    assert {e["args"]["inline at"] for e in events if e["name"] == "copy"} == {"b.c:9"}


def test_each_call_of_an_active_function_begins_a_new_slice() -> None:
    """Begin no deeper call at a reset of the processor, or at a loop to the first instruction."""
    calls, start, main = Calls(), (Place("start"),), (Place("main"),)
    ended = [list(calls.go_on(at, places, True)) for at, places in enumerate((start, main, start, main))]
    assert ended == [[], [], [(main[0], 1, 2), (start[0], 0, 2)], []]
    assert list(calls.end(9)) == [(main[0], 3, 9), (start[0], 2, 9)]
