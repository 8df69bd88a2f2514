"""CPU of a host, and its port for loads and stores on the bus."""

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
"""Maximum number of payload bytes of a command."""
COMBINE, QUIET = 1 << 24, 1 << 25
"""Flags in a store's size word: write-combined; ends without an event."""
MASK = 0xFFFFFFFF
BATCH = 64
"""Number of commands given without waiting for the last; a unit's ring holds 256."""
STORES = "the bridge to take its stores"


class Cpu:
    """CPU of a host. A task owns it from `await take()` to `leave()`.

    A free CPU is granted at once; waiting tasks get it in the order of their requests. A computation owns it while no
    task does; among several computations, the latest owns it.
    """

    compiled = "CpuMethods"
    """C type of tb/sim/twin/doorway_python.c with the hot methods of the subclass `CpuC` (`tb.sim.compiled`)."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._taken = False
        self._held = self._since = 0
        self._polls = self._polled = self._polls_since = 0
        self._queue: deque[Future[None]] = deque()
        self._computations: list[Computation] = []
        self._computes = self._displaced = False
        """True while the last computation owns the CPU; true while it waits for tasks to leave."""
        self._at_once = kernel.future()
        self._at_once.set(None)
        self.wanted: Callable[[], None] | None = None
        """Function called when another task requests the CPU while hardware executes its owner's loop."""

    def want(self) -> None:
        """Report a request for the CPU, or a change that the owner's loop must handle."""
        if self.wanted:
            self.wanted()

    @property
    def awaited(self) -> bool:
        """True if a task or computation waits for the CPU."""
        return bool(self._queue) or self._displaced

    @property
    def held_ps(self) -> int:
        """Time in ps that the CPU was owned so far."""
        return self._held + (self._kernel.now - self._since if self._taken else 0)

    @property
    def in_use(self) -> bool:
        """True if a task or a computation owns the CPU."""
        return self._taken

    @property
    def busy_ps(self) -> int:
        """CPU time used so far in ps: the CPU was owned, or free while a thread polled."""
        return self.held_ps + self._polled + (self._free_since_polls() if self._polls else 0)

    def begin_poll(self) -> None:
        """Count free CPU time as polling time of a thread from now on."""
        if not self._polls:
            self._polls_since = self._kernel.now - self.held_ps
        self._polls += 1

    def end_poll(self) -> None:
        """End the polling of one thread."""
        self._polls -= 1
        if not self._polls:
            self._polled += self._free_since_polls()

    def _free_since_polls(self) -> int:
        return self._kernel.now - self.held_ps - self._polls_since

    def take(self) -> Future[None]:
        """Return the future of owning the CPU, already done if the CPU is free."""
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
        """Release the CPU to the next waiting task or computation."""
        now = self._kernel.now
        self._held += now - self._since
        self._since = now
        if self._queue:
            self._queue.popleft().set(None)
        elif self._displaced:
            self._go_on()
        else:
            self._taken = False

    def release(self) -> None:
        """Take the CPU from its owner and forget all waiting tasks, which were stopped."""
        if self._taken:
            self._queue.clear()
            self._computations.clear()
            self._computes = self._displaced = False
            self.leave()

    def begin(self, computation: Computation) -> None:
        """Add a computation, which owns the CPU whenever no task and no later computation does."""
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
        """Remove a computation that is complete or was stopped."""
        has_it = self._computes and computation is self._computations[-1]
        self._computations.remove(computation)
        if has_it:
            computation.give_way(self._kernel.now)
            self._computes, self._displaced = False, bool(self._computations)
            self.leave()
        else:
            self._displaced = self._displaced and bool(self._computations)

    def _go_on(self) -> None:
        """Give the CPU to the last computation."""
        self._computes, self._displaced = True, False
        self._computations[-1].go_on(self._kernel.now)

    def _displace(self) -> Future[None]:
        """Take the CPU from the running computation for a task."""
        self._computes, self._displaced = False, True
        self._computations[-1].give_way(self._kernel.now)
        return self._at_once

    async def run(self, duration_ps: int) -> None:
        """Occupy the CPU for `duration_ps`."""
        await self.take()
        await self._kernel.sleep(duration_ps, "its own instructions")
        self.leave()

    async def command(self, commands: Commands, why: str, op: int, a: int, b: int = 0, c: bytes = b"", /) -> int:
        """Occupy the CPU with one command until it ends, and return its result."""
        await self.take()
        value: int = await commands.submit(why, op, a, b, c)
        self.leave()
        return value


