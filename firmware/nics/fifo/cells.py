"""A FIFO card's two FIFOs of cells, as its drivers use them: a cell goes out, the oldest that has come is taken.

The first word of a cell's payload names its source, its number among the cells from there to here, whether a message
begins with it, and how many bytes of the message are left, this cell included. The header's VCI has the destination,
which is the circuit, in its low bits, and the source above; VPI has the number.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import NamedTuple

from firmware.verbs import Host
from pymodels.nics.fifo.registers import Form, Region, Size, Status, circuit

WORD = struct.Struct(">BBH")
"""Source, number, bytes left with FIRST."""
FIRST = 0x8000
PART = Size.PAYLOAD - WORD.size
"""Bytes of a message in a cell."""
MOST = FIRST - 1
"""Bytes of a message."""
MASK = 0xFF


class Cell(NamedTuple):
    """What the first word of a cell that has come says."""

    source: int
    number: int
    first: bool
    left: int


def key(source: int, destination: int, number: int) -> int:
    """The header of a cell, by which the trace knows it."""
    return number << 20 | source << 10 | destination << 4


class CellPort:
    """The cells of one host. Its user charges nothing else for them; paths are those of `cells.h`."""

    def __init__(self, host: Host, me: int, routes: Mapping[int, bytes]) -> None:
        self._host, self._me, self._routes = host, me, routes
        self._numbers = dict.fromkeys(routes, 0)
        self._room = int(Size.OUT_CELLS)
        self._there = 0

    async def start(self) -> None:
        """Choose the card's form, and give each destination's circuit its route. Call this first."""
        await self._store(Region.MODE, int(Form.CELLS).to_bytes(4, "big"))
        for vnn, route in self._routes.items():
            if vnn != self._me:
                await self._store(Size.CIRCUIT * vnn, circuit(route))

    async def room(self) -> bool:
        """Whether a cell may go out; the card is asked when none is known to have room."""
        if not self._room:
            self._room = Size.OUT_CELLS - (await self._status() >> Status.SEND_LEVEL & 0xFF)
            await self._host.spend("look_status")
        return self._room > 0

    async def put(self, destination: int, message: bytes, at: int) -> int:
        """The cell of a message that begins at byte `at`; its key. There must be room."""
        self._room -= 1
        number = self._numbers[destination] = self._numbers[destination] + 1 & MASK
        header = key(self._me, destination, number)
        part = message[at : at + PART].ljust(PART, b"\0")
        await self._host.spend("cell")
        await self._host.spend("store_word", PART // 4)
        word = WORD.pack(self._me, number, len(message) - at | FIRST * (at == 0))
        await self._store(Region.CELL_OUT + Size.CELL_HEADER, header.to_bytes(4, "big") + word + part)
        return header

    async def there(self) -> int:
        """Cells that have come; the card is asked when none is known."""
        if not self._there:
            self._there = await self._status() >> Status.RECEIVE_LEVEL
            await self._host.spend("look_status")
        return self._there

    async def look(self) -> Cell:
        """What the oldest cell is; there must be one."""
        first = await self._host.pio_read(self._in)
        await self._host.spend("take_cell")
        source, number, left = WORD.unpack(first.to_bytes(4, "big"))
        return Cell(source, number, left >= FIRST, left & MOST)

    async def take(self, cell: Cell) -> bytes:
        """The data of the cell at which was looked; it is gone then."""
        self._there -= 1
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
