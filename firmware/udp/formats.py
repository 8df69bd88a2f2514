"""IP and UDP headers (RFC 791, RFC 768), the Internet checksum (RFC 1071), and how a datagram is cut into frames.

A frame is an IP packet without options: 20 bytes of header, then a part of the UDP datagram, which is 8 bytes of header
and data. All numbers are big-endian. Node n has the address 10.0.0.0 + n + 1 (ours).
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from pymodels.errors import SanlabError

IP_BYTES, UDP_BYTES = 20, 8
"""Of the two headers."""
MOST_DATA = 65535 - IP_BYTES - UDP_BYTES
"""Bytes of data in a datagram: the length fields have 16 bits."""
PORTS = 1 << 16
UDP = 17
"""Number of the protocol."""
UNIT = 8
"""The place of a fragment in its datagram is counted in so many bytes."""
_NETWORK = 10 << 24
_IP = struct.Struct(">BBHHHBBHII")
_UDP = struct.Struct(">HHHH")
_PSEUDO = struct.Struct(">IIBBH")
_VERSION, _LIFE, _MORE, _PLACE = 0x45, 64, 1 << 13, (1 << 13) - 1


class FormatError(SanlabError):
    """Bytes that are no frame of ours."""


def address(node: int) -> int:
    """The IP address of a node."""
    return _NETWORK + node + 1


def node_of(ip: int) -> int:
    """The node of an IP address; it need not exist."""
    return ip - _NETWORK - 1


def total(data: bytes | memoryview) -> int:
    """The ones' complement sum of 16-bit words, an odd last byte padded with a zero."""
    number = int.from_bytes(data, "big") << 8 * (len(data) & 1)
    return number % 0xFFFF or (0xFFFF if number else 0)


def checksum(data: bytes | memoryview) -> int:
    """The Internet checksum; 0 over data that hold their right checksum."""
    return ~total(data) & 0xFFFF


class Ip(NamedTuple):
    """What varies in the header of a frame. `place`: offset of its part in the datagram, bytes."""

    source: int
    destination: int
    number: int
    size: int
    """Of the frame, header included."""
    place: int = 0
    more: bool = False
    """Further parts stand behind this one."""
    protocol: int = UDP

    def pack(self) -> bytes:
        """With its checksum."""
        flags = self.place // UNIT | _MORE * self.more
        fields = (_VERSION, 0, self.size, self.number, flags, _LIFE, self.protocol)
        head = _IP.pack(*fields, 0, self.source, self.destination)
        return head[:10] + checksum(head).to_bytes(2, "big") + head[12:]

    @classmethod
    def unpack(cls, frame: bytes) -> Ip:
        """Raises FormatError for a header that is not ours, or damaged, or of a frame that is not whole."""
        if len(frame) < IP_BYTES or frame[0] != _VERSION or checksum(frame[:IP_BYTES]):
            raise FormatError("a frame", "its IP header is damaged, or has options", "send IPv4 without options")
        _, _, size, number, flags, _, protocol, _, source, destination = _IP.unpack_from(frame)
        if not IP_BYTES <= size <= len(frame):
            raise FormatError("a frame", f"its IP header says {size} bytes, {len(frame)} came", "send it whole")
        return cls(source, destination, number, size, UNIT * (flags & _PLACE), bool(flags & _MORE), protocol)


class Udp(NamedTuple):
    """The header of a datagram."""

    source: int
    destination: int
    size: int
    """Of the datagram, header included."""
    sum: int = 0

    def pack(self) -> bytes:
        """As it stands in front of the data."""
        return _UDP.pack(*self)

    @classmethod
    def unpack(cls, head: bytes) -> Udp:
        """From the first 8 bytes of a datagram."""
        return cls(*_UDP.unpack(head))


def pseudo(source: int, destination: int, size: int) -> bytes:
    """What the checksum of a datagram covers beside itself: two IP addresses, the protocol, the size."""
    return _PSEUDO.pack(source, destination, 0, UDP, size)


def datagram_sum(source: int, destination: int, datagram: bytes) -> int:
    """The checksum for the header of a datagram whose own field is 0; 0 is sent as 0xFFFF (RFC 768)."""
    return checksum(pseudo(source, destination, len(datagram)) + datagram) or 0xFFFF


def is_right(source: int, destination: int, datagram: bytes) -> bool:
    """Whether the checksum of a datagram that came is right."""
    return checksum(pseudo(source, destination, len(datagram)) + datagram) == 0


def parts(size: int, mtu: int) -> list[tuple[int, int]]:
    """(offset, bytes) of the parts in which a datagram of so many bytes, header included, goes over such frames."""
    most = (mtu - IP_BYTES) // UNIT * UNIT if size > mtu - IP_BYTES else size
    return [(offset, min(most, size - offset)) for offset in range(0, size, most)]