class CpuPort:
    """Programmed I/O: commands to the bridge's CPU port, which end in order."""

    def __init__(
        self, commands: Commands, cpu: Cpu, who: str, kernel: Kernel, want: Callable[[int], int], last: memoryview
    ) -> None:
        """Bind the port to the bridge's command ring.

        Args:
            commands: Command ring of the bridge, with LINE payload bytes a command.
            cpu: CPU of the host.
            who: Name of the host for messages.
            kernel: Event loop.
            want: Function called with the time when another task requests the CPU during a loop. It returns 0 if the
                loop ends after its load, else the time at which the path ends.
            last: Word loaded last by the loop.
        """
        self._commands = commands
        self._cpu = cpu
        self._who = who
        self._kernel, self._want, self._last = kernel, want, last
        self._spun: Future[int]
        self.unanswered = False
        """True if no card has responded to the current load."""

    def store(self, address: int, data: bytes, combine: bool) -> Coroutine[Any, Any, Any]:
        """Store whole words and return when the bridge has accepted the last. Raises ValueError for partial words."""
        size = len(data)
        if address % 4 or size % 4:
            raise ValueError(f"programmed I/O moves whole words: address {address:#x}, {size} bytes")
        flags = COMBINE if combine else 0
        if 0 < size <= LINE:
            return self._cpu.command(self._commands, STORES, OP_STORE, address, size | flags, bytes(data))
        return self._store_lines(address, data, flags)

    async def _store_lines(self, address: int, data: bytes, flags: int) -> None:
        """Store any number of bytes, one command a line."""
        if not data:
            return
        last, ask = (len(data) - 1) // LINE, self._commands.submit
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
        """Store `size` bytes of host memory, rounded up to whole words. Raises ValueError for an unaligned address."""
        size = -(-size // 4) * 4
        _check_word(address)
        if size:
            flags = COMBINE if combine else 0
            where = source.to_bytes(8, sys.byteorder)
            await self._cpu.command(self._commands, STORES, OP_COPY, address, size | flags, where)

    async def load(self, address: int) -> int:
        """Return a big-endian 32-bit word.

        Raises ValueError for an unaligned address, UnansweredError if no card responds.
        """
        _check_word(address)
        lanes = await self._cpu.command(self._commands, f"the word at {address:#x}", OP_LOAD, address)
        return self._word(address, lanes)

    def _word(self, address: int, lanes: int) -> int:
        if self.unanswered:
            self.unanswered = False
            raise UnansweredError(self._who, address)
        return int.from_bytes(((lanes >> (8 * (address & 4))) & 0xFFFFFFFF).to_bytes(4, "little"), "big")

    async def spin(self, address: int, compared: int, path: int, duration: int, processor: int) -> tuple[int, bool]:
        """Execute a polling loop in hardware: load a word, then execute a path, until the word changes.

        The loop also ends when another task requests the CPU. It ends, too, when the card's processor and all else are
        quiet, since its turns can be computed then.

        Args:
            address: Address of the polled word.
            compared: Bits for which the loop continues: mask << 32 | value.
            path: Number of the path in the trace.
            duration: Duration of the path in ps.
            processor: Unit of the card's processor.

        Returns:
            The word loaded last, and True if the path after it is complete.

        Raises:
            ValueError: Unaligned address.
            UnansweredError: No card responds.
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
        """End the hardware loop with the data lanes loaded last."""
        self._spun.set(lanes)

    async def fence(self) -> None:
        """Drain the write-combining buffers."""
        await self._cpu.command(self._commands, "its write-combining buffers to drain", OP_FENCE, 0)


def _check_word(address: int) -> None:
    if address % 4:
        raise ValueError(f"programmed I/O moves whole words: address {address:#x}")
