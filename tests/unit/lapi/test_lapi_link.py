"""LAPI's link state agrees with the packets sent, whatever is lost and reordered.

Strategy: both ends without links. Packets arrive in a random order, some twice, some never; a set of numbers is the
model. Sequence numbers begin just before they wrap.
"""

from __future__ import annotations

import random

import pytest

from firmware.lapi.host.header import MASK, Header, Kind
from firmware.lapi.host.link import WINDOW, Receiving, Sending

BEGIN = (1 << 32) - 40


@pytest.mark.parametrize("seed", range(5))
def test_each_packet_is_new_once_and_acknowledged_when_it_is_taken(seed: int) -> None:
    draw, sending, receiving = random.Random(seed), Sending(BEGIN), Receiving(BEGIN)
    taken: set[int] = set()
    for now in range(2000):
        if sending.room and draw.random() < 0.5:
            sending.sent(now, now)
        for sequence in draw.sample(sorted(sending.kept), min(2, len(sending.kept))):
            assert receiving.new(sequence) == (sequence not in taken)
            if receiving.new(sequence):
                receiving.taken(sequence)
                taken.add(sequence)
        if draw.random() < 0.3:
            stamped = receiving.stamp(Header(Kind.ACKNOWLEDGE))
            sending.acknowledged(stamped.expected, stamped.beyond)
            assert not taken & sending.kept.keys()
        assert len(sending.kept) <= WINDOW
    assert len(taken) > 500 and not receiving.new(BEGIN)


def test_only_packets_sent_a_timeout_ago_are_overdue() -> None:
    sending = Sending(BEGIN)
    for now in range(10):
        sending.sent(100 + now, now)
    assert [kept.buffer for kept in sending.late(12, 9)] == [100, 101, 102, 103]
    assert sending.since == 0
    assert sending.acknowledged(BEGIN + 2 & MASK, 0b10) == [100, 101, 103]
    assert sending.since == 2


def test_an_acknowledgement_is_due_after_a_number_of_packets_or_when_requested() -> None:
    receiving = Receiving()
    assert not receiving.due(1)
    receiving.note_ack_request(1)
    receiving.taken(1)
    assert not receiving.due(3)
    receiving.taken(0)
    assert receiving.due(3)
    assert receiving.stamp(Header(Kind.ACKNOWLEDGE)).expected == 2
    assert not receiving.due(1)
    for sequence in (2, 3, 5):
        receiving.taken(sequence)
    assert receiving.due(3)
    assert receiving.stamp(Header(Kind.ACKNOWLEDGE)).beyond == 0b10
