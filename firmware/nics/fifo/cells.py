"""Driver access to the two cell FIFOs of a FIFO card.

The first word of a cell's payload has four fields: the source, a sequence number between source and destination, a flag
for the first cell of a message, and the remaining bytes of the message. These include the bytes of this cell. VCI of
the header has the destination (the circuit) in its low bits, and the source above. VPI has the sequence number.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import NamedTuple

from firmware.verbs import Host
from pymodels.messages import BESIDE
from pymodels.nics.fifo.registers import Form, Region, Size, Status, circuit

WORD = struct.Struct(">BBH")
"""Layout of the first payload word: source, sequence number, bytes left with the flag FIRST."""
FIRST = 0x8000
PART = Size.PAYLOAD - WORD.size
"""Message bytes in a cell."""
MOST = FIRST - 1
"""Maximum message size in bytes."""
MASK = 0xFF
SENT, TAKEN = BESIDE, BESIDE + 1
"""Places at which a driver leaves its numbers of cells for the next driver: the card goes on in its two FIFOs."""


class Cell(NamedTuple):
    """Contents of the first word of a received cell."""

    source: int
    number: int
    first: bool
    left: int


def key(source: int, destination: int, number: int) -> int:
    """Return the header of a cell, which is its key in traces."""
    return number << 20 | source << 10 | destination << 4


class CellPort:
    """Cells of one host. All costs are charged here, by the paths of `cells.h`."""

    def __init__(self, host: Host, me: int, routes: Mapping[int, bytes]) -> None:
        self._host, self._me, self._routes = host, me, routes
        self._numbers = dict.fromkeys(routes, 0)
        self._room = int(Size.OUT_CELLS)
        self._there = 0
        self._sent, self._taken = host.message_at(SENT), host.message_at(TAKEN)
        """Numbers of cells sent and taken since the card's reset, for numbers of messages in the trace only."""

    async def start(self) -> None:
        """Select the card's cell mode, and set the route of each destination's circuit. Call this first."""
        await self._store(Region.MODE, int(Form.CELLS).to_bytes(4, "big"))
        for vnn, route in self._routes.items():
            if vnn != self._me:
                await self._store(Size.CIRCUIT * vnn, circuit(route))

    async def room(self) -> bool:
        """Return True if a cell may be sent. Reads the card's status only if no room is known."""
        if not self._room:
            self._room = Size.OUT_CELLS - (await self._status() >> Status.SEND_LEVEL & 0xFF)
            await self._host.spend("look_status")
        return self._room > 0

    async def put(self, destination: int, data: bytes, at: int, message: int) -> int:
        """Send a cell, and return its key. Requires room.

        Args:
            destination: Receiving node.
            data: Bytes of the message.
            at: Offset of the cell's first byte in the message.
            message: Number of the message in the trace.
        """
        self._room -= 1
        place = Size.OUT_BASE + Size.SLOT * (self._sent % Size.OUT_CELLS)
        self._host.put_message(self._host.nic_base + place, message)
        self._sent += 1
        self._host.put_message(SENT, self._sent)
        number = self._numbers[destination] = self._numbers[destination] + 1 & MASK
        header = key(self._me, destination, number)
        part = data[at : at + PART].ljust(PART, b"\0")
        await self._host.spend("cell")
        await self._host.spend("store_word", PART // 4)
        word = WORD.pack(self._me, number, len(data) - at | FIRST * (at == 0))
        await self._store(Region.CELL_OUT + Size.CELL_HEADER, header.to_bytes(4, "big") + word + part)
        return header

    async def there(self) -> int:
        """Return the number of received cells. Reads the card's status only if none is known."""
        if not self._there:
            self._there = await self._status() >> Status.RECEIVE_LEVEL
            await self._host.spend("look_status")
        return self._there

    @property
    def message(self) -> int:
        """Number in the trace of the message of the oldest received cell."""
        place = Size.IN_BASE + Size.SLOT * (self._taken % Size.IN_CELLS)
        return self._host.message_at(self._host.nic_base + place)

    async def look(self) -> Cell:
        """Return the first word of the oldest received cell. Requires one."""
        first = await self._host.pio_read(self._in)
        await self._host.spend("take_cell")
        source, number, left = WORD.unpack(first.to_bytes(4, "big"))
        return Cell(source, number, left >= FIRST, left & MOST)

    async def take(self, cell: Cell) -> bytes:
        """Return the data of the cell that `look` returned, and remove it from the FIFO."""
        self._there -= 1
        self._taken += 1
        self._host.put_message(TAKEN, self._taken)
        size = min(cell.left, PART)
        count = -(-size // 4)
        words = [await self._host.pio_read(self._in + WORD.size + 4 * index) for index in range(count)]
        await self._host.spend("load_word", count)
        await self._store(Region.CELL_NEXT, bytes(4))
        return struct.pack(f">{count}I", *words)[:size]

    @property
    def _in(self) -> int:
        return self._host.nic_base + Region.CELL_IN + Size.CELL_PAYLOAD

    async def _status(self) -> int:
        return await self._host.pio_read(self._host.nic_base + Region.STATUS)

    async def _store(self, place: int, data: bytes) -> None:
        await self._host.pio_write(self._host.nic_base + place, data)
