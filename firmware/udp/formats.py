"""IP and UDP headers (RFC 791, RFC 768), the Internet checksum (RFC 1071), and fragmentation into frames.

A frame is an IP packet without options: 20 bytes of header, then a part of the UDP datagram, which is 8 bytes of header
and data. All numbers are big-endian. Node n has the address 10.0.0.0 + n + 1 (ours).
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from pymodels.errors import SanlabError

IP_BYTES, UDP_BYTES = 20, 8
"""Sizes of the two headers in bytes."""
MOST_DATA = 65535 - IP_BYTES - UDP_BYTES
"""Largest datagram data in bytes, since the length fields have 16 bits."""
PORTS = 1 << 16
UDP = 17
"""IP protocol number of UDP."""
UNIT = 8
"""Unit of fragment offsets in bytes."""
_NETWORK = 10 << 24
_IP = struct.Struct(">BBHHHBBHII")
_UDP = struct.Struct(">HHHH")
_PSEUDO = struct.Struct(">IIBBH")
_VERSION, _LIFE, _MORE, _PLACE = 0x45, 64, 1 << 13, (1 << 13) - 1


class FormatError(SanlabError):
    """Invalid frame."""


def address(node: int) -> int:
    """Return the IP address of a node."""
    return _NETWORK + node + 1


def node_of(ip: int) -> int:
    """Return the node of an IP address, which need not exist."""
    return ip - _NETWORK - 1


def total(data: bytes | memoryview) -> int:
    """Return the ones' complement sum of 16-bit words; an odd last byte is padded with a zero."""
    number = int.from_bytes(data, "big") << 8 * (len(data) & 1)
    return number % 0xFFFF or (0xFFFF if number else 0)


def checksum(data: bytes | memoryview) -> int:
    """Return the Internet checksum; 0 over data that include their correct checksum."""
    return ~total(data) & 0xFFFF


class Ip(NamedTuple):
    """Variable fields of a frame's IP header. `place` is the offset of its part in the datagram, in bytes."""

    source: int
    destination: int
    number: int
    size: int
    """Size of the frame in bytes, header included."""
    place: int = 0
    more: bool = False
    """True if further parts follow."""
    protocol: int = UDP

    def pack(self) -> bytes:
        """Return the encoded header with its checksum."""
        flags = self.place // UNIT | _MORE * self.more
        fields = (_VERSION, 0, self.size, self.number, flags, _LIFE, self.protocol)
        head = _IP.pack(*fields, 0, self.source, self.destination)
        return head[:10] + checksum(head).to_bytes(2, "big") + head[12:]

    @classmethod
    def unpack(cls, frame: bytes) -> Ip:
        """Decode a header. Raises FormatError for options, a wrong checksum, or an incomplete frame."""
        if len(frame) < IP_BYTES or frame[0] != _VERSION or checksum(frame[:IP_BYTES]):
            raise FormatError("frame", "its IP header is damaged, or has options", "send IPv4 without options")
        _, _, size, number, flags, _, protocol, _, source, destination = _IP.unpack_from(frame)
        if not IP_BYTES <= size <= len(frame):
            raise FormatError(
                "frame", f"its IP header says {size} bytes, but {len(frame)} arrived", "send it completely"
            )
        return cls(source, destination, number, size, UNIT * (flags & _PLACE), bool(flags & _MORE), protocol)


class Udp(NamedTuple):
    """Header of a datagram."""

    source: int
    destination: int
    size: int
    """Size of the datagram in bytes, header included."""
    sum: int = 0

    def pack(self) -> bytes:
        """Return the encoded header."""
        return _UDP.pack(*self)

    @classmethod
    def unpack(cls, head: bytes) -> Udp:
        """Decode the first 8 bytes of a datagram."""
        return cls(*_UDP.unpack(head))


def pseudo(source: int, destination: int, size: int) -> bytes:
    """Return the pseudo header that a datagram's checksum covers: IP addresses, protocol, size."""
    return _PSEUDO.pack(source, destination, 0, UDP, size)


def datagram_sum(source: int, destination: int, datagram: bytes) -> int:
    """Return the checksum of a datagram whose checksum field is 0; 0 is sent as 0xFFFF (RFC 768)."""
    return checksum(pseudo(source, destination, len(datagram)) + datagram) or 0xFFFF


def is_right(source: int, destination: int, datagram: bytes) -> bool:
    """Return True if the checksum of a received datagram is correct."""
    return checksum(pseudo(source, destination, len(datagram)) + datagram) == 0


def parts(size: int, mtu: int) -> list[tuple[int, int]]:
    """Return offset and size of each part of a datagram, header included, in frames of `mtu` bytes at most."""
    most = (mtu - IP_BYTES) // UNIT * UNIT if size > mtu - IP_BYTES else size
    return [(offset, min(most, size - offset)) for offset in range(0, size, most)]
