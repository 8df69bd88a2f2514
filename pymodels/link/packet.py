"""Packet on the wire: route bytes | type (4) | payload | CRC-8 (fact sheet 1.2), without the GAP."""

from __future__ import annotations

from dataclasses import dataclass

from pymodels.link.crc8 import crc8

ROUTE_FLAG = 0x80
"""Top bit, which is set in every route byte and clear in the first byte of the type."""
MAX_DELTA = 15
"""Maximum port distance of a 16-port switch."""


def route_byte(delta: int) -> int:
    """Return the route byte for a port distance (output - input): 0x80 + six-bit two's complement."""
    if not -MAX_DELTA <= delta <= MAX_DELTA:
        raise ValueError(f"a port distance is -{MAX_DELTA}..{MAX_DELTA}, not {delta}")
    return ROUTE_FLAG | (delta & 0x3F)


def route_delta(byte: int) -> int | None:
    """Return the port distance in a route byte, or None if the top bits are not 10."""
    if byte & 0xC0 != ROUTE_FLAG:
        return None
    return (byte & 0x1F) - (byte & 0x20)


@dataclass(frozen=True)
class Packet:
    """Packet of `route` bytes, the 32-bit `kind` (the type, top bit clear) and `payload`."""

    route: bytes
    kind: int
    payload: bytes

    def __post_init__(self) -> None:
        if any(byte & ROUTE_FLAG == 0 for byte in self.route):
            raise ValueError(f"a route byte without top bit in {self.route.hex()}")
        if not 0 <= self.kind < 1 << 31:
            raise ValueError(f"a type has 32 bits with the top one clear, not {self.kind:#x}")

    def to_wire(self) -> bytes:
        """Return all bytes, with a correct CRC-8."""
        body = self.route + self.kind.to_bytes(4, "big") + self.payload
        return body + bytes([crc8(body)])


@dataclass(frozen=True)
class Received:
    """Parsed packet and its CRC-8 syndrome: 0 = correct."""

    packet: Packet
    syndrome: int


def parse(wire: bytes) -> Received:
    """Return the packet in the bytes of a wire. Raises ValueError if type or CRC-8 is incomplete."""
    start = next((at for at, byte in enumerate(wire) if byte & ROUTE_FLAG == 0), len(wire))
    if len(wire) < start + 5:
        raise ValueError(f"a packet of {len(wire)} bytes, {start} of them route, ends within type and CRC-8")
    packet = Packet(wire[:start], int.from_bytes(wire[start : start + 4], "big"), wire[start + 4 : -1])
    return Received(packet, crc8(wire))
