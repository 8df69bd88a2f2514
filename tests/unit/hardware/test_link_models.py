"""Link models: CRC-8, characters, packets.

Strategy: CRC-8 is compared with a bit-by-bit division and with its published check value. Packets are encoded and
decoded. Invalid arguments are rejected with their value in the message. Properties are drawn by hypothesis.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodels.link.characters import DATA, PACKAGE, Damaged, Symbol, data, decode, package_text, packet_characters
from pymodels.link.crc8 import crc8, crc8_rows
from pymodels.link.packet import Packet, parse, route_byte, route_delta


def _bitwise(message: bytes) -> int:
    register = 0
    for byte in message:
        register ^= byte
        for _ in range(8):
            register = (register << 1 ^ 0x07) & 0xFF if register & 0x80 else register << 1
    return register


def test_crc8_gives_the_published_check_value() -> None:
    assert crc8(b"123456789") == 0xF4


@given(st.binary(max_size=64))
def test_crc8_is_division_by_the_polynomial(message: bytes) -> None:
    assert crc8(message) == _bitwise(message)


@given(st.binary(max_size=64))
def test_a_message_with_its_crc_has_crc_zero(message: bytes) -> None:
    assert crc8(message + bytes([crc8(message)])) == 0


def test_rows_are_the_messages_one_by_one() -> None:
    rows = np.random.default_rng(1).integers(0, 256, (20, 33), dtype=np.uint8)
    assert crc8_rows(rows).tolist() == [crc8(row.tobytes()) for row in rows]


def test_receivers_tolerate_one_lost_bit_in_go_and_stop() -> None:
    assert decode(0x02) is Symbol.GO
    assert decode(0x08) is Symbol.STOP
    assert decode(0x01) is None


def test_control_characters_have_the_codes_of_the_link() -> None:
    assert [decode(code) for code in (0x00, 0x03, 0x0C, 0x0F, 0x30)] == [
        Symbol.IDLE,
        Symbol.GO,
        Symbol.GAP,
        Symbol.STOP,
        Symbol.BEAT,
    ]


def test_a_byte_is_its_character() -> None:
    assert [decode(data(byte)) for byte in (0, 0x0C, 0xFF)] == [0, 0x0C, 0xFF]
    assert packet_characters(b"\x81\x00") == [DATA | 0x81, DATA, int(Symbol.GAP)]


def test_nine_bits_are_enforced() -> None:
    with pytest.raises(ValueError, match="256"):
        data(256)
    with pytest.raises(ValueError, match="0x200"):
        decode(0x200)


@given(st.integers(-15, 15))
def test_route_bytes_carry_the_port_distance(delta: int) -> None:
    byte = route_byte(delta)
    assert byte == (0x80 + delta if delta >= 0 else 0xC0 + delta)
    assert route_delta(byte) == delta


def test_an_invalid_route_byte_has_no_distance() -> None:
    assert route_delta(0x05) is None
    assert route_delta(0xC1) is None
    with pytest.raises(ValueError, match="16"):
        route_byte(16)


@given(st.lists(st.integers(-15, 15), max_size=4), st.integers(0, 2**31 - 1), st.binary(max_size=50))
def test_a_packet_is_parsed_back_from_the_wire(deltas: list[int], kind: int, payload: bytes) -> None:
    packet = Packet(bytes(map(route_byte, deltas)), kind, payload)
    received = parse(packet.to_wire())
    assert received.packet == packet
    assert received.syndrome == 0


def test_a_flipped_bit_shows_in_the_syndrome() -> None:
    wire = bytearray(Packet(b"", 0x06360000, b"payload").to_wire())
    wire[6] ^= 0x10
    assert parse(bytes(wire)).syndrome != 0


def test_invalid_packets_are_rejected() -> None:
    with pytest.raises(ValueError, match="0x80000000"):
        Packet(b"", 1 << 31, b"")
    with pytest.raises(ValueError, match="05"):
        Packet(b"\x05", 0, b"")
    with pytest.raises(ValueError, match="4 bytes, 1 of them route"):
        parse(b"\x81abc")


def test_the_committed_symbol_package_is_what_the_characters_generate() -> None:
    assert PACKAGE.read_text(encoding="utf-8") == package_text(), (
        "run `python -m pymodels.link.characters --sv > hdl/link/myri_symbol_pkg.sv`"
    )


def test_every_control_character_is_a_symbol_of_the_package() -> None:
    text = package_text()
    assert all(f" {symbol.name} = 9'h{int(symbol):03X}" in text for symbol in Symbol)
    assert all(f" {damaged.name}_DAMAGED = 9'h{int(damaged):03X}" in text for damaged in Damaged)
    assert {decode(int(damaged)) for damaged in Damaged} == {Symbol.GO, Symbol.STOP}
