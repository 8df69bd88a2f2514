"""Encoding and decoding of the words that VIA's kernel agent and NIC exchange, and of reports of GRIM's NI.

Strategy: every combination of a field's least, middle and greatest value, and words as the C of `paths.c` has them.
"""

from __future__ import annotations

from itertools import product

import pytest

from firmware.grim.formats import CONTINUES, Cause, MessageType, Report
from firmware.via.nic.layout import VALID, Command, Event
from firmware.via.nic.words import CommandWord, EventWord, ModeWord, PeerWord, SlotWord

BYTE = (0, 0x5A, 0xFF)


@pytest.mark.parametrize("command", Command)
def test_commands(command: Command) -> None:
    for number, generation in product((0, 0x5A5A, 0xFFFF), (0, 0x5A5, 0xFFF, 0x123456)):
        given = CommandWord.encode(command, number, generation)
        assert (given.command, given.number, given.word >> 32) == (command, number, 0)
        assert given.means(generation) and given.means(generation + 0x1000) and not given.means(generation + 1)


def test_events_and_peers() -> None:
    for vi, detail in product(BYTE, (0, 0x5A5A, 0xFFFF)):
        news = EventWord.encode(Event.BROKEN, vi, detail)
        assert (news.event, news.vi, news.detail, news.word >> 31) == (Event.BROKEN, vi, detail, 1)
    for connection, node, vi in product(BYTE, repeat=3):
        peer = PeerWord.encode(connection, node, vi)
        assert (peer.connection, peer.node, peer.vi, peer.word) == (
            connection,
            node,
            vi,
            connection << 16 | node << 8 | vi,
        )
    for rights, reliability in product(range(4), range(3)):
        mode = ModeWord.encode(rights, reliability)
        assert (mode.rights, mode.reliability) == (rights, reliability)


@pytest.mark.parametrize("confirm", [False, True])
def test_slots(confirm: bool) -> None:
    for vi, generation in product(BYTE, (0, 0x3FFFFF, 0xFFFFFF)):
        slot = SlotWord.encode(vi, generation, confirm=confirm)
        assert (slot.vi, slot.confirm, slot.word & VALID) == (vi, confirm, VALID)
        assert slot.means(generation) and not slot.means(generation ^ 1)


def test_reports() -> None:
    what, where = MessageType.RM_V << 26 | CONTINUES | 0xAB07, 0x0512 << 16 | Cause.BEYOND
    report = Report.decode((what - (1 << 32), where, 0x1000, 0x200))
    assert (report.vnn, report.channel, report.cause, report.restarted) == (0x1AB, 0x12, Cause.BEYOND, False)
    assert Report.decode((what & ~4, where, 0x1000, 0x200)).vnn == 0xAB, "bits 8 and 9 stand in the device byte"
    assert report.target == 0xE00, "where the transfer begins"
    assert Report.decode((what & ~CONTINUES, where, 0x1000, 0x200)).target == 0x1000
    assert Report.decode((0x0300, Cause.RESTARTED, 0, 0)).restarted
