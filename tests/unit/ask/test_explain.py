"""`make explain`: the life of a message in sentences, every time from the trace, and who it waited for.

Strategy: on the made-up traces (tests/unit/report/madeup_trace.py) every interval is known: sentences are compared
with the times that were written into the records. Messages are laid upon each other so that each kind of waiting
happens once. Stages must add up to the latency. Wrong numbers and traces that cannot be read end with one line and
code 2.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from firmware.mpi.call_names import NUMBERS
from firmware.shown import NIC_NOTICES
from pymodels.lanai.program import Place
from pymodels.trace import Part, TraceEvent, switch_port, unit
from tb.ask import explain
from tb.ask.delays import Delay, Neighbours, total
from tb.ask.story import DELAYS, LOSSES, _losses, _waiting, story
from tb.plan.request import Request, resolve
from tb.report.life import Life, Piece
from tb.report.lives import Lives
from tb.report.recorded import Legend
from tb.report.stages import Stage
from tb.report.wire import Hop, Packet, rows
from tb.tools.paths import SIMULATORS
from tests.unit.report.madeup_trace import LEGEND_OF_TWO, Row, leave, message, packet, record, trace

E = TraceEvent


def told(number: int, *parts: list[Row], legend: Legend = LEGEND_OF_TWO) -> list[str]:
    """Explain a message of a made-up trace."""
    records = trace(*parts)
    lives = Lives(legend).take_all(rows(records))
    return list(story(lives.lives[number - 1], legend, Neighbours(lives, legend, records)))


def held_up(records: list[Row], at: int, ns: int) -> list[Row]:
    """Delay the records from a time on."""
    return [(row[0] + 1000 * ns * (row[0] >= 1000 * at), *row[1:]) for row in records]


def test_a_single_message_is_explained_stage_by_stage() -> None:
    lines = told(1, message(1000, 0))
    assert lines[0] == "message 1, paris to metz, 64 B: sent at 1.000 us, 3.000 us"
    assert lines[2:5] == [
        "0.000 to 0.300 us, host send, 0.300 us",
        "  The CPU of paris runs the library and writes 96 B, header and payload, to the bus.",
        "  Instructions: 0.200 us (send 0.200).",
    ]
    assert "  The head travels to metz over sw0 (input 0 to output 1, 0.030 us)." in lines
    assert lines[-1] == "Together 3.000 us; it waited for no other packet."


def test_application_calls_around_a_message_are_reported() -> None:
    numbers = {name: NUMBERS[f"MPI_{name}"] for name in ("Send", "Recv", "Barrier")}
    calls = [
        record(at, node, Part.HOST_CPU, event, 0, numbers[name])
        for at, node, event, name in (
            (100, 1, E.CALL_START, "Barrier"),
            (200, 1, E.CALL_END, "Barrier"),
            (500, 1, E.CALL_START, "Recv"),
            (900, 0, E.CALL_START, "Send"),
            (1400, 0, E.CALL_END, "Send"),
            (4100, 1, E.CALL_END, "Recv"),
        )
    ]
    legend = replace(LEGEND_OF_TWO, layers=("grim", "mpi"))
    sent, arrived = told(1, calls, message(1000, 0), legend=legend)[1:3]
    times = "called 0.100 us before the send, returned 0.400 us after the send"
    assert sent == f"When it was sent, paris was in MPI_Send ({times})."
    times = "called 0.500 us before the send, returned 3.100 us after the send"
    assert arrived == f"When it arrived, metz was in MPI_Recv ({times})."
    assert "has not returned" in told(1, calls[:-1], message(1000, 0), legend=legend)[2]
    assert told(1, calls[:2], message(1000, 0), legend=legend)[1] == "", "neither was in a call"


def test_a_nic_with_c_firmware_is_explained_by_functions_and_without_its_records() -> None:
    """Paris executes; its own records of the message are missing, and main has step inline from 500 ns on."""
    main, step = Place("main"), Place("step", "a.c:3")
    legend = replace(LEGEND_OF_TWO, places=((main,), (main, step)), executing=(0,))
    silent = [row for row in message(0, 0) if row[1] != unit(0, Part.NIC_CPU)]
    went = [record(at, 0, Part.NIC_CPU, E.FUNCTION, 0, number) for at, number in ((5, 0), (500, 1), (700, 0), (800, 1))]
    lines = told(1, sorted([*silent, *went]), legend=legend)
    assert lines[0] == "message 1, paris to metz, 64 B: sent at 0.000 us, 3.000 us"
    at = lines.index("  The send engine reads SRAM, and the head goes onto the cable.")
    assert lines[at - 1 : at + 2 : 2] == [
        "0.350 to 1.130 us, send engine, 0.780 us",
        "  The NIC of paris executes: 0.780 us (step 0.530, main 0.250).",
    ]
    assert sum("executes" in line for line in lines) == 1, "not before it is told, nor in metz"


def test_a_message_to_a_nic_with_c_firmware_is_tracked_to_its_handler() -> None:
    legend = replace(LEGEND_OF_TWO, places=((Place("main"),),), executing=(1,))
    silent = [row for row in message(0, 0) if row[1] != unit(1, Part.NIC_CPU)]
    lines = told(1, sorted([*silent, record(2, 1, Part.NIC_CPU, E.FUNCTION)]), legend=legend)
    assert lines[0] == "message 1, paris to metz, 64 B: sent at 0.000 us, 3.000 us"
    assert any(re.match("  The NIC of metz executes: .* us \\(main ", line) for line in lines)


def test_times_in_the_sentences_add_up_to_the_latency() -> None:
    lengths = [re.fullmatch(r"[\d.]+ to [\d.]+ us, .*, ([\d.]+) us", line) for line in told(1, message(1000, 0))]
    assert round(sum(float(found[1]) for found in lengths if found), 6) == 3.0


def test_work_of_a_processor_for_another_message_is_named() -> None:
    lines = told(2, message(0, 0), message(100, 0, 2, key=0x0636))
    had = "which message 1, paris to metz, 64 B (nic send) had"
    assert f"  It waited 0.100 us for paris's NIC processor, {had}." in lines
    assert "  In the other 0.050 us no other packet blocked it." in lines
    assert lines[-1].startswith("Together 3.000 us, including ")


def test_a_packet_behind_another_in_the_same_input_waits_for_it() -> None:
    lines = told(2, message(0, 0), held_up(message(100, 0, 2, key=0x0636), 1240, 40))
    assert "  It waited 0.071 us for its turn at input 0 of sw0, which message 1, paris to metz, 64 B had." in lines


def test_a_message_of_two_packets_waits_for_its_own_first() -> None:
    """Write the second piece while the first one is in the send engine."""
    first = [row for row in message(0, 0) if row[2] not in (E.SEND_RETURN, E.HANDLER_START, E.HANDLER_END, E.POLL_HIT)]
    second = [row for row in message(700, 0, key=0x0636) if row[2] != E.SEND_CALL]
    lines = told(1, first, second)
    assert lines[1] == "It consists of 2 packets; this is the last, for which its handler waits."
    had = "which an earlier packet of its own had"
    assert f"  It waited 0.080 us for paris's send engine, {had}." in lines


def test_the_holder_of_an_output_is_named() -> None:
    """Hold the output with a third host's packet until 1.240 us; the message's own head arrives at 1.170 us."""
    three = replace(
        LEGEND_OF_TWO, hosts=("paris", "metz", "nancy"), links=(*LEGEND_OF_TWO.links, ("nancy", 0, "sw0", 2))
    )
    own = held_up(message(0, 0), 1200, 50)
    other = [
        record(1000, 2, Part.NET_SEND, E.TX_START, 0x55),
        record(1010, 2, Part.LINK, E.TX_HEAD, 0x55),
        (1_040_000, switch_port(0, 2), E.SWITCH_HEAD, 0, 1, 0),
        (1_070_000, switch_port(0, 2), E.SWITCH_GRANT, 0, 1, 0),
        (1_240_000, switch_port(0, 2), E.SWITCH_TAIL, 0x55, 1, 0),
    ]
    lines = told(1, own, other, legend=three)
    assert "  The head travels to metz over sw0 (input 0 to output 1, 0.080 us)." in lines
    assert "  It waited 0.070 us for output 1 of sw0, which a control message, nancy had." in lines


def test_stop_on_the_cable_is_reported_as_a_delay() -> None:
    stop = [record(1140, 0, Part.LINK, E.STALL_START), record(1180, 0, Part.LINK, E.STALL_END)]
    lines = told(1, message(0, 0), stop)
    assert "  It waited 0.040 us for GO on the cable of paris, which a full slack buffer behind it had." in lines


def test_a_control_message_in_the_send_engine_is_named() -> None:
    lines = told(1, message(0, 0), packet(1000, 0, 200, 0x1234))
    assert any("paris's send engine, which a control message, paris" in line for line in lines)


def test_a_lost_message_is_reported_with_its_last_record() -> None:
    lines = told(1, message(0, 0)[:8])
    assert lines == [
        "message 1, paris, 64 B: sent at 0.000 us, never arrived",
        "It has not arrived. Its last record in the trace: nic noticed at node 0 NIC CPU, 0.500 us.",
    ]
    assert told(1, message(0, 0)[:2])[1] == "No part of it was written to the bus: its host still waits for room."


def with_packets(*packets: Packet) -> Life:
    """Return a message sent at 1 us whose one piece left as these packets."""
    life = Life(1, 0, 64, 1_000_000)
    life.pieces.append(Piece(life, 0x10, 96, packets=list(packets)))
    return life


def test_lost_and_damaged_packets_and_retransmissions_are_reported() -> None:
    hop = Hop(0, 0, 1, head=2_000_000, grant=2_030_000)
    lost, damaged = Packet(0, 0x10, 1_500_000, lost=True), Packet(0, 0x10, 9_000_000, hops=[hop], syndrome=0x7A)
    life = with_packets(lost, damaged, Packet(0, 0x10, 21_000_000))
    assert list(_losses(life, LEGEND_OF_TWO)) == [
        "A packet sent at 0.500 us was lost, over one cable.",
        "A packet sent at 8.000 us arrived damaged, with CRC-8 syndrome 0x7a, "
        "over sw0 (input 0 to output 1, 0.030 us).",
        "Retransmissions: 2, the last at 20.000 us.",
    ]
    life.posted = True  # all packets of a descriptor are one piece
    assert len(list(_losses(life, LEGEND_OF_TWO))) == 2
    assert list(_losses(with_packets(Packet(0, 0x10, 1_500_000)), LEGEND_OF_TWO)) == []


def test_many_losses_are_summarised() -> None:
    lines = list(_losses(with_packets(*[Packet(0, 0x10, 1_000_000, lost=True)] * (LOSSES + 2)), LEGEND_OF_TWO))
    assert len(lines) == LOSSES + 2
    assert lines[-2] == "2 more packets were lost or damaged."


def test_the_command_counts_the_messages_of_the_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    leave(tmp_path)
    assert explain.main(["grim_pingpong", "--message=1", "--out", str(tmp_path)]) == 0
    assert "messages in the trace, of lower layers too: 4\n" in capsys.readouterr().out


def test_many_delays_are_summarised() -> None:
    others = [Delay(100 * n, 100 * n + 10 * n, "the NIC", f"message {n}") for n in range(1, DELAYS + 4)]
    lines = list(_waiting(Stage(NIC_NOTICES, 0, 2000), others))
    assert len(lines) == DELAYS + 2
    assert [str(DELAYS + 3) in lines[DELAYS - 1], "message 1 " in lines[0]] == [True, False]
    assert lines[-2] == "It waited 0.000 us for 3 others"
    assert lines[-1].endswith("us no other packet blocked it")


def test_overlapping_delays_count_once() -> None:
    assert total([Delay(0, 10, "", ""), Delay(5, 12, "", ""), Delay(20, 21, "", "")]) == 13


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("5", "MESSAGE: no message 5: the trace has 4; give 1 to 4, or slowest"),
        ("0", "MESSAGE: no message 0: the trace has 4; give 1 to 4, or slowest"),
        ("", "MESSAGE: not a number: MESSAGE is ''; give 1 to 4, or slowest"),
        ("x", "MESSAGE: not a number: MESSAGE is 'x'; give 1 to 4, or slowest"),
    ],
)
def test_an_unknown_message_number_is_rejected_with_the_valid_range(
    word: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leave(tmp_path)
    assert explain.main(["grim_pingpong", f"--message={word}", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"{said}\n"


def test_slowest_selects_the_message_with_the_greatest_latency(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = message(9000, 1)
    late[-3] = (late[-3][0] + 40_000, *late[-3][1:])
    late[-4] = (late[-4][0] + 40_000, *late[-4][1:])
    leave(tmp_path, trace(message(0, 0), late))
    assert explain.main(["grim_pingpong", "--message=slowest", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("message 2, metz to paris")


def test_a_truncated_trace_is_reported_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = leave(tmp_path) / "trace.npy"
    path.write_bytes(path.read_bytes()[:-40])
    assert explain.main(["grim_pingpong", "--message=1", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"trace unreadable: {path} is cut off or no trace")
    assert said.count("\n") == 1


def test_a_trace_without_messages_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    leave(tmp_path, trace([record(0, 0, Part.NIC_CPU, E.WORK_START)]))
    assert explain.main(["grim_pingpong", "--message=1", "--out", str(tmp_path)]) == 2
    assert "MESSAGE: no message: the trace has no call of send" in capsys.readouterr().err


def test_without_a_trace_the_study_runs_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run_study(request: object, console: object) -> int:
        asked.append(request)
        leave(tmp_path)
        return 0

    monkeypatch.setattr(explain, "run_study", run_study)
    for _ in range(2):
        assert explain.main(["grim_pingpong", "--message=1", "--out", str(tmp_path)]) == 0
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("--set=size=64", ""),
        ("--profile=lanai4", ""),
        ("--seed=2", ""),
        ("--set=size=128", "the last run had another setting"),
        ("--set=size=64 repetitions=2", "the last run had another setting"),
        ("--profile=lanai9", "the last run had another profile"),
        ("--cluster=four_hosts", "the last run had another cluster"),
        ("--seed=3", "the last run had another seed"),
        ("--sim=icarus", "the last run had another simulator"),
    ],
)
def test_a_run_that_differs_from_the_last_one_runs_first(
    given: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    leave(tmp_path)
    last = resolve("grim_pingpong", "verilator", "2", False, "two_hosts", "lanai4", "size=64", SIMULATORS)
    last.save(tmp_path / "request.json")
    runs: list[Request] = []
    monkeypatch.setattr(explain, "run_study", lambda request, console: runs.append(request))
    assert explain.main(["grim_pingpong", "--message=1", given, "--out", str(tmp_path)]) == 0
    assert len(runs) == bool(reason)
    assert capsys.readouterr().err == (f"{reason}: running grim_pingpong first\n" if reason else "")


def test_a_run_without_a_request_file_is_repeated_when_settings_are_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave(tmp_path)
    runs: list[Request] = []
    monkeypatch.setattr(explain, "run_study", lambda request, console: runs.append(request))
    for word, count in (("--seed=1", 0), ("--set=size=64", 1)):
        assert explain.main(["grim_pingpong", "--message=1", word, "--out", str(tmp_path)]) == 0
        assert len(runs) == count
