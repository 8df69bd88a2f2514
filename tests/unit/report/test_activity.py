"""Text signals of software: paths, calls and messages of a made-up run, change by change.

Strategy: the made-up message, whose records have known times, is shown as texts; further records are added for the
calls of applications, functions of C firmware, cards, and layers that leave fewer records.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pymodels.lanai.program import Place
from pymodels.trace import Part
from pymodels.trace import TraceEvent as E
from tb.report.activity import activity, innermost
from tb.report.lives import lives_of
from tb.report.recorded import Legend, Recorded, read_recorded
from tests.unit.report.madeup_trace import KEY, LEGEND_OF_TWO, Row, leave, message, record, through_a_card, trace


@pytest.fixture
def shown(tmp_path: Path) -> dict[str, list[tuple[float, str]]]:
    return texts(tmp_path, message(1000, 0))


def texts(folder: Path, *parts: list[Row], legend: Legend = LEGEND_OF_TWO) -> dict[str, list[tuple[float, str]]]:
    """Return the changes of each text signal, in ns."""
    recorded: Recorded = read_recorded(leave(folder, trace(*parts), legend))
    found = activity(recorded, lives_of(recorded))
    return {".".join((*one.scopes, one.name)): [(time / 1000, text) for time, text in one.changes] for one in found}


def test_the_sender_shows_its_call_its_paths_and_the_message(shown: dict[str, list[tuple[float, str]]]) -> None:
    assert shown["paris.cpu.call"] == [(1000, "send"), (1360, "")]
    assert shown["paris.cpu.path"] == [(999.999, "send"), (1200, "")], "paths on the CPU begin at odd picoseconds"
    assert shown["paris.cpu.message"] == [(999.999, "1"), (1360, "")]
    assert shown["paris.nic.doorbell"] == [(1350, "1"), (1500, "")]
    assert shown["paris.nic.path"] == [(1510, "send_message"), (2110, "")]
    assert shown["paris.nic.message"] == [(1510, "1"), (2110, "")]
    assert shown["paris.nic.sending"] == [(2130, "1"), (2226, "")]


def test_the_receiver_shows_packets_dma_and_completion(shown: dict[str, list[tuple[float, str]]]) -> None:
    assert shown["metz.nic.receiving"] == [(2230, "1"), (2326, "")]
    assert shown["metz.nic.store"] == [(2950, "1"), (3300, ""), (3400, "1"), (3600, "")]
    assert shown["metz.nic.completion"] == [(3600, "1"), (3900, "")]
    assert shown["metz.cpu.message"] == [(4000, "1"), (4050, "")]
    assert shown["metz.cpu.call"] == shown["metz.nic.path"] == shown["paris.nic.completion"] == []
    assert not [name for name in shown if ".card." in name]


def test_a_layer_without_a_record_of_the_return_calls_send_until_the_last_word(tmp_path: Path) -> None:
    shown = texts(tmp_path, [row for row in message(1000, 0) if row[2] != E.SEND_RETURN])
    assert shown["paris.cpu.call"] == [(1000, "send"), (1350, "")]


def test_a_layer_without_a_word_that_notifies_the_nic_notifies_it_by_the_payload(tmp_path: Path) -> None:
    shown = texts(tmp_path, [row for row in message(1000, 0) if row[2] != E.POINTER_WRITTEN])
    assert shown["paris.nic.doorbell"] == [(1300, "1"), (1500, "")]


def test_a_call_of_the_application_has_the_name_of_its_layer(tmp_path: Path) -> None:
    calls = [
        record(at, 1, Part.HOST_CPU, event, 0, number)
        for at, event, number in ((500, E.CALL_START, 0), (4100, E.CALL_END, 0), (4200, E.CALL_START, 1))
    ]
    shown = texts(tmp_path, message(1000, 0), calls, legend=replace(LEGEND_OF_TWO, layers=("grim", "mpi")))
    assert [time for time, _ in shown["metz.cpu.call"]] == [500, 4100]
    assert shown["metz.cpu.call"][0][1].startswith("MPI_")


def test_firmware_in_c_shows_its_functions_and_the_message_of_its_hardware(tmp_path: Path) -> None:
    places = ((Place("main", ""),), (Place("main", ""), Place("deliver", "a.c:3")))
    functions = [record(at, 1, Part.NIC_CPU, E.FUNCTION, 0, number) for at, number in ((100, 0), (2500, 1), (2700, 0))]
    rows = [row for row in message(1000, 0) if (row[1] // 16, row[1] % 16) != (1, Part.NIC_CPU)]
    shown = texts(tmp_path, rows, functions, legend=replace(LEGEND_OF_TWO, places=places, executing=(1,)))
    assert shown["metz.nic.path"] == [(100, "main"), (2500, "deliver"), (2700, "main"), (4500, "")]
    assert shown["metz.nic.message"] == [(2240, "1"), (3600, "")]


def test_a_card_shows_when_its_circuit_works_and_for_which_message(tmp_path: Path) -> None:
    shown = texts(tmp_path, through_a_card(1000))
    assert shown["metz.card.path"] == [(3950, "circuit"), (4250, "")]
    assert [text for _, text in shown["metz.card.message"]] == ["1", ""]


def test_a_path_belongs_to_the_event_before_it_else_to_the_event_behind_it(tmp_path: Path) -> None:
    path = [
        record(at, 0, Part.NIC_CPU, event, 0, 0, 10)
        for begin, end in ((4520, 4550), (4600, 4650), (4700, 4750))
        for at, event in ((begin, E.WORK_START), (end, E.WORK_END))
    ]
    second = message(6000, 0, 2, key=KEY + 1)
    told = [(*row[:6], 3) for row in [record(4651, 0, Part.NIC_CPU, E.NIC_DMA_DONE, KEY + 1)]]
    shown = texts(tmp_path, message(1000, 0), path, told, second)
    mine = [change for change in shown["paris.nic.message"] if 4300 < change[0] < 5000]
    assert mine == [(4520, "1"), (4550, ""), (4600, "2"), (4650, ""), (4700, "2"), (4750, "")]


def work(*times: tuple[int, int]) -> list[Row]:
    """Return paths of the NIC processor of paris, by begin and end in ns."""
    both = [(at, event) for begin, end in times for at, event in ((begin, E.WORK_START), (end, E.WORK_END))]
    return [record(at, 0, Part.NIC_CPU, event, 0, 0, 10) for at, event in both]


def test_a_path_belongs_to_the_event_since_the_path_before_also_if_another_follows(tmp_path: Path) -> None:
    events = [record(at, 0, Part.NIC_CPU, E.ACK_SEEN, key, 0, 0, 90 + key) for at, key in ((160, 7), (260, 8))]
    shown = texts(tmp_path, work((100, 150), (200, 250), (300, 350), (400, 450)), events)
    assert shown["paris.nic.message"] == [
        *((100, f"0x{7:08x}"), (150, "")),
        *((200, f"0x{7:08x}"), (250, "")),
        *((300, f"0x{8:08x}"), (350, "")),
        *((400, f"0x{8:08x}"), (450, "")),
    ], "the last path has no event of its own, and unknown messages are shown by their keys"


def test_a_call_of_send_ends_at_its_return_also_if_words_follow(tmp_path: Path) -> None:
    late = [(*record(1500, 0, Part.HOST_CPU, E.PAYLOAD_WRITTEN, KEY, 8)[:6], 1)]
    assert texts(tmp_path, message(1000, 0), late)["paris.cpu.call"] == [(1000, "send"), (1360, "")]


def test_a_path_within_a_path_ends_first(tmp_path: Path) -> None:
    marks = ((100, E.WORK_START, 0), (120, E.WORK_START, 1), (130, E.WORK_END, 1), (180, E.WORK_END, 0))
    rows = [record(at, 0, Part.NIC_CPU, event, 0, path) for at, event, path in marks]
    assert texts(tmp_path, rows)["paris.nic.path"] == [
        (100, "send_message"),
        (120, "send"),
        (130, "send_message"),
        (180, ""),
    ]


def test_blocks_of_one_chain_end_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    marks = ((100, E.DMA_START, 8), (150, E.DMA_START, 16), (200, E.DMA_DONE, 8), (300, E.DMA_DONE, 16))
    rows = [record(at, 0, Part.HOST_DMA, event, 0x3A00, 0, size) for at, event, size in marks]
    assert texts(tmp_path, rows)["paris.nic.fetch"] == [(100, "8 B"), (150, "16 B"), (300, "")]


def test_a_nic_that_is_notified_twice_is_notified_since_the_first_time(tmp_path: Path) -> None:
    again = [(*record(1400, 0, Part.HOST_CPU, E.POINTER_WRITTEN, KEY, 40)[:6], 1)]
    assert texts(tmp_path, message(1000, 0), again)["paris.nic.doorbell"] == [(1350, "1"), (1500, "")]


def test_a_handler_notices_a_message_without_a_poll(tmp_path: Path) -> None:
    shown = texts(tmp_path, [row for row in message(1000, 0) if row[2] != E.POLL_HIT])
    assert shown["metz.nic.completion"] == [(3600, "1"), (4000, "")]


def test_an_engine_of_a_nic_without_records_of_firmware_acts_for_a_doorbell(tmp_path: Path) -> None:
    rows = [row for row in message(1000, 0) if row[1] % 16 != Part.NIC_CPU]
    assert texts(tmp_path, rows)["paris.nic.doorbell"] == [(1350, "1"), (2120, "")]


def test_a_message_that_cannot_be_followed_is_its_key(tmp_path: Path) -> None:
    rows = [(*record(at, 0, Part.LINK, event, KEY)[:6], 99) for at, event in ((100, E.TX_HEAD), (200, E.TX_TAIL))]
    assert texts(tmp_path, rows)["paris.nic.sending"] == [(100, f"0x{KEY:08x}"), (200, "")]


def test_of_nested_spans_the_innermost_is_shown() -> None:
    assert innermost([(0, 100, "a"), (0, 50, "b"), (20, 30, "c"), (60, 60, "d"), (100, 110, "e")]) == [
        (0, "b"),
        (20, "c"),
        (30, "b"),
        (50, "a"),
        (100, "e"),
        (110, ""),
    ]
