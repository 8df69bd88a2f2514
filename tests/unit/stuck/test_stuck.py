"""A deadlock read from a trace: the holder of each link of the network, the packets that wait for it, and the
report.

Strategy: traces are written record by record for a ring of three switches: packets that wait in a circle, one packet
that a receiver does not take, and packets that have all passed; and for cards. The waits are compared as sentences.
Software's waits join those of the network in one cycle. The files that are left are read back.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pymodels.trace import RECORD, Part, TraceEvent, switch_port, unit
from pymodels.waiting import Wait, Wanted
from tb.stuck.network import Network, receive_engine, send_engine
from tb.stuck.report import LAST, TEXT, WINDOW, HangReport, hang_report
from tests.unit.config.networks import ring

RING = ring(3)
HEAD, GRANT, TAIL = TraceEvent.SWITCH_HEAD, TraceEvent.SWITCH_GRANT, TraceEvent.SWITCH_TAIL
QUEUE = TraceEvent.SWITCH_QUEUE
Record = tuple[int, TraceEvent, int]
"""Unit, event, argument; times follow from the order."""


def trace(*records: Record) -> NDArray[np.void]:
    made = np.zeros(len(records), RECORD)
    for at, (owner, event, argument) in enumerate(records):
        made[at]["time"], made[at]["unit"], made[at]["event"] = 1000 * (at + 1), owner, event
        made[at]["argument"] = argument
    return made


def starts(node: int) -> Record:
    return unit(node, Part.NET_SEND), TraceEvent.TX_START, 0


def leaves(node: int) -> Record:
    return unit(node, Part.LINK), TraceEvent.TX_TAIL, 0


def at_switch(switch: int, port: int, event: TraceEvent, output: int) -> Record:
    return switch_port(switch, port), event, output


def circle() -> NDArray[np.void]:
    """Give each packet its first link, and let it wait for its second."""
    records = [starts(node) for node in range(3)]
    for node in range(3):
        records += [at_switch(node, 0, HEAD, 3), at_switch(node, 0, GRANT, 3), at_switch((node + 1) % 3, 2, HEAD, 3)]
    return trace(*records)


def look(records: NDArray[np.void], *software: Wait) -> HangReport:
    return hang_report("nothing moves", records, RING, software, [str(wait) for wait in software])


def test_a_cycle_of_packets_is_reported_link_by_link() -> None:
    found = look(circle())
    assert len(found.cycles) == 1
    assert found.headlines()[0].startswith(
        "deadlock: switch 0 port 0 waits for room in the slack buffer of switch 1 port 2, held by switch 1 port 2, "
        "switch 1 port 2 waits for output 3 of switch 1, held by switch 1 port 0, "
    )
    assert found.units == {f"switch {s} port {p}" for s in range(3) for p in (0, 2)}
    assert found.waits("switch 1 port 2", "switch 1 port 0")
    assert not found.waits("switch 1 port 0", "switch 1 port 2")


def test_a_packet_that_is_not_taken_waits_for_the_firmware() -> None:
    records = trace(starts(0), at_switch(0, 0, HEAD, 3), at_switch(0, 0, GRANT, 3), at_switch(1, 2, HEAD, 0),
                    at_switch(1, 2, GRANT, 0))  # fmt: skip
    assert [str(wait) for wait in Network.from_trace(records, RING).waits()] == [
        "node 0 net send waits for room in the slack buffer of switch 0 port 0, held by switch 0 port 0",
        "switch 0 port 0 waits for room in the slack buffer of switch 1 port 2, held by switch 1 port 2",
        "switch 1 port 2 waits for room at NIC 1, held by node 1 net recv",
        "node 1 net recv waits for a receive buffer, held by NIC 1",
    ]
    assert look(records).cycles == ()


def test_software_that_waits_for_its_send_engine_closes_the_cycle() -> None:
    records: list[Record] = []
    for node in range(3):
        there = (node + 1) % 3
        records += [starts(node), at_switch(node, 0, HEAD, 3), at_switch(node, 0, GRANT, 3)]
        records += [at_switch(there, 2, HEAD, 0), at_switch(there, 2, GRANT, 0)]
    programs = [Wait(f"NIC {node}: program", Wanted("its send engine", send_engine(node))) for node in range(3)]
    found = look(trace(*records), *programs)
    assert {"NIC 0", "NIC 1", "NIC 2", receive_engine(0)} <= found.units
    assert found.waits(receive_engine(2), "NIC 2")


def test_packets_that_have_passed_hold_no_resource() -> None:
    records = trace(starts(0), at_switch(0, 0, HEAD, 3), at_switch(0, 0, GRANT, 3), leaves(0), at_switch(0, 0, TAIL, 3))
    assert Network.from_trace(records, RING).waits() == []
    assert look(records[:0]).at_ps == 0


def test_a_packet_that_the_engine_has_handed_over_waits_until_it_has_left() -> None:
    handed_over = unit(1, Part.NET_SEND), TraceEvent.TX_TAIL, 0
    first, second = (starts(1), handed_over, leaves(1)), (starts(1), handed_over)
    assert Network.from_trace(trace(*first), RING).waits() == []
    waits = Network.from_trace(trace(*first, *second), RING).waits()
    assert [wait.waiter for wait in waits] == [send_engine(1)]


def test_the_holder_of_an_output_is_the_packet_that_it_was_granted_to() -> None:
    records = trace(at_switch(0, 0, HEAD, 3), at_switch(0, 0, GRANT, 3), at_switch(0, 2, HEAD, 0),
                    at_switch(0, 2, GRANT, 0), at_switch(0, 1, HEAD, 0))  # fmt: skip
    said = [str(wait) for wait in Network.from_trace(records, RING).waits()]
    assert "switch 0 port 1 waits for output 0 of switch 0, held by switch 0 port 2" in said


def test_a_receiver_does_not_wait_before_a_packet_has_arrived() -> None:
    records = trace(at_switch(0, 1, HEAD, 0))
    assert [str(wait) for wait in Network.from_trace(records, RING).waits()] == [
        "switch 0 port 1 waits for output 0 of switch 0"
    ]


def test_an_output_without_a_cable_is_reported() -> None:
    records = trace(at_switch(0, 0, HEAD, 1), at_switch(0, 0, GRANT, 1))
    assert [str(w) for w in Network.from_trace(records, RING).waits()] == [
        "switch 0 port 0 waits for a cable at s0.1, which is not connected"
    ]


def test_a_whole_packet_in_a_central_queue_waits_for_the_receiver_behind_its_output() -> None:
    records = trace(at_switch(0, 0, HEAD, 3), at_switch(0, 0, QUEUE, 3), at_switch(0, 0, GRANT, 3),
                    at_switch(0, 0, TAIL, 3), at_switch(1, 2, HEAD, 0))  # fmt: skip
    assert [str(wait) for wait in Network.from_trace(records, RING).waits()] == [
        "switch 1 port 2 waits for output 0 of switch 1",
        "switch 0 central queue waits for room in the slack buffer of switch 1 port 2, held by switch 1 port 2",
    ]
    gone = trace(*[(int(r["unit"]), TraceEvent(r["event"]), int(r["argument"])) for r in records],
                 at_switch(1, 2, GRANT, 0), at_switch(1, 2, TAIL, 0), (unit(1, Part.LINK), TraceEvent.RX_HEAD, 0),
                 (unit(1, Part.LINK), TraceEvent.RX_TAIL, 0))  # fmt: skip
    assert Network.from_trace(gone, RING).waits() == []


def test_a_full_central_queue_closes_a_cycle() -> None:
    records: list[Record] = []
    for node in range(3):
        records += [at_switch(node, 0, HEAD, 3), at_switch(node, 0, GRANT, 3)]
    for node in range(3):
        records += [at_switch(node, 2, HEAD, 3), at_switch(node, 2, QUEUE, 3), at_switch(node, 2, GRANT, 3)]
    found = look(trace(*records))
    assert len(found.cycles) == 1
    assert found.waits("switch 1 port 2", "switch 1 central queue")
    assert found.waits("switch 1 central queue", "switch 1 port 0")
    assert found.waits("switch 1 port 0", "switch 2 port 2")
    room = "switch 1 port 2 waits for room in the central queue of switch 1, held by switch 1 central queue"
    assert room in {str(wait) for wait in found.network}


def test_the_report_contains_cycle_waits_and_last_events(tmp_path: Path) -> None:
    records = trace(*[starts(0)] * (LAST + 3))
    wait = Wait("NIC 0: program", Wanted("room", "NIC 0"))
    look(records, wait).leave(tmp_path)
    text = (tmp_path / TEXT).read_text(encoding="utf-8")
    assert text.startswith("nothing moves; the last event before was at 0.007000 us\n\nA cycle of 1:\n")
    assert text.count("NIC 0: program waits for room, held by NIC 0") == 2
    assert text.count("us  tx start 0") == LAST
    assert "0.007000 us  tx start 0" in text
    window = json.loads((tmp_path / WINDOW).read_text(encoding="utf-8"))
    assert window["from_us"] == 0
    assert window["to_us"] == 5.007


def test_cards_wait_for_unfinished_operations() -> None:
    card, frame = unit(1, Part.FPGA), unit(2, Part.FRAME)
    records = trace((card, TraceEvent.CARD_TAKE, 0), (card, TraceEvent.CARD_GIVE, 0), (card, TraceEvent.CARD_TAKE, 0),
                    (frame, TraceEvent.FRAME_START, 0))  # fmt: skip
    records["packet"][:3] = 0x01000002, 0x01000002, 0x01000003
    assert [str(wait) for wait in look(records).cards] == [
        "node 1 FPGA waits for the result of message 0x01000003, passed to its circuit at 0.003000 us, "
        "or the next message if it has no result",
        "node 2 frame waits for the rest of a transaction, begun at 0.004000 us",
    ]
    ended = trace((card, TraceEvent.CARD_TAKE, 0), (card, TraceEvent.CARD_GIVE, 0), (frame, TraceEvent.FRAME_START, 0),
                  (frame, TraceEvent.FRAME_END, 0))  # fmt: skip
    ended["packet"][:2] = 0x01000002
    assert [line for line in look(ended).lines() if line.startswith("  node") and "waits" in line] == [
        "  node 1 FPGA waits for the next message; the result of message 0x01000002 was written at 0.002000 us",
        "  node 2 frame waits for the next transaction; the last one ended at 0.004000 us",
    ]


def test_a_hang_without_a_cycle_is_reported_as_such() -> None:
    assert "\nNo cycle of waits: a unit waits for a resource without a known holder." in look(trace(starts(0))).lines()
