"""A packet as it stands on the wire: route bytes | type (4) | payload | CRC-8 (fact sheet 1.2). The GAP is no byte."""

from __future__ import annotations

from dataclasses import dataclass

from pymodels.link.crc8 import crc8

ROUTE_FLAG = 0x80
"""Every route byte has its top bit set; the first byte of the type has not."""
MAX_DELTA = 15
"""Largest port distance on a 16-port switch."""


def route_byte(delta: int) -> int:
    """The route byte for output port - input port = `delta`: 0x80 + six-bit two's complement."""
    if not -MAX_DELTA <= delta <= MAX_DELTA:
        raise ValueError(f"a port distance is -{MAX_DELTA}..{MAX_DELTA}, not {delta}")
    return ROUTE_FLAG | (delta & 0x3F)


def route_delta(byte: int) -> int | None:
    """The port distance in a route byte, None for a byte that is no route byte (top bits other than 10)."""
    if byte & 0xC0 != ROUTE_FLAG:
        return None
    return (byte & 0x1F) - (byte & 0x20)


@dataclass(frozen=True)
class Packet:
    """A packet: `route` bytes, the 32-bit `kind` (the type, top bit clear), `payload`."""

    route: bytes
    kind: int
    payload: bytes

    def __post_init__(self) -> None:
        if any(byte & ROUTE_FLAG == 0 for byte in self.route):
            raise ValueError(f"a route byte without top bit in {self.route.hex()}")
        if not 0 <= self.kind < 1 << 31:
            raise ValueError(f"a type has 32 bits with the top one clear, not {self.kind:#x}")

    def to_wire(self) -> bytes:
        """All bytes, with a good CRC-8."""
        body = self.route + self.kind.to_bytes(4, "big") + self.payload
        return body + bytes([crc8(body)])


@dataclass(frozen=True)
class Received:
    """A parsed packet and its CRC-8 syndrome, 0 = good."""

    packet: Packet
    syndrome: int


def parse(wire: bytes) -> Received:
    """Take a packet apart. Raises ValueError for one that has no complete type and CRC-8."""
    start = next((at for at, byte in enumerate(wire) if byte & ROUTE_FLAG == 0), len(wire))
    if len(wire) < start + 5:
        raise ValueError(f"a packet of {len(wire)} bytes, {start} of them route, ends within type and CRC-8")
    packet = Packet(wire[:start], int.from_bytes(wire[start : start + 4], "big"), wire[start + 4 : -1])
    return Received(packet, crc8(wire))
