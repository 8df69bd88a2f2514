"""The checker of a link port on hand-written characters: packets are decoded, and each broken rule is named.

Strategy: correct sequences give packets with their times. Then one character of a correct sequence is changed, left out
or added. The sequence with STOP is as long as the head-room allows, and one character longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

import pytest

from pymodels.link.characters import Damaged, Symbol, packet_characters
from pymodels.link.packet import Packet
from pymodels.link.rules import LinkPacket, LinkRules

WIRE = Packet(bytes([0x81, 0xBF]), 0x0EC00001, b"payload").to_wire()
GOOD = packet_characters(WIRE)
ROOM = 24


def run(
    rx: Sequence[int], tx: Sequence[int] = (), end: bool = False, check_crc: bool = True
) -> tuple[list[LinkPacket], list[tuple[int, str]]]:
    """Return the packets and the violations of characters from clock 100 on."""
    violations: list[tuple[int, str]] = []
    rules = LinkRules(ROOM, lambda clock, rule: violations.append((clock, rule)), check_crc)
    own = [*tx, *[0] * (len(rx) - len(tx))]
    found = [rules.step(100 + n, *both) for n, both in enumerate(zip(rx, own, strict=True))]
    if end:
        rules.end(100 + len(rx))
    return [packet for packet in found if packet], violations


def test_a_packet_is_decoded() -> None:
    (packet,), violations = run([0, 0, *GOOD], end=True)
    assert astuple(packet) == (WIRE, 102, 102 + len(WIRE), 0, -1) and not violations
    assert (packet.route_bytes, packet.kind, packet.syndrome, packet.idle) == (2, 0x0EC00001, 0, 0)


def test_idle_characters_and_control_characters_within_a_packet_are_counted() -> None:
    (packet,), violations = run([*GOOD[:5], 0, Symbol.STOP, Symbol.GO, Symbol.BEAT, *GOOD[5:]])
    assert (packet.wire, packet.idle) == (WIRE, 4) and not violations


def test_further_gaps_between_packets_are_allowed() -> None:
    packets, violations = run([*GOOD, Symbol.GAP, 0, Symbol.GAP, *GOOD])
    assert [packet.gap for packet in packets] == [-1, 4] and not violations


def test_the_time_of_stop_is_that_within_the_packet() -> None:
    stop = [Symbol.STOP, 0, 0, 0, 0, Symbol.STOP, 0, Symbol.GO]
    (packet,), violations = run([0, 0, 0, *GOOD, 0], [0, *stop])
    assert packet.stopped == 5, "of the 7 clocks of STOP, 2 precede the packet"
    assert not violations
    (packet,), _ = run([*GOOD[:4], *[0] * 6, *GOOD[4:]], [0, 0, Symbol.STOP])
    assert packet.stopped == packet.end - 102, "STOP is in force at the end"


@pytest.mark.parametrize(
    ("rule", "clock", "rx"),
    [
        ("illegal control character 0x55", 103, [*GOOD[:3], 0x55, *GOOD[3:]]),
        ("CRC-8 is wrong, syndrome", 100 + len(WIRE), [*GOOD[:6], GOOD[6] ^ 4, *GOOD[7:]]),
        ("packet of 14 bytes without GAP", 100 + len(WIRE), GOOD[:-1]),
        ("packet of 6 bytes ends within type and CRC-8", 106, [*GOOD[:6], Symbol.GAP]),
    ],
)
def test_a_broken_rule_is_named(rule: str, clock: int, rx: list[int]) -> None:
    _, violations = run(rx, end=True)
    assert rule in violations[0][1] and violations[0][0] == clock


@pytest.mark.parametrize("wire", [WIRE[:6], WIRE[:-1] + b"\0"])
def test_packets_of_other_formats_are_accepted_without_check_of_the_crc(wire: bytes) -> None:
    assert run(packet_characters(wire))[1]
    (packet,), violations = run(packet_characters(wire), check_crc=False)
    assert packet.wire == wire and not violations


def test_damaged_stop_and_go_are_obeyed() -> None:
    (packet,), _ = run(GOOD, [0, 0, Damaged.STOP, 0, 0, Damaged.GO])
    assert packet.stopped == 3


@pytest.mark.parametrize("more", [0, 1])
def test_no_more_characters_than_the_head_room_arrive_under_stop(more: int) -> None:
    wire = Packet(b"", 1, bytes(100)).to_wire()
    rx = [*packet_characters(wire)[: 10 + ROOM + more], *[0] * 20, *packet_characters(wire)[10 + ROOM + more :]]
    tx = [*[0] * 9, Symbol.STOP, *[0] * (15 + ROOM), Symbol.STOP, 0, 0, 0, Symbol.GO]
    packets, violations = run(rx, tx)
    assert [packet.wire for packet in packets] == [wire]
    assert violations == [(110 + ROOM, "more than 24 characters under STOP")] * more


def test_after_go_the_characters_under_stop_are_counted_again() -> None:
    wire = Packet(b"", 1, bytes(40)).to_wire()
    tx = [Symbol.STOP, *[0] * 20, Symbol.GO, Symbol.STOP, *[0] * 18, Symbol.GO]
    _, violations = run(packet_characters(wire), tx)
    assert not violations
