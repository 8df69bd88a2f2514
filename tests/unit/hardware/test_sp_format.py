"""The packet format of the SP switch, and its change by a switch.

Strategy: packets drawn by hypothesis are encoded and decoded. A switch consumes one route byte, and errors before it
stay visible. Sizes are tested at both ends of their range. The HDL package is generated again and compared.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodels.formats import sp
from pymodels.formats.sp import HEADER_BYTES, MAX_USER, ROUTE_BYTES, SpPacket, SwitchHeader, after_switch, parse
from pymodels.link.crc8 import crc8
from pymodels.link.packet import route_byte

ROUTES = st.lists(st.integers(-7, 7).map(route_byte), max_size=ROUTE_BYTES).map(bytes)
WORD = st.integers(0, 2**32 - 1)
NODE = st.integers(0, 2**16 - 1)
PACKETS = st.builds(SpPacket, ROUTES, NODE, NODE, st.tuples(WORD, WORD), st.binary(max_size=MAX_USER))


@given(PACKETS)
def test_a_packet_reads_back_as_it_was(packet: SpPacket) -> None:
    assert parse(packet.to_wire()) == (packet, 0)


@given(PACKETS.filter(lambda packet: packet.route))
def test_a_switch_takes_the_first_route_byte_and_keeps_size_and_crc_good(packet: SpPacket) -> None:
    wire = packet.to_wire()
    left = after_switch(wire)
    assert len(left) == len(wire)
    assert parse(left) == (SpPacket(packet.route[1:], *packet_fields(packet)), 0)


def packet_fields(packet: SpPacket) -> tuple[int, int, tuple[int, int], bytes]:
    """Everything but the route."""
    return packet.source, packet.destination, packet.via, packet.data


@given(PACKETS.filter(lambda packet: packet.route), st.data())
def test_an_error_before_a_switch_is_as_visible_after_it(packet: SpPacket, draw: st.DataObject) -> None:
    wire = bytearray(packet.to_wire())
    wire[draw.draw(st.integers(ROUTE_BYTES, len(wire) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
    syndrome = crc8(bytes(wire))
    assert syndrome != 0
    assert crc8(after_switch(bytes(wire))) == syndrome


def test_the_fields_have_their_offsets() -> None:
    """Written out by hand, from the drawing in the module."""
    wire = SpPacket(b"\x83\x81", 0x0102, 0x0304, (0x05060708, 0x090A0B0C), b"xyz").to_wire()
    assert wire[:-1].hex(" ") == ("83 81 00 00 00 00 00 00 01 02 00 0b 03 04 00 00 05 06 07 08 09 0a 0b 0c 78 79 7a")
    assert SwitchHeader(b"\x83\x81", 0x0102, 0x0304, 11).words() == (0x83810000, 0, 0x0102000B, 0x03040000)


def test_sizes_of_the_paper() -> None:
    assert (HEADER_BYTES, sp.MAX_PAYLOAD, MAX_USER) == (16, 2040, 2032)


@pytest.mark.parametrize(
    ("route", "node", "payload", "complaint"),
    [
        (bytes(9), 0, 8, "9 switches"),
        (b"", 1 << 16, 8, "node 65536"),
        (b"", 0, 7, "7 bytes"),
        (b"", 0, 2041, "2041 bytes"),
    ],
)
def test_values_that_do_not_fit_the_header_are_rejected(route: bytes, node: int, payload: int, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        SwitchHeader(route, node, 0, payload)


def test_a_packet_that_is_cut_or_has_a_wrong_length_is_rejected() -> None:
    wire = SpPacket(b"", 1, 2, (3, 4), b"data").to_wire()
    with pytest.raises(ValueError, match="ends within"):
        parse(wire[:15])
    with pytest.raises(ValueError, match="12 bytes of payload"):
        parse(wire[:-1])


def test_the_committed_package_is_what_the_format_generates() -> None:
    text = Path("hdl/switch/sp_packet_pkg.sv").read_text(encoding="utf-8")
    assert text == sp.systemverilog(), "run `python -m pymodels.formats.sp --sv`"
