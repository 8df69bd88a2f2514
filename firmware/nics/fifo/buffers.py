"""Driver access to the packet buffers of a FIFO card.

The driver belongs to a host, or to a process that has mapped the card. Both provide the verbs that it needs.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Protocol

from pymodels.host.process import Process
from pymodels.nics.fifo.registers import Form, Ready, Region, Size, State, descriptor

ALIGN = 8
DAMAGED = 3 << Ready.LONG
"""Bits of RX_READY for a damaged packet, or one that is longer than a buffer."""
ONCE_NS = 0.001
"""Time limit of a poll that samples once."""
PAGE = 4096


class Verbs(Protocol):
    """Verbs that the driver needs."""

    async def spend(self, path: str, times: int = 1) -> None:
        """Use the CPU for a compiled path."""

    async def pio_write(self, address: int, data: bytes) -> None:
        """Store words to the card."""

    async def pio_read(self, address: int) -> int:
        """Read a word of the card."""

    async def poll_card(
        self, address: int, expect: int, path: str, mask: int = 0xFFFFFFFF, timeout_ns: float = 0
    ) -> int:
        """Spin on a word of the card."""


def message_place(route: bytes, buffer: int) -> int:
    """Return the card offset at which the packet in a send buffer begins, with its route."""
    return Size.BUFFER * buffer + -len(route) % ALIGN


def received_at(ready: int) -> int:
    """Return the card offset of the received packet that RX_READY announces."""
    return Size.BUFFER * (ready >> Ready.NUMBER & Size.BUFFERS - 1)


def mapped(process: Process) -> Callable[[int], int]:
    """Map memory and registers of the card into a process, and return a function from card offsets to addresses."""
    memory = process.map_nic(Region.MEMORY // PAGE, Size.MEMORY // PAGE)
    registers = process.map_nic(Region.STATUS // PAGE)
    return lambda offset: memory + offset if offset < Region.STATUS else registers + offset - Region.STATUS


class BufferPort:
    """Buffers of one card. Costs are the paths of `buffers.h` and `words.h`."""

    def __init__(self, verbs: Verbs, at: Callable[[int], int]) -> None:
        """Create a port; `at` maps an offset of the card to an address."""
        self._verbs, self._at = verbs, at

    async def start(self, pool: Iterable[int]) -> None:
        """Select the card's buffer mode, and fill the receive pool. Call this first."""
        await self._write(Region.MODE, Form.BUFFERS)
        for number in pool:
            await self._write(Region.RX_FREE, number)

    # ---- out

    async def fill(self, buffer: int, route: bytes, header: bytes, data: bytes) -> int:
        """Store a packet into a buffer, the data word by word, and return the word of its descriptor.

        The caller's path has the cost of route, header and the words of `send`.
        """
        skip = -len(route) % ALIGN
        whole = bytes(skip) + route + header + data
        await self._verbs.spend("store_word", -(-len(data) // 4))
        await self.restore(buffer, whole + bytes(-len(whole) % 4))
        return descriptor(State.READY, len(whole) - skip, skip)

    async def send(self, buffer: int, word: int) -> None:
        """Let the card send a buffer with this descriptor."""
        await self._write(Size.DESCRIPTOR * buffer, word)
        await self._write(Region.TX_READY, buffer)

    async def sent(self, buffer: int) -> bool:
        """Return True if the card has sent the buffer."""
        word = await self._verbs.pio_read(self._at(Size.DESCRIPTOR * buffer))
        await self._verbs.spend("look_descriptor")
        return word >> 28 == State.SENT

    # ---- in

    async def ready(self, timeout_ns: float = 0) -> int | None:
        """Spin until a packet is received and return RX_READY, or None after `timeout_ns` (0: no limit)."""
        valid = 1 << Ready.VALID
        word = await self._verbs.poll_card(self._at(Region.RX_READY), 0, "look_ready", valid, timeout_ns)
        return word if word & valid else None

    async def words(self, ready: int, begin: int, count: int) -> bytes:
        """Return words of the received packet by their offset. Charges the reads, but not the loop around them."""
        place = received_at(ready) + begin
        found = [await self._verbs.pio_read(self._at(place + 4 * index)) for index in range(count)]
        return struct.pack(f">{count}I", *found)

    async def load(self, ready: int, begin: int, size: int) -> bytes:
        """Return `size` bytes of the received packet, read word by word."""
        count = -(-size // 4)
        data = await self.words(ready, begin, count)
        await self._verbs.spend("load_word", count)
        return data[:size]

    async def done(self, ready: int) -> None:
        """Return the buffer of the received packet to the pool."""
        await self._write(Region.RX_NEXT, 0)
        await self._write(Region.RX_FREE, ready >> Ready.NUMBER & Size.BUFFERS - 1)

    async def arrived(self) -> int:
        """Return the number of received packets that have not been taken."""
        return await self._verbs.pio_read(self._at(Region.STATUS)) >> 16

    # ---- contents of a buffer

    async def saved(self, buffer: int, size: int) -> bytes:
        """Return `size` bytes from the start of a buffer, read in whole words."""
        count = -(-size // 4)
        found = [await self._verbs.pio_read(self._at(Size.BUFFER * buffer + 4 * index)) for index in range(count)]
        await self._verbs.spend("load_word", count)
        return struct.pack(f">{count}I", *found)

    async def restore(self, buffer: int, data: bytes) -> None:
        """Store whole words from the start of a buffer. Charges the stores only."""
        await self._verbs.pio_write(self._at(Size.BUFFER * buffer), data)

    async def _write(self, place: int, word: int) -> None:
        await self._verbs.pio_write(self._at(place), word.to_bytes(4, "big"))
