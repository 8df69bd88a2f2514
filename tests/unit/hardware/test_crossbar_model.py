"""Reference models of the crossbar.

Strategy: the functional model is compared with hand-made packets. The load model must reach the published limits if
STOP has no cost. It is also compared with trivial cases (one port, light load).
"""

from __future__ import annotations

import pytest

from pymodels.formats.sp import ROUTE_BYTES
from pymodels.link.crc8 import crc8
from pymodels.link.packet import Packet, route_byte
from pymodels.switch.crossbar import LIMIT, Crossbar, Fate, accepted_load, head_of_line_limit
from pymodels.switch.sp_switch import SpSwitch


def test_a_packet_leaves_without_its_route_byte_and_with_a_good_crc() -> None:
    packet = Packet(bytes([route_byte(3), route_byte(-1)]), 0x06360102, b"data")
    passage = Crossbar(8).passage(2, packet.to_wire())
    assert (passage.fate, passage.output) == (Fate.FORWARDED, 5)
    assert passage.wire == Packet(packet.route[1:], packet.kind, packet.payload).to_wire()


def test_an_error_upstream_stays_visible_over_several_hops() -> None:
    wire = bytearray(Packet(bytes([route_byte(1), route_byte(1)]), 5, b"data").to_wire())
    wire[7] ^= 1
    syndrome = crc8(bytes(wire))
    for port in (0, 1):
        wire = bytearray(Crossbar(4).passage(port, bytes(wire)).wire)
    assert crc8(bytes(wire)) == syndrome != 0


@pytest.mark.parametrize(("source", "first"), [(0, 0xBF), (7, 0x81), (0, 0x05), (0, 0xC0)])
def test_a_route_beyond_the_ports_is_a_bad_route(source: int, first: int) -> None:
    assert Crossbar(8).passage(source, bytes([first, 0, 0, 0, 0, 0])).fate is Fate.BAD_ROUTE


def test_a_port_without_cable_is_absent() -> None:
    assert Crossbar(8, frozenset({0, 1})).passage(0, bytes([0x82, 0, 0, 0, 0, 0])).fate is Fate.ABSENT


def test_limits_equal_the_published_values() -> None:
    assert [head_of_line_limit(ports) for ports in (1, 2, 4, 8)] == [1.0, 0.75, 0.6553, 0.6184]
    assert LIMIT < head_of_line_limit(16) < head_of_line_limit(8)
    with pytest.raises(ValueError, match="0"):
        head_of_line_limit(0)


@pytest.mark.parametrize("ports", [2, 4, 8])
def test_the_load_model_reaches_the_limit_without_stop_cost(ports: int) -> None:
    limit = head_of_line_limit(ports)
    assert accepted_load(ports, 64, seed=1, clocks=100_000, refresh=0) == pytest.approx(limit, rel=0.04)


def test_stop_refreshes_cost_reverse_bandwidth() -> None:
    assert accepted_load(8, 64, 1, 60_000) < accepted_load(8, 64, 1, 60_000, refresh=0)


def test_immediately_served_input_sends_no_stop() -> None:
    assert accepted_load(1, 64, 1, 10_000) == accepted_load(1, 64, 1, 10_000, refresh=0) > 0.98


def test_the_sp_switch_shifts_the_route_and_keeps_the_size() -> None:
    wire = bytes([route_byte(3), route_byte(-1)]).ljust(ROUTE_BYTES, b"\0") + b"a packet of the SP"
    wire += bytes([crc8(wire)])
    passage = SpSwitch(8).passage(2, wire)
    assert (passage.fate, passage.output) == (Fate.FORWARDED, 5)
    assert passage.wire[:2] == bytes([route_byte(-1), 0]) and len(passage.wire) == len(wire)
    assert passage.wire[ROUTE_BYTES:-1] == wire[ROUTE_BYTES:-1] and crc8(passage.wire) == 0
    assert SpSwitch(8).passage(0, bytes([0x05, *wire[1:]])).fate is Fate.BAD_ROUTE


def test_the_sp_switch_forwards_no_packet_that_ends_within_its_route() -> None:
    with pytest.raises(ValueError, match="a packet of 2 bytes ends within its"):
        SpSwitch(8).passage(2, bytes([route_byte(3), 0]))


def test_light_load_is_accepted() -> None:
    assert accepted_load(8, 64, seed=2, clocks=60_000, load=0.3) == pytest.approx(0.3 * 63 / 64, rel=0.05)


def test_the_same_seed_gives_the_same_load() -> None:
    assert accepted_load(4, 32, 5, 5000) == accepted_load(4, 32, 5, 5000)
