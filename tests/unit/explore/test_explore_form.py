"""Normalisation of equivalent states of GRIM's NIC.

Strategy: parts of a NIC are brought into equivalent states by hand. After normalisation they must answer the firmware
as before, and states with equal futures must be equal. test_explore_sound.py checks that whole worlds reach the same
ends without normalisation.
"""

from __future__ import annotations

import pytest

from firmware.grim.nic.channels import SENT
from firmware.grim.nic.parts import Parts
from tb.studies.grim.explore.form import begin_streams
from tb.studies.grim.explore.play import Cluster


def copies_for_two_children(sequencing: str, waits: int) -> tuple[Parts, list[int]]:
    """Return a root with two messages copied for two children in turn, and the streams of both.

    `waits` copies for the first child are pending; the others have left.
    """
    parts = Cluster(3, False, {"multicast_trees": 1, "window": 1, "sequencing": sequencing}).parts[0]
    out, (copies,) = parts.outgoing, parts.outgoing.trees
    streams = [out.order.number(copies.index, child, 0) for child in (1, 2)]
    slots = [(out.enter(copies, 72, stream), stream) for _ in range(2) for stream in streams]
    for slot, stream in slots:
        out.streams.wait(copies, slot, stream)
    for slot, stream in [one for one in slots if one[1] == streams[0]][: 2 - waits]:
        copies.state[slot] = SENT
        out.streams.passed(copies, slot, stream)
    return parts, streams


@pytest.mark.parametrize("sequencing", ["any-to-any", "per-ni"])
@pytest.mark.parametrize("waits", [1, 2])
def test_stream_finds_the_same_message_by_its_key_and_at_the_first_poll(sequencing: str, waits: int) -> None:
    parts, both = copies_for_two_children(sequencing, waits)
    streams = parts.outgoing.streams
    before = [streams.next_waiting(stream)[:2] for stream in both]
    begin_streams(parts)
    assert [streams.next_waiting(stream) for stream in both] == [(*found, 1) for found in before]


def test_start_time_of_a_wait_does_not_distinguish_states() -> None:
    """Let the first copy for a child leave before or after the second begins to wait."""
    found = []
    for waits_again in (False, True):
        parts, (stream, _) = copies_for_two_children("any-to-any", 1)
        streams, (copies,) = parts.outgoing.streams, parts.outgoing.trees
        if waits_again:
            slot = streams.next_waiting(stream)[1]
            streams.passed(copies, slot, stream)
            streams.wait(copies, slot, stream)
        begin_streams(parts)
        found.append(streams.cursor)
    assert found[0] == found[1]


def test_stream_without_waiting_messages_drops_its_position() -> None:
    parts, (stream, _) = copies_for_two_children("any-to-any", 0)
    begin_streams(parts)
    assert parts.outgoing.streams.cursor[stream] == 0


def test_stream_without_a_matching_message_keeps_its_position() -> None:
    """Keep states distinct for firmware that counts wrongly, so that the search finds it."""
    parts, (stream, _) = copies_for_two_children("any-to-any", 0)
    streams = parts.outgoing.streams
    streams.waiting[stream], place = 1, streams.cursor[stream]
    begin_streams(parts)
    assert streams.cursor[stream] == place
