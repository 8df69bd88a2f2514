"""End-to-end CRC-32 (option `crc32`): the sender's library appends it to the payload, the receiver's checks it.

The CRC covers the sender's VNN, the handler, the arguments and the whole payload, so everything that the handler gets.
It detects changes in PCI buses and in memories of NICs and hosts, which the link's CRC-8 does not cover. Ours: no paper
has it. Messages from host to host have a CRC-32; messages of cards, of NIs and in multicast trees have none.
"""

from __future__ import annotations

import struct
import zlib

from firmware.grim.host.errors import GrimError
from firmware.verbs import Host

HEAD = struct.Struct(">6I")
WORD = struct.Struct(">I")
_WORDS = 6


def crc_of(vnn: int, handler: int, arguments: tuple[int, ...], payload: bytes | memoryview) -> int:
    """Return the CRC-32 (IEEE 802.3) of a message with signed or unsigned arguments."""
    head = HEAD.pack(vnn, handler, *(value & 0xFFFFFFFF for value in arguments))
    return zlib.crc32(payload, zlib.crc32(head))


async def sealed(
    host: Host, vnn: int, handler: int, arguments: tuple[int, ...], parts: tuple[bytes | memoryview, int, int]
) -> tuple[bytes, int, int]:
    """Return a payload with its CRC appended, as (bytes, address in host memory or 0, size)."""
    data, address, size = parts
    payload = host.load_bytes(address, size) if address else bytes(data)
    await host.spend("crc_word", _WORDS + (size + 3 >> 2))
    return payload + WORD.pack(crc_of(vnn, handler, arguments, payload)), 0, size + WORD.size


async def opened(
    host: Host, vnn: int, handler: int, arguments: tuple[int, ...], payload: memoryview
) -> memoryview | GrimError:
    """Return a payload without its CRC, or a GrimError if the CRC does not match."""
    size = len(payload) - WORD.size
    await host.spend("crc_word", _WORDS + (max(size, 0) + 3 >> 2))
    await host.spend("crc_check")
    if size < 0 or WORD.unpack(payload[size:])[0] != crc_of(vnn, handler, arguments, payload[:size]):
        return GrimError("message", f"CRC-32 error in a message from VNN {vnn} for handler {handler}", "send it again")
    return payload[:size]
