"""A host's one CPU, and the loads and stores that it sends to the bus."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Sequence

from pymodels.kernel import Future, Kernel
from tb.sim.doorway import Doorway

OP_STORE, OP_COPY, OP_LOAD, OP_FENCE = 1, 2, 3, 4
LINE = 32
"""Bytes that one command carries."""
COMBINE = 1 << 24
BATCH = 64
"""Commands that are given before the first is waited for; the ring of a unit holds 256."""
STORES = "the bridge to take its stores"


class Cpu:
    """One task has it at a time: `async with cpu`. Free, it is taken at once; else tasks get it as they asked."""

    def __init__(self, kernel: Kernel) -> None:
        self.busy_ps = 0
        """CPU time charged so far."""
        self._kernel = kernel
        self._taken = False
        self._queue: deque[Future[None]] = deque()

    async def __aenter__(self) -> None:
        if self._taken:
            turn: Future[None] = Future(self._kernel, "the CPU")
            self._queue.append(turn)
            await turn
        self._taken = True

    async def __aexit__(self, *raised: object) -> None:
        if self._queue:
            self._queue.popleft().set(None)
        else:
            self._taken = False

    async def run(self, duration_ps: int) -> None:
        """Execute instructions for so long."""
        async with self:
            self.busy_ps += duration_ps
            await self._kernel.sleep(duration_ps, "its own instructions")


class CpuPort:
    """Programmed I/O: commands to the CPU's port of the bridge, each ended by an event with its ticket."""

    def __init__(self, kernel: Kernel, doorway: Doorway, unit: int, cpu: Cpu) -> None:
        self._kernel = kernel
        self._give = doorway.give
        self._unit = unit
        self._cpu = cpu
        self._pending: dict[int, Future[int]] = {}
        self._ticket = 0

    def ended(self, ticket: int, value: int) -> None:
        """A command has ended; `value` is what a load brought."""
        self._pending.pop(ticket).set(value)

    async def store(self, address: int, data: bytes, combine: bool) -> None:
        """Store whole words; returns when the bridge has taken the last. Raises ValueError for parts of words."""
        if address % 4 or len(data) % 4:
            raise ValueError(f"programmed I/O moves whole words: address {address:#x}, {len(data)} bytes")
        if not data:
            return
        async with self._cpu:
            taken = []
            for at in range(0, len(data), LINE):
                part = bytes(data[at : at + LINE])
                words = struct.unpack("4q", part.ljust(LINE, b"\0"))
                taken.append(self._command(OP_STORE, address + at, STORES, len(part), combine, words))
                if len(taken) == BATCH:
                    await self._end_of(taken)
                    taken = []
            await self._end_of(taken)

    async def copy(self, address: int, source: int, size: int, combine: bool) -> None:
        """Store `size` bytes of host memory, rounded up to whole words. Raises ValueError for parts of words."""
        size = -(-size // 4) * 4
        _check_word(address)
        if size:
            async with self._cpu:
                await self._end_of([self._command(OP_COPY, address, STORES, size, combine, (source,))])

    async def load(self, address: int) -> int:
        """A big-endian 32-bit word. Raises ValueError for a part of one."""
        _check_word(address)
        async with self._cpu:
            lanes = await self._end_of([self._command(OP_LOAD, address, f"the word at {address:#x}")])
        return int.from_bytes(((lanes >> (8 * (address & 4))) & 0xFFFFFFFF).to_bytes(4, "little"), "big")

    async def fence(self) -> None:
        """Drain the write-combining buffers."""
        async with self._cpu:
            await self._end_of([self._command(OP_FENCE, 0, "its write-combining buffers to drain")])

    def _command(
        self, op: int, address: int, why: str, size: int = 0, combine: bool = False, words: tuple[int, ...] = ()
    ) -> Future[int]:
        self._ticket += 1
        future: Future[int] = Future(self._kernel, why)
        self._pending[self._ticket] = future
        self._give(self._unit, op, address, size | (COMBINE if combine else 0) | self._ticket << 32, *words)
        return future

    async def _end_of(self, commands: Sequence[Future[int]]) -> int:
        """Wait for commands, on the CPU; what the last one brought."""
        started = self._kernel.now
        value = 0
        for future in commands:
            value = await future
        self._cpu.busy_ps += self._kernel.now - started
        return value


def _check_word(address: int) -> None:
    if address % 4:
        raise ValueError(f"programmed I/O moves whole words: address {address:#x}")
