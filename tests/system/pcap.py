"""Packets of a run from its `packets.pcapng`, by the sending node, in order."""

from __future__ import annotations

import struct
from pathlib import Path

from tb.report.packets import ENHANCED, FILE, IF_NAME, INTERFACE, OUTBOUND

INTERFACE_HEAD, PACKET_HEAD, FLAGS_BEHIND = 16, 28, 4
"""Bytes of a block before an interface's options and before a packet's data, and of an option before its value."""


def sent(folder: Path, hosts: list[str]) -> list[list[bytes]]:
    """Return the packets that left each host, from first route byte to CRC character, as they arrived at the cable's
    far end.
    """
    found: list[list[bytes]] = [[] for _ in hosts]
    names: list[str] = []
    data, at = (folder / FILE).read_bytes(), 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        block = data[at : at + size]
        if kind == INTERFACE:
            code, length = struct.unpack_from("<HH", block, INTERFACE_HEAD)
            assert code == IF_NAME
            names.append(block[INTERFACE_HEAD + FLAGS_BEHIND :][:length].decode().split(".")[0])
        elif kind == ENHANCED:
            interface, _, _, kept, length = struct.unpack_from("<IIIII", block, 8)
            flags = PACKET_HEAD + (kept + 3 & ~3) + FLAGS_BEHIND
            assert kept == length, "the whole packet is there"
            if struct.unpack_from("<I", block, flags)[0] == OUTBOUND and names[interface] in hosts:
                found[hosts.index(names[interface])].append(block[PACKET_HEAD : PACKET_HEAD + kept])
        at += size
    return found
