"""A CRC-32 from end to end (option `crc32`): the sender's library puts it behind the payload, the receiver's looks.

It goes over the sender's VNN, the handler, the arguments and the whole payload, so over all that the handler gets, and
over what PCI buses and the memories of NICs and hosts do to it, which CRC-8 on the link does not see. Ours: no paper
has it. Messages from host to host have one; those of cards, of NIs and in multicast trees have none.
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
    """The CRC-32 (IEEE 802.3) of a message; arguments with or without a sign."""
    head = HEAD.pack(vnn, handler, *(value & 0xFFFFFFFF for value in arguments))
    return zlib.crc32(payload, zlib.crc32(head))


async def sealed(
    host: Host, vnn: int, handler: int, arguments: tuple[int, ...], parts: tuple[bytes | memoryview, int, int]
) -> tuple[bytes, int, int]:
    """The parts of a payload (bytes, address in host memory or 0, size) with the CRC behind them, as bytes."""
    data, address, size = parts
    payload = host.load_bytes(address, size) if address else bytes(data)
    await host.spend("crc_word", _WORDS + (size + 3 >> 2))
    return payload + WORD.pack(crc_of(vnn, handler, arguments, payload)), 0, size + WORD.size


async def opened(
    host: Host, vnn: int, handler: int, arguments: tuple[int, ...], payload: memoryview
) -> memoryview | GrimError:
    """The payload without its CRC; an error where that is another one."""
    size = len(payload) - WORD.size
    await host.spend("crc_word", _WORDS + (max(size, 0) + 3 >> 2))
    await host.spend("crc_check")
    if size < 0 or WORD.unpack(payload[size:])[0] != crc_of(vnn, handler, arguments, payload[:size]):
        return GrimError("message", f"one from VNN {vnn} for handler {handler} was changed on its way", "send it again")
    return payload[:size]
