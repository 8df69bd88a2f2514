"""A FIFO card's buffers, as its drivers use them: a packet goes out of a buffer, the oldest that has come is taken.

The driver is a host's, or a process into which the card is mapped: both have the verbs that it needs.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Protocol

from pymodels.host.process import Process
from pymodels.nics.fifo.registers import Form, Ready, Region, Size, State, descriptor

ALIGN = 8
HARM = 3 << Ready.LONG
"""Bits of RX_READY: the packet was damaged, or longer than a buffer."""
ONCE_NS = 0.001
"""A limit for spinning within which there is one look."""
PAGE = 4096


class Verbs(Protocol):
    """What a driver needs of the machine."""

    async def spend(self, path: str, times: int = 1) -> None:
        """Use the CPU for a compiled path."""

    async def pio_write(self, address: int, data: bytes) -> None:
        """Store words to the card."""

    async def pio_read(self, address: int) -> int:
        """A word of the card."""

    async def poll_card(
        self, address: int, expect: int, path: str, mask: int = 0xFFFFFFFF, timeout_ns: float = 0
    ) -> int:
        """Spin on a word of the card."""


def mapped(process: Process) -> Callable[[int], int]:
    """Map the whole card into a process: its memory and its registers; where each offset of the card stands then."""
    memory = process.map_nic(Region.MEMORY // PAGE, Size.MEMORY // PAGE)
    registers = process.map_nic(Region.STATUS // PAGE)
    return lambda offset: memory + offset if offset < Region.STATUS else registers + offset - Region.STATUS


class BufferPort:
    """The buffers of one card. Paths are those of `buffers.h` and `words.h`."""

    def __init__(self, verbs: Verbs, at: Callable[[int], int]) -> None:
        """`at`: the address of an offset of the card."""
        self._verbs, self._at = verbs, at

    async def start(self, pool: Iterable[int]) -> None:
        """Choose the card's form, and fill the receive pool. Call this first."""
        await self._write(Region.MODE, Form.BUFFERS)
        for number in pool:
            await self._write(Region.RX_FREE, number)

    # ---- out

    async def fill(self, buffer: int, route: bytes, header: bytes, data: bytes) -> int:
        """Store a packet into a buffer, the data word by word; the word of its descriptor. Route, header and the words
        of `send` are in the caller's path.
        """
        skip = -len(route) % ALIGN
        whole = bytes(skip) + route + header + data
        await self._verbs.spend("store_word", -(-len(data) // 4))
        await self.restore(buffer, whole + bytes(-len(whole) % 4))
        return descriptor(State.READY, len(whole) - skip, skip)

    async def send(self, buffer: int, word: int) -> None:
        """Let the card send a buffer, with this descriptor."""
        await self._write(Size.DESCRIPTOR * buffer, word)
        await self._write(Region.TX_READY, buffer)

    async def sent(self, buffer: int) -> bool:
        """Whether the card has sent it."""
        word = await self._verbs.pio_read(self._at(Size.DESCRIPTOR * buffer))
        await self._verbs.spend("look_descriptor")
        return word >> 28 == State.SENT

    # ---- in

    async def ready(self, timeout_ns: float = 0) -> int | None:
        """Spin until a packet is there: its RX_READY; None: none within the time (0: no limit)."""
        valid = 1 << Ready.VALID
        word = await self._verbs.poll_card(self._at(Region.RX_READY), 0, "look_ready", valid, timeout_ns)
        return word if word & valid else None

    async def words(self, ready: int, begin: int, count: int) -> bytes:
        """Words of the packet that is ready, by their place in it; the reads alone, without the loop around them."""
        place = Size.BUFFER * (ready >> Ready.NUMBER & Size.BUFFERS - 1) + begin
        found = [await self._verbs.pio_read(self._at(place + 4 * index)) for index in range(count)]
        return struct.pack(f">{count}I", *found)

    async def load(self, ready: int, begin: int, size: int) -> bytes:
        """So many bytes of it, word by word."""
        count = -(-size // 4)
        data = await self.words(ready, begin, count)
        await self._verbs.spend("load_word", count)
        return data[:size]

    async def done(self, ready: int) -> None:
        """The packet is taken: its buffer goes back to the pool."""
        await self._write(Region.RX_NEXT, 0)
        await self._write(Region.RX_FREE, ready >> Ready.NUMBER & Size.BUFFERS - 1)

    async def arrived(self) -> int:
        """Packets that have arrived and were not taken."""
        return await self._verbs.pio_read(self._at(Region.STATUS)) >> 16

    # ---- what stands in a buffer

    async def saved(self, buffer: int, size: int) -> bytes:
        """Bytes from its start, whole words."""
        count = -(-size // 4)
        found = [await self._verbs.pio_read(self._at(Size.BUFFER * buffer + 4 * index)) for index in range(count)]
        await self._verbs.spend("load_word", count)
        return struct.pack(f">{count}I", *found)

    async def restore(self, buffer: int, data: bytes) -> None:
        """Store whole words from its start; the stores alone."""
        await self._verbs.pio_write(self._at(Size.BUFFER * buffer), data)

    async def _write(self, place: int, word: int) -> None:
        await self._verbs.pio_write(self._at(place), word.to_bytes(4, "big"))
