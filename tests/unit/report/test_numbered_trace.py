"""Numbers in every record of a trace whose hardware knows only arrivals, as the RTL records it.

Strategy: in a made-up ping-pong every record has its number (tests/unit/report/madeup_trace.py). The same trace is
written as the RTL records it: cables and switches have no number, and receivers have the numbers of arrivals. Numbering
must restore the first trace, also when a packet is lost, held back, or sent twice between packets of its key.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pymodels.trace import (
    CABLE_BASE,
    CAUSE_SHIFT,
    PARTS_PER_NODE,
    PORTS_PER_SWITCH,
    SWITCH_BASE,
    Part,
    TraceEvent,
    in_time_order,
)
from tb.report.lives import Lives
from tb.report.numbers import numbered
from tb.report.wire import HELD_BACK, LOST, Hop, Packet, Wire, rows
from tests.unit.report.madeup_trace import (
    KEY,
    LEGEND_OF_TWO,
    Row,
    made_for,
    message,
    of_message,
    packet,
    ping_pong,
    record,
    trace,
)

E = TraceEvent
ARRIVAL = 100
"""First number of an arrival; each node has its own."""
TO_NODE_1 = CABLE_BASE + 1
"""Cable direction that ends at node 1."""


def as_recorded(whole: NDArray[np.void]) -> NDArray[np.void]:
    """Return a trace as the RTL records it: numbers of receivers are those of the last arrival of their message."""
    arrived: dict[tuple[int, int], int] = {}
    drawn = ARRIVAL
    found: NDArray[np.void] = whole.copy()
    for at, row in enumerate(rows(whole)):
        unit, event, number = row[1], row[2], row[6]
        node, part = divmod(unit, PARTS_PER_NODE)
        if unit >= SWITCH_BASE or part == Part.LINK or (part in (Part.NET_SEND, Part.NET_RECV) and event == E.TX_TAIL):
            found["message"][at] = 0
        elif part == Part.NET_RECV and event == E.RX_HEAD:
            arrived[node, number] = found["message"][at] = drawn = drawn + 1
        elif part == Part.NET_RECV:
            found["message"][at] = 0
        elif number and _drawer(number) != node and (node, number) in arrived:
            found["message"][at] = arrived[node, number]
        if event in (E.NIC_REPLY, E.NIC_COPY):
            cause = row[5] >> CAUSE_SHIFT
            found["argument2"][at] = made_for(arrived.get((node, cause), cause), row[5] & 0xFFFF)
    return found


def _drawer(number: int) -> int:
    """Return the node of a made-up message."""
    return (number + 1) % 2


def restored(whole: NDArray[np.void]) -> None:
    """Check that numbering restores a trace, that it is then complete, and that lives need no second numbering."""
    recorded = as_recorded(whole)
    assert not np.array_equal(recorded, whole)
    found = numbered(recorded, LEGEND_OF_TWO)
    different = [(one, other) for one, other in zip(rows(found), rows(whole), strict=True) if one != other]
    assert not different
    assert np.array_equal(numbered(whole, LEGEND_OF_TWO), whole)
    lives, same = (Lives(LEGEND_OF_TWO).take_all(rows(one)).lives for one in (recorded, whole))
    assert [(one.latency, one.target) for one in lives] == [(one.latency, one.target) for one in same]


def test_every_record_of_a_ping_pong_of_equal_keys_gets_its_number() -> None:
    restored(ping_pong(3))


def test_a_reply_names_its_cause_by_the_number_of_the_message() -> None:
    read = [row for row in message(0, 0) if row[0] <= 1_900_000]
    nic = Part.NIC_CPU
    reply = [
        record(2000, 1, nic, E.NIC_REPLY, KEY, KEY, made_for(1, 0), message=4),
        record(2900, 1, nic, E.NIC_SEND_START, KEY, 136, message=4),
        *of_message(4, packet(3000, 1, 136)),
        record(3500, 0, nic, E.NIC_RECV_START, KEY, 1, message=4),
    ]
    restored(trace(read, reply))


def lost(at: int, number: int, kind: int = LOST) -> list[Row]:
    """Make a fault of the cable to node 1 that concerns the packet with a number on it."""
    return [(at * 1000, TO_NODE_1, E.FAULT, 0, kind, number, 1)]


def test_a_lost_packet_does_not_give_its_number_to_the_next_of_its_key() -> None:
    """Node 0 sends a message that is lost on the last cable, and at once an answer of the same key."""
    sent = [row for row in message(0, 0) if row[0] < 1_220_000]
    answered = message(-1000, 1, 1)
    answered = [row for row in answered if row[0] >= 0 or row[2] != E.TX_START]
    restored(trace(answered, sent, lost(1225, 1)))


def test_a_message_that_is_sent_again_keeps_its_number() -> None:
    first = [row for row in message(0, 0) if row[0] < 1_220_000]
    again = [row for row in message(4000, 0) if row[0] >= 5_111_000]
    restored(trace(first, lost(1225, 0), again))


@pytest.mark.parametrize("kind", [LOST, HELD_BACK])
def test_a_packet_that_is_held_back_or_lost_is_not_confused_with_one_that_overtakes_it(kind: int) -> None:
    first = [row for row in of_message(1, packet(1120, 0, 40, KEY + 1)) if row[1] // PARTS_PER_NODE != 1]
    second = of_message(3, packet(1400, 0, 40, KEY + 2))
    late = [row for row in of_message(1, packet(1700, 0, 40, KEY + 1)) if row[1] // PARTS_PER_NODE == 1]
    restored(trace(first, lost(1229, 0, kind), second, late if kind == HELD_BACK else []))


def test_a_packet_of_no_message_has_number_0() -> None:
    foreign = packet(0, 0, 40, key=7)
    arrived = [(*row[:6], ARRIVAL) if row[1] == 16 + Part.NET_RECV and row[2] == E.RX_HEAD else row for row in foreign]
    assert not numbered(trace(arrived), LEGEND_OF_TWO)["message"].any()


def test_a_grant_recorded_before_the_head_of_its_edge_follows_it() -> None:
    port = SWITCH_BASE + 3
    recorded = np.concatenate(
        [
            trace([(2_000, port, E.SWITCH_GRANT, 0, 1, 0, 0)]),
            trace([(2_000, port, E.SWITCH_HEAD, 0, 1, 0, 0)]),
            trace([(2_000, 0, E.SEND_CALL, 0, 0, 0, 7)]),
            trace([(1_000, port, E.SWITCH_TAIL, 0, 1, 0, 0)]),
        ]
    )
    found = [TraceEvent(event) for event in in_time_order(recorded)["event"].tolist()]
    assert found == [E.SWITCH_TAIL, E.SWITCH_HEAD, E.SEND_CALL, E.SWITCH_GRANT]


def test_a_packet_keeps_its_first_hops_when_its_last_ones_were_taken_for_those_of_a_lost_packet() -> None:
    """Lose the first packet behind switch 0, so that the head at switch 1 is that of the second packet."""
    wire = Wire(LEGEND_OF_TWO)
    first = Packet(0, 1, 0, hops=[Hop(0, 0, 1, 10), Hop(1, 2, 3, 30)])
    second = Packet(0, 2, 5, hops=[Hop(0, 0, 1, 20)])
    wire._arriving[SWITCH_BASE + PORTS_PER_SWITCH + 2].append(second)
    assert wire._really(first, 2) is second and first.lost
    assert [hop.head for hop in second.hops] == [20, 30] and [hop.head for hop in first.hops] == [10]
