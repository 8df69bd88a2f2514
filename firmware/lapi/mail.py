"""Mail interface over LAPI: each message is an active message, whose header handler returns its destination.

Each message between two tasks has a slot in the target's memory, with a counter that is incremented when the message is
complete. So reordered messages stay separate.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct

from firmware.lapi.host import Lapi, Place
from firmware.mail import AHEAD, Mail

NUMBER = Struct(">II")
"""User header: number of the message to this task, and its size."""
WORD = 4


class LapiMail(Mail):
    """Mail of one task."""

    most = 4096

    def __init__(self, lapi: Lapi) -> None:
        super().__init__(lapi.host)
        self._lapi, tasks = lapi, lapi.tasks
        slots, allocate = AHEAD * tasks, lapi.process.allocate
        self._out, self._in = allocate(self.most * slots), allocate(self.most * slots)
        self._gone, self._here = allocate(WORD * slots), allocate(WORD * slots)
        """Counters of each slot: the bytes may be changed; the message is complete."""
        self._sent, self._taken, self._sizes = [0] * tasks, [0] * tasks, dict[int, int]()
        self._handlers: list[int] = []
        self._counters: list[int] = []
        """Address of each task's header handler, and of its counters."""

    async def start(self) -> None:
        lapi = self._lapi
        await lapi.Init()
        self._handlers = await lapi.Address_init(lapi.handler(self._header))
        self._counters = await lapi.Address_init(self._here)

    async def _send(self, node: int, data: bytes) -> None:
        """Send a message. The payload stays in the slot until LAPI reports the send as complete."""
        lapi, number, size = self._lapi, self._sent[node], len(data)
        slot, there = self._slot(node, number), self._slot(lapi.me, number)
        self._sent[node] += 1
        if number >= AHEAD:
            await lapi.Waitcntr(self._gone + WORD * slot, 1)
        user, address = NUMBER.pack(number, size), self._out + self.most * slot
        if size:
            lapi.process.store_bytes(address, data)
        counter, origin = self._counters[node] + WORD * there, self._gone + WORD * slot
        await lapi.Amsend(node, self._handlers[node], user, NUMBER.size, address, size, counter, origin)

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._lapi.Probe(lambda: self._next() is not None)
            while (node := self._next()) is not None:
                slot = self._slot(node, self._taken[node])
                self._taken[node] += 1
                await self._lapi.Waitcntr(self._here + WORD * slot, 1)
                size = self._sizes.pop(slot)
                address = self._in + self.most * slot
                self._came.append((node, self._lapi.process.load_bytes(address, size) if size else b""))

    async def finish(self) -> None:
        await self._lapi.Gfence()

    def _next(self) -> int | None:
        """Return a task whose next message is complete, or None."""
        for node, taken in enumerate(self._taken):
            if self._lapi.memory.word(self._here + WORD * self._slot(node, taken)) > 0:
                return node
        return None

    @staticmethod
    def _slot(node: int, number: int) -> int:
        return node * AHEAD + number % AHEAD

    async def _header(self, source: int, user: bytes, size: int) -> Place:
        number, _ = NUMBER.unpack(user)
        slot = self._slot(source, number)
        self._sizes[slot] = size
        return Place(self._in + self.most * slot if size else 0)


open_mail = LapiMail
