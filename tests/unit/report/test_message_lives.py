"""Messages followed in a trace.

Strategy: all messages and answers of a made-up ping-pong have one key (tests/unit/report/madeup_trace.py). The trace
must be separated into the messages, each with its own packet, answers, DMA blocks and handler. Then one fault at a time
is made: a packet is lost, a message is rejected and sent again, a message never arrives, a layer leaves fewer records.
Stages must add up to the latency in every case. Files that are cut off or of another version get a clear line.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from pymodels.trace import Part, TraceEvent
from tb.report.life import Life
from tb.report.lives import Lives
from tb.report.recorded import LEGEND, TRACE, TraceError, read_recorded
from tb.report.stages import stages_at, stages_of
from tb.report.wire import rows
from tests.unit.report.madeup_trace import (
    KEY,
    LEGEND_OF_TWO,
    Row,
    leave,
    message,
    of_message,
    packet,
    ping_pong,
    record,
    through_a_card,
    trace,
)

E = TraceEvent


def lives(*parts: list[Row]) -> Lives:
    return Lives(LEGEND_OF_TWO).take_all(rows(trace(*parts)))


def test_messages_and_answers_of_equal_keys_are_distinguished() -> None:
    told = Lives(LEGEND_OF_TWO).take_all(rows(ping_pong(2)))
    assert [(life.node, life.target, life.latency) for life in told.lives] == [
        (0, 1, 3_000_000),
        (1, 0, 3_000_000),
    ] * 2
    assert [life.number for life in told.lives] == [1, 2, 3, 4]
    for life in told.lives:
        (piece,) = life.pieces
        (sent,) = piece.packets
        assert (sent.source, sent.target, sent.bytes) == (life.node, life.target, 97)
        assert sent.start == life.sent + 1_120_000
        ((kind, answer),) = piece.answers
        assert (kind, answer.source, answer.target, answer.bytes) == ("ACK", life.target, life.node, 9)
        assert [kind for kind, _, _ in piece.dma] == ["message", "pointer"]
        assert life.ended == life.sent + 3_050_000
    assert told.lives[0].name(LEGEND_OF_TWO) == "message 1, paris to metz, 64 B"


def test_stages_end_at_their_records_and_add_up() -> None:
    (life,) = lives(message(0, 0)).lives
    stages = {stage.name: stage.duration // 1000 for stage in stages_of(life)}
    assert stages == {
        "host_send": 300,
        "host_pointer": 50,
        "bus_and_channel_search": 150,
        "nic_send": 611,
        "send_engine": 19,
        "wire_and_switch": 100,
        "reception": 106,
        "nic_notices": 464,
        "nic_receive": 100,
        "dma_message": 400,
        "dma_back_pointer": 300,
        "host_notices": 300,
        "host_dispatch": 100,
    }
    assert sum(stage.duration for stage in stages_of(life)) == life.latency


def test_a_rejected_message_has_a_stage_until_its_retransmission() -> None:
    refused = [
        record(90, 0, Part.HOST_CPU, E.SEND_CALL, KEY, 64, message=1),
        *(row for row in message(100, 0) if row[0] > 100_000 and row[0] < 1_500_000),
        record(1700, 1, Part.NIC_CPU, E.NIC_RECV_START, KEY, 0),
        record(1710, 1, Part.NIC_CPU, E.NACK_SENT, KEY, 0),
        *packet(1720, 1, 8),
        record(2000, 0, Part.NIC_CPU, E.NIC_RECV_START, KEY, 1),
        record(2000, 0, Part.NIC_CPU, E.NACK_SEEN, KEY, 1),
    ]
    refused = of_message(1, refused)
    again = [row for row in message(4000, 0) if row[0] >= 5_111_000]
    (life,) = lives(refused, again).lives
    stages = {stage.name: stage.duration // 1000 for stage in stages_of(life)}
    assert stages["refused_and_sent_again"] == 5111 - 1211
    assert sum(stage.duration for stage in stages_of(life)) == life.latency == 6_910_000
    assert [kind for kind, _ in life.pieces[0].answers] == ["NACK", "ACK"]
    assert len(life.pieces[0].packets) == 2


def test_the_pieces_of_a_long_message_form_one_life() -> None:
    first = [row for row in message(0, 0) if row[2] not in (E.HANDLER_START, E.HANDLER_END, E.SEND_RETURN)]
    last = [row for row in message(4000, 0, key=KEY + 0x101) if row[2] != E.SEND_CALL]
    (life,) = lives(first, last).lives
    assert [piece.key for piece in life.pieces] == [KEY, KEY + 0x101]
    stages = stages_of(life)
    assert stages[0].duration == 4_300_000, "until the last piece is written, the host is sending"
    assert sum(stage.duration for stage in stages) == life.latency == 7_000_000


def test_a_lost_packet_is_not_confused_with_later_ones() -> None:
    swallowed = [row for row in packet(0, 0, 40, key=7) if row[0] < 40_000]
    told = lives(swallowed, message(1000, 0))
    assert [(packet.key, packet.target, packet.lost) for packet in told.wire.packets] == [
        (7, None, True),
        (KEY, 1, False),
        (KEY, 0, False),
    ]
    assert told.lives[0].latency == 3_000_000


def test_a_packet_lost_after_the_switch_is_marked_as_lost() -> None:
    swallowed = [row for row in packet(0, 0, 40, key=7) if row[0] < 100_000]
    told = lives(swallowed, message(1000, 0))
    assert [(packet.key, packet.lost) for packet in told.wire.packets] == [(7, True), (KEY, False), (KEY, False)]
    assert told.lives[0].latency == 3_000_000


def test_an_unprocessed_packet_is_not_confused_with_later_ones() -> None:
    told = lives(packet(0, 0, 40, key=7), message(1000, 0, 1), message(9000, 0, 2))
    first, second = ([stage.duration for stage in stages_of(life)] for life in told.lives)
    assert first == second


def test_an_answer_sent_before_the_message_does_not_change_its_stages() -> None:
    early = [record(1112, 0, Part.NIC_CPU, E.ACK_SENT, 7, 1), *packet(1113, 0, 8, key=7)]
    late = [row for row in message(0, 0) if row[0] >= 1_120_000]
    before = [row for row in message(0, 0) if row[0] < 1_120_000]
    told = lives(before, early, [(row[0] + 400_000, *row[1:]) for row in late])
    (piece,) = told.lives[0].pieces
    assert [packet.key for packet in piece.packets] == [KEY]
    assert told.lives[0].latency == 3_400_000


def test_work_that_overlaps_is_counted_once() -> None:
    parts = [row for row in message(0, 0) if row[2] not in (E.DMA_START, E.DMA_DONE, E.NIC_DMA_START)]
    early = [
        record(1250, 1, Part.NIC_CPU, E.NIC_DMA_START, KEY, 96),
        record(1260, 1, Part.HOST_DMA, E.DMA_START, 0x3A00, 0, -96),
        record(1290, 1, Part.HOST_DMA, E.DMA_DONE, 0x3A00, 0, -96),
        record(1900, 1, Part.NIC_CPU, E.NIC_DMA_START, KEY, 0, 4),
        record(2400, 1, Part.HOST_DMA, E.DMA_START, 0x1800, 0, -4),
        record(2600, 1, Part.HOST_DMA, E.DMA_DONE, 0x1800, 0, -4),
    ]
    (life,) = lives(parts, of_message(1, early)).lives
    stages = {stage.name: stage.duration for stage in stages_of(life)}
    assert (stages["dma_message"], stages["dma_back_pointer"]) == (0, 700_000), "it was over before it was ordered"
    assert min(stages.values()) >= 0
    assert sum(stages.values()) == life.latency


def test_a_message_that_never_arrives_has_no_stages() -> None:
    told = lives([row for row in message(0, 0) if row[0] < 2_000_000])
    assert stages_of(told.lives[0]) == []
    assert told.lives[0].latency is None


def test_a_layer_with_fewer_records_has_fewer_stages_that_still_add_up() -> None:
    few = (E.SEND_CALL, E.PAYLOAD_WRITTEN, E.NIC_ACCEPT, E.NIC_NOTICED, E.NIC_SEND_START, E.POLL_HIT, E.HANDLER_START)
    told = lives([row for row in message(0, 0) if row[2] in few or row in of_message(1, packet(1120, 0, 96))])
    stages = stages_of(told.lives[0])
    names = ["host_send", "bus_and_channel_search", "nic_send", "send_engine", "wire_and_switch", "reception"]
    assert [stage.name for stage in stages] == [*names, "host_notices", "host_dispatch"]
    assert sum(stage.duration for stage in stages) == 3_000_000


def test_the_stages_of_one_message_need_only_later_records() -> None:
    told = dict(stages_at(ping_pong(3), LEGEND_OF_TWO, 1, 11_050_000))
    assert sum(told.values()) == 3_000_000
    assert stages_at(ping_pong(3), LEGEND_OF_TWO, 0, 11_050_000) == []
    assert stages_at(ping_pong(0), LEGEND_OF_TWO, 0, 0) == [], "the trace is off"
    cut_off = ping_pong(1)[:-20]
    with pytest.raises(LookupError, match=r"sent at 3\.050 us by node 1 never arrives"):
        stages_at(cut_off, LEGEND_OF_TWO, 1, 3_050_000)


def damaged(folder: Path, how: str) -> str:
    """Damage the files of a run in one way, and return the message of the error."""
    leave(folder)
    if how == "no trace":
        (folder / TRACE).unlink()
    elif how == "cut off":
        (folder / TRACE).write_bytes((folder / TRACE).read_bytes()[:-40])
    elif how == "empty":
        (folder / TRACE).write_bytes(b"")
    elif how == "other records":
        np.save(folder / TRACE, np.zeros(3))
    elif how == "old legend":
        (folder / LEGEND).write_text(json.dumps({"schema": 0, "hosts": []}), encoding="utf-8")
    elif how == "legend cut off":
        (folder / LEGEND).write_text((folder / LEGEND).read_text(encoding="utf-8")[:50], encoding="utf-8")
    elif how == "legend incomplete":
        (folder / LEGEND).write_text(json.dumps({"schema": 5, "hosts": []}), encoding="utf-8")
    with pytest.raises(TraceError) as raised:
        read_recorded(folder)
    return str(raised.value)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("no trace", "no trace: .*trace.npy: No such file or directory; run the study first"),
        ("cut off", "trace unreadable: .*trace.npy is cut off or no trace .*; run the study again"),
        ("empty", "trace unreadable: .*trace.npy is cut off or no trace .*; run the study again"),
        ("other records", "trace of another version: .*holds float64"),
        ("old legend", "trace of another version: .*legend.json has schema 0, this sanlab reads 5"),
        ("legend cut off", "trace unreadable: .*legend.json is cut off or no JSON"),
        ("legend incomplete", "trace unreadable: .*legend.json is incomplete"),
    ],
)
def test_a_damaged_run_is_reported_in_one_line(tmp_path: Path, how: str, said: str) -> None:
    text = damaged(tmp_path, how)
    assert "\n" not in text
    assert re.match(said, text), text


def test_a_recorded_run_survives_a_round_trip(tmp_path: Path) -> None:
    read = read_recorded(leave(tmp_path))
    assert read.legend == LEGEND_OF_TWO
    assert np.array_equal(read.trace, ping_pong())
    assert read.legend.path(1) == "send"
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["legend.json", "trace.npy"]


def test_every_life_has_its_own_marks() -> None:
    told = Lives(LEGEND_OF_TWO).take_all(rows(ping_pong(2)))
    marks = [mark for life in told.lives for piece in life.pieces for mark in piece.marks]
    assert len(marks) == len(set(marks))
    for life in told.lives:
        assert isinstance(life, Life)
        times = [mark[0] for mark in life.pieces[0].marks]
        assert times == sorted(times)
        assert life.sent <= times[0]
        assert times[-1] <= life.sent + 3_500_000


def test_message_to_a_card_ends_in_its_circuit_and_the_result_is_a_message_of_the_card() -> None:
    told = lives(through_a_card(0))
    there, back = told.lives
    assert there.name(LEGEND_OF_TWO) == "message 1, paris to card of metz, 64 B"
    assert (there.handled, there.ended) == (2_950_000, 3_250_000)
    assert back.name(LEGEND_OF_TWO) == "message 2, card of metz to paris, 64 B"
    assert (back.sent, back.handled) == (3_250_000, 6_000_000)
    for life, last in ((there, "card_takes"), (back, "host_dispatch")):
        stages = stages_of(life)
        assert sum(stage.duration for stage in stages) == life.latency
        assert stages[-1].name == last
    assert stages_of(back)[0].name == "bus_and_channel_search", "nobody called send"
