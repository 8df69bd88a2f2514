"""A host's one CPU, and the loads and stores that it sends to the bus."""

from __future__ import annotations

import struct
import sys
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from pymodels.host.computing import Computation
from pymodels.host.polling import UnansweredError
from pymodels.kernel import Future, Kernel
from tb.sim.exchange import Commands

OP_STORE, OP_COPY, OP_LOAD, OP_FENCE, OP_SPIN = 1, 2, 3, 4, 5
LINE = 32
"""Bytes that one command carries."""
COMBINE, QUIET = 1 << 24, 1 << 25
"""Flags beside a store's size: write-combined; ends without an event."""
MASK = 0xFFFFFFFF
BATCH = 64
"""Commands that are given before the last is waited for; the ring of a unit holds 256."""
STORES = "the bridge to take its stores"


class Cpu:
    """One task has it at a time, from `await take()` to `leave()`. A free CPU is taken at once; otherwise tasks get it
    in the order in which they asked. A computation has it while no task does, the last that began first.
    """

    compiled = "CpuMethods"
    """Type of tb/sim/twin/doorway_python.c with the hot methods in C, for the subclass `CpuC` (`tb.sim.compiled`)."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._taken = False
        self._held = self._since = 0
        self._polls = self._polled = self._polls_since = 0
        self._queue: deque[Future[None]] = deque()
        self._computations: list[Computation] = []
        self._computes = self._displaced = False
        """The last computation has the CPU; or waits until tasks leave it."""
        self._at_once = kernel.future()
        self._at_once.set(None)
        self.wanted: Callable[[], None] | None = None
        """Called when somebody else wants it, while a loop of whoever has it is executed by hardware."""

    def want(self) -> None:
        """Somebody wants it, or something that the task that has it must look at has changed."""
        if self.wanted:
            self.wanted()

    @property
    def awaited(self) -> bool:
        """Somebody gets it when the task that has it leaves."""
        return bool(self._queue) or self._displaced

    @property
    def held_ps(self) -> int:
        """How long it was taken so far."""
        return self._held + (self._kernel.now - self._since if self._taken else 0)

    @property
    def in_use(self) -> bool:
        """A task or a computation has it."""
        return self._taken

    @property
    def busy_ps(self) -> int:
        """CPU time used so far: taken, or free but for threads that poll."""
        return self.held_ps + self._polled + (self._free_since_polls() if self._polls else 0)

    def begin_poll(self) -> None:
        """A thread polls from now on, whenever nobody else has the CPU."""
        if not self._polls:
            self._polls_since = self._kernel.now - self.held_ps
        self._polls += 1

    def end_poll(self) -> None:
        """It does not any more."""
        self._polls -= 1
        if not self._polls:
            self._polled += self._free_since_polls()

    def _free_since_polls(self) -> int:
        return self._kernel.now - self.held_ps - self._polls_since

    def take(self) -> Future[None]:
        """The future of having it: fulfilled already when it is free."""
        if self._computes:
            return self._displace()
        if self._taken:
            turn = self._kernel.future("the CPU")
            self._queue.append(turn)
            self.want()
            return turn
        self._taken = True
        self._since = self._kernel.now
        return self._at_once

    def leave(self) -> None:
        """Let the next task have it."""
        now = self._kernel.now
        self._held += now - self._since
        self._since = now
        if self._queue:
            self._queue.popleft().set(None)
        elif self._displaced:
            self._go_on()
        else:
            self._taken = False

    def begin(self, computation: Computation) -> None:
        """It has the CPU whenever no task does, and none that began later."""
        if self._computes:
            self._computations[-1].give_way(self._kernel.now)
        self._computations.append(computation)
        if self._taken and not self._computes:
            self._displaced = True
            self.want()
            return
        if not self._taken:
            self._taken = True
            self._since = self._kernel.now
        self._go_on()

    def end(self, computation: Computation) -> None:
        """It is over, or stopped."""
        has_it = self._computes and computation is self._computations[-1]
        self._computations.remove(computation)
        if has_it:
            computation.give_way(self._kernel.now)
            self._computes, self._displaced = False, bool(self._computations)
            self.leave()
        else:
            self._displaced = self._displaced and bool(self._computations)

    def _go_on(self) -> None:
        """The last computation has the CPU."""
        self._computes, self._displaced = True, False
        self._computations[-1].go_on(self._kernel.now)

    def _displace(self) -> Future[None]:
        """A task takes the CPU from the computation that has it."""
        self._computes, self._displaced = False, True
        self._computations[-1].give_way(self._kernel.now)
        return self._at_once

    async def run(self, duration_ps: int) -> None:
        """Execute instructions for so long."""
        await self.take()
        await self._kernel.sleep(duration_ps, "its own instructions")
        self.leave()

    async def command(self, commands: Commands, why: str, op: int, a: int, b: int = 0, c: bytes = b"", /) -> int:
        """Give a command and do nothing else until it ends; what it brought."""
        await self.take()
        value: int = await commands.ask(why, op, a, b, c)
        self.leave()
        return value


class CpuPort:
    """Programmed I/O: commands to the CPU's port of the bridge, which end in the order in which they were given."""

    def __init__(
        self, commands: Commands, cpu: Cpu, who: str, kernel: Kernel, want: Callable[[int], int], last: memoryview
    ) -> None:
        """`commands` of the bridge, with room for LINE bytes each. `want(now)` tells it that somebody else wants the
        CPU: 0, and a loop ends behind its load; else it is over, its path ends then, and `last` has what was loaded.
        """
        self._commands = commands
        self._cpu = cpu
        self._who = who
        self._kernel, self._want, self._last = kernel, want, last
        self._spun: Future[int]
        self.unanswered = False
        """No card has answered the load that ends now."""

    def store(self, address: int, data: bytes, combine: bool) -> Coroutine[Any, Any, Any]:
        """Store whole words; returns when the bridge has taken the last. Raises ValueError for parts of words."""
        size = len(data)
        if address % 4 or size % 4:
            raise ValueError(f"programmed I/O moves whole words: address {address:#x}, {size} bytes")
        flags = COMBINE if combine else 0
        if 0 < size <= LINE:
            return self._cpu.command(self._commands, STORES, OP_STORE, address, size | flags, bytes(data))
        return self._store_lines(address, data, flags)

    async def _store_lines(self, address: int, data: bytes, flags: int) -> None:
        """Store any number of bytes, a command for each line."""
        if not data:
            return
        last, ask = (len(data) - 1) // LINE, self._commands.ask
        await self._cpu.take()
        for line in range(last):
            at, part = address + line * LINE, bytes(data[line * LINE : (line + 1) * LINE])
            if line % BATCH == BATCH - 1:
                await ask(STORES, OP_STORE, at, LINE | flags, part)
            else:
                self._commands.give(OP_STORE, at, LINE | flags | QUIET, part)
        part = bytes(data[last * LINE :])
        await ask(STORES, OP_STORE, address + last * LINE, len(part) | flags, part)
        self._cpu.leave()

    async def copy(self, address: int, source: int, size: int, combine: bool) -> None:
        """Store `size` bytes of host memory, rounded up to whole words. Raises ValueError for parts of words."""
        size = -(-size // 4) * 4
        _check_word(address)
        if size:
            flags = COMBINE if combine else 0
            where = source.to_bytes(8, sys.byteorder)
            await self._cpu.command(self._commands, STORES, OP_COPY, address, size | flags, where)

    async def load(self, address: int) -> int:
        """A big-endian 32-bit word. Raises ValueError for a part of one, UnansweredError where no card is."""
        _check_word(address)
        lanes = await self._cpu.command(self._commands, f"the word at {address:#x}", OP_LOAD, address)
        return self._word(address, lanes)

    def _word(self, address: int, lanes: int) -> int:
        if self.unanswered:
            self.unanswered = False
            raise UnansweredError(self._who, address)
        return int.from_bytes(((lanes >> (8 * (address & 4))) & 0xFFFFFFFF).to_bytes(4, "little"), "big")

    async def spin(self, address: int, compared: int, path: int, duration: int, processor: int) -> tuple[int, bool]:
        """Turns of a loop that Python does not see: a word is loaded, and a path of `duration` ps and a number executed
        behind it, as long as the word has the bits of `compared` (mask << 32 | value) and nobody else wants the CPU. It
        ends too when the card's `processor` and all else are quiet, since turns can be computed then. The word that
        was loaded last, and whether the path behind it is over. Raises as `load`.
        """
        _check_word(address)
        cpu, kernel, ends = self._cpu, self._kernel, 0
        await cpu.take()
        over = self._spun = kernel.future(
            f"the word at {address:#x}, which it polls, to change from {compared & MASK:#x}"
        )

        def wanted() -> None:
            nonlocal ends
            if not ends and not over.done and (ends := self._want(kernel.now)):
                kernel.at(ends, lambda: over.set(self._last[0]))

        words = struct.pack("=Qq", compared, duration)
        self._commands.give(OP_SPIN, address, processor << 32 | path, words)
        cpu.wanted = wanted
        if cpu.awaited:
            wanted()
        lanes = await over
        cpu.wanted = None
        cpu.leave()
        return self._word(address, lanes), bool(ends)

    def spun(self, lanes: int) -> None:
        """The turns are over: what the last one has loaded."""
        self._spun.set(lanes)

    async def fence(self) -> None:
        """Drain the write-combining buffers."""
        await self._cpu.command(self._commands, "its write-combining buffers to drain", OP_FENCE, 0)


def _check_word(address: int) -> None:
    if address % 4:
        raise ValueError(f"programmed I/O moves whole words: address {address:#x}")
