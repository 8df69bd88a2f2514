"""Packet format of the SP switch: a 16-byte header with the route, 8 bytes of VIA header, and user data.

Sizes are those of paper 001, 3.1.1, 3.1.2 and 3.3.1 (readings C1); the positions of the fields are unpublished and
therefore ours. All numbers are big-endian.

    byte 0   route: one byte a switch, first switch first, then zeros (8)
         8   source node (16) | payload bytes (16)
        12   destination node (16) | zero (16)
        16   VIA header: two words (32), the first of them the packet's key in every trace
        24   user data, 0 to 2032 bytes
         n   CRC-8 over everything before it

Route bytes are Myrinet route bytes (`pymodels.routes`), so that the routes of a cluster file are valid in both
networks. The header keeps its size on the way: a switch removes the first route byte, moves the others up and appends a
zero. It corrects the CRC-8 by the effect of that change, so that an earlier error stays visible.

`python -m pymodels.formats.sp --sv` prints `hdl/switch/sp_packet_pkg.sv`; a test compares the committed file.
"""

from __future__ import annotations

import struct
import sys
from dataclasses import dataclass, field
from typing import NamedTuple

from pymodels.link.crc8 import crc8

ROUTE_BYTES = 8
"""Maximum number of switches on a route."""
HEADER_BYTES = 16
"""Size of the switch header."""
VIA_BYTES = 8
"""Size of the VIA header, which is the first part of the payload."""
MAX_PAYLOAD = 2040
MAX_USER = MAX_PAYLOAD - VIA_BYTES
"""Maximum number of user bytes in a packet."""
NODES = 1 << 16
"""Number of nodes that a header can address."""
_FIXED = struct.Struct(">8s4H")
_VIA = struct.Struct(">2I")


@dataclass(frozen=True)
class SwitchHeader:
    """Switch header of 16 bytes. `payload` counts VIA header and user data. Raises ValueError for values that do not
    fit.
    """

    route: bytes
    source: int
    destination: int
    payload: int

    def __post_init__(self) -> None:
        if len(self.route) > ROUTE_BYTES:
            raise ValueError(f"a route of {len(self.route)} switches: the header has room for {ROUTE_BYTES}")
        for name in ("source", "destination"):
            if not 0 <= getattr(self, name) < NODES:
                raise ValueError(f"{name} is node {getattr(self, name)}: the header has 16 bits for it")
        if not VIA_BYTES <= self.payload <= MAX_PAYLOAD:
            raise ValueError(f"a payload of {self.payload} bytes: it has {VIA_BYTES} to {MAX_PAYLOAD}")

    def to_bytes(self) -> bytes:
        """Return the bytes that leave the adapter."""
        route = self.route.ljust(ROUTE_BYTES, b"\0")
        return _FIXED.pack(route, self.source, self.payload, self.destination, 0)

    def words(self) -> tuple[int, int, int, int]:
        """Return the header as four 32-bit words, as the adapter's processor stores them."""
        a, b, c, d = struct.unpack(">4I", self.to_bytes())
        return a, b, c, d

    @classmethod
    def from_bytes(cls, data: bytes) -> SwitchHeader:
        """Return the header in the first 16 bytes. Raises ValueError if they are incomplete or invalid."""
        if len(data) < HEADER_BYTES:
            raise ValueError(f"a packet of {len(data)} bytes ends within its {HEADER_BYTES}-byte header")
        route, source, payload, destination, _ = _FIXED.unpack_from(data)
        return cls(route.rstrip(b"\0"), source, destination, payload)


@dataclass(frozen=True)
class SpPacket:
    """Packet at its source: `via` has the two words of its VIA header, `data` the user data."""

    route: bytes
    source: int
    destination: int
    via: tuple[int, int]
    data: bytes = field(default=b"", repr=False)

    @property
    def header(self) -> SwitchHeader:
        """Switch header of the packet. Raises ValueError for fields that do not fit."""
        return SwitchHeader(self.route, self.source, self.destination, VIA_BYTES + len(self.data))

    @property
    def key(self) -> int:
        """Key of the packet in the trace."""
        return self.via[0]

    def to_wire(self) -> bytes:
        """Return all bytes from the first route byte to a correct CRC-8. Raises ValueError for fields that do
        not fit.
        """
        body = self.header.to_bytes() + _VIA.pack(*self.via) + self.data
        return body + bytes([crc8(body)])


class Received(NamedTuple):
    """Received packet and its CRC-8 syndrome: 0 = correct."""

    packet: SpPacket
    syndrome: int


def parse(wire: bytes) -> Received:
    """Return the packet in the bytes before a GAP. Raises ValueError if their number does not match the header."""
    header = SwitchHeader.from_bytes(wire)
    if len(wire) != HEADER_BYTES + header.payload + 1:
        expected = f"header, {header.payload} bytes of payload and a CRC-8"
        raise ValueError(f"a packet of {len(wire)} bytes whose header says {expected}")
    start = HEADER_BYTES + VIA_BYTES
    first, second = _VIA.unpack_from(wire, HEADER_BYTES)
    packet = SpPacket(header.route, header.source, header.destination, (first, second), wire[start:-1])
    return Received(packet, crc8(wire))


def after_switch(wire: bytes) -> bytes:
    """Return the packet that leaves a switch for `wire` at its input: the first route byte is removed, a CRC-8 error
    kept.
    """
    body = wire[1:ROUTE_BYTES] + b"\0" + wire[ROUTE_BYTES:-1]
    error = crc8(wire[:-1]) ^ wire[-1]
    return body + bytes([crc8(body) ^ error])


def systemverilog() -> str:
    """Return the text of `hdl/switch/sp_packet_pkg.sv`."""
    sizes = ("ROUTE_BYTES", "HEADER_BYTES", "VIA_BYTES", "MAX_PAYLOAD")
    lines = [
        "// Sizes of an SP packet. Generated by `python -m pymodels.formats.sp --sv`; do not edit.",
        "package sp_packet_pkg;",
        *(f"  localparam int {name} = {globals()[name]};" for name in sizes),
        "endpackage",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] != ["--sv"]:
        sys.exit("usage: python -m pymodels.formats.sp --sv > hdl/switch/sp_packet_pkg.sv")
    print(systemverilog(), end="")
