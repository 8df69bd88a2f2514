"""Packets of a run for Wireshark: `packets.pcapng`, with the bytes on the cables.

`sim_tap.sv` captures the packets at the far end of each cable, including faults: route bytes, packet type, payload,
CRC-8. Each cable is an interface, named after its ends. Times are those of the first character, in ns. Packets that
leave the cable's first end are outbound. The link type is USER0 (147), in SP networks USER1 (148); the dissector is
next to the file (`tb.report.dissector`).

Format: pcapng, https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-05.html, sections 4.1 to 4.3.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pymodels.results import write_atomically
from tb.report.recorded import End, Legend

FILE = "packets.pcapng"
KEPT = 1 << 17
"""Maximum number of bytes kept of a packet; exceeds the packets of all message layers."""
USER0 = 147
"""LINKTYPE_USER0."""
SECTION, INTERFACE, ENHANCED = 0x0A0D0D0A, 1, 6
MAGIC = 0x1A2B3C4D
OPTION_END, COMMENT, IF_NAME, IF_DESCRIPTION, IF_SPEED, IF_TSRESOL, USER_APPLICATION, FLAGS = 0, 1, 2, 3, 8, 9, 4, 2
NANOSECONDS = 9
INBOUND, OUTBOUND = 1, 2
RECORD = struct.Struct("<qqiiii")
"""Record of capture.c: first and last character in ps, cable direction, bytes, bytes kept, padding."""


class Captured(NamedTuple):
    """Packet that left a cable; times in ps."""

    began: int
    ended: int
    cable: int
    """Number of the cable direction."""
    length: int
    data: bytes


def captured(parts: Iterable[memoryview]) -> list[Captured]:
    """Return the packets in the doorway's store, by the time of their first character."""
    found = []
    for part in parts:
        at = 0
        while at < len(part):
            began, ended, cable, length, kept, _ = RECORD.unpack_from(part, at)
            at += RECORD.size
            found.append(Captured(began, ended, cable, length, bytes(part[at : at + kept])))
            at += kept + 7 & ~7
    return sorted(found)


def write_packets(
    packets: Sequence[Captured], legend: Legend, path: Path, dropped: int = 0, link_type: int = USER0
) -> None:
    """Write `packets.pcapng` atomically.

    Args:
        packets: Packets in time order.
        legend: Legend of the trace.
        path: File to write.
        dropped: Number of earlier packets that the store dropped; noted in a comment of the file.
        link_type: Link type of the network (`pymodels.hardware.kind.Network`).

    Raises:
        ResultsError: Writing failed.
    """
    write_atomically(path, blocks(packets, legend, dropped, link_type))


def blocks(packets: Sequence[Captured], legend: Legend, dropped: int = 0, link_type: int = USER0) -> Iterator[bytes]:
    """Yield the blocks of the file: section, one interface a cable, packets."""
    told = _option(COMMENT, f"{dropped} earlier packets were dropped".encode()) if dropped else b""
    yield _block(SECTION, struct.pack("<IHHq", MAGIC, 1, 0, -1) + told + _option(USER_APPLICATION, b"sanlab") + END)
    cables = ends(legend)
    speed = _option(IF_SPEED, struct.pack("<Q", 8 * 10**12 // legend.clocks_ps["link"]))
    for near, far in cables:
        name = _option(IF_NAME, f"{near[0]}.{near[1]}-{far[0]}.{far[1]}".encode())
        text = _option(IF_DESCRIPTION, f"cable from {near[0]} to {far[0]}; outbound: sent by {near[0]}".encode())
        resolution = _option(IF_TSRESOL, bytes([NANOSECONDS]))
        yield _block(INTERFACE, struct.pack("<HHI", link_type, 0, KEPT) + name + text + speed + resolution + END)
    into = directions(legend, cables)
    for packet in packets:
        interface, direction = into[packet.cable]
        ns = packet.began // 1000
        head = struct.pack("<IIIII", interface, ns >> 32, ns & 0xFFFFFFFF, len(packet.data), packet.length)
        flags = struct.pack("<HHI", FLAGS, 4, direction)
        yield _block(ENHANCED, head + packet.data + bytes(-len(packet.data) & 3) + flags + END)


def ends(legend: Legend) -> list[tuple[End, End]]:
    """Return both ends of each cable, a host's end first."""
    cables = []
    for a, i, b, j in legend.links:
        cables.append(((a, i), (b, j)) if a in legend.hosts or b not in legend.hosts else ((b, j), (a, i)))
    return cables


def directions(legend: Legend, cables: Sequence[tuple[End, End]]) -> dict[int, tuple[int, int]]:
    """Return interface and direction by the number of a cable direction in the generated top level.

    Directions into hosts come first, by host, then those into switches in the order of their ports.
    """
    number = {(name, 0): node for node, name in enumerate(legend.hosts)}
    for name, ports in legend.switches:
        first = len(number)
        number.update({(name, port): first + port for port in range(ports)})
    arriving = {number[far]: (index, OUTBOUND) for index, (_, far) in enumerate(cables)}
    return arriving | {number[near]: (index, INBOUND) for index, (near, _) in enumerate(cables)}


def _block(kind: int, body: bytes) -> bytes:
    size = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + size + body + size


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) & 3)


END = struct.pack("<HH", OPTION_END, 0)
