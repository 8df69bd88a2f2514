"""Event-driven polling loop: no cost while nothing changes, and hits at the same time as a spinning loop.

The loop executes its steps in turn; step i takes `costs[i]`, at the end of which it samples its word. While no step
holds, the loop is suspended. When a watched word changes, the next sample time of its step is computed, and the word is
sampled then (readings A6).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol

from pymodels.host.computing import Computation
from pymodels.kernel import Future, Kernel
from pymodels.machine.memory import MachineError, Memory


class WatchShape(Protocol):
    """Required attributes of a polling-loop step; `firmware.verbs.Watch` has them."""

    @property
    def address(self) -> int:
        """Byte address, or register offset."""

    @property
    def expect(self) -> int:
        """Value with which the step does not hit."""

    @property
    def path(self) -> str:
        """Name of the path that the step costs."""

    @property
    def mask(self) -> int:
        """Bits that are compared."""

    @property
    def register(self) -> bool:
        """True for a special register."""


class Look(NamedTuple):
    """Step of a polling loop: memory address or register offset, expected value, mask, and duration in picoseconds."""

    address: int
    expect: int
    mask: int
    register: bool
    cost: int


class CpuTime:
    """Time account of a processor. Claims are served in order; the computation started last uses the time between
    claims.
    """

    __slots__ = ("computations", "free_at", "kernel", "used")

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.free_at = 0
        self.used = 0
        self.computations: list[Computation] = []

    @property
    def used_now(self) -> int:
        """Time used so far, including that of the active computation."""
        return self.used + (self.computations[-1].had(self.kernel.now) if self.computations else 0)

    @property
    def taken_now(self) -> int:
        """Time for which the processor was busy so far, without the future part of claims."""
        return self.used_now - max(0, self.free_at - self.kernel.now)

    def claim(self, duration: int) -> int:
        """Reserve the processor for `duration` ps as soon as it is free, and return the end time."""
        now, free = self.kernel.now, self.free_at
        begin = now if now > free else free
        self.free_at = end = begin + duration
        self.used += duration
        if self.computations:
            self.used += self.computations[-1].give_way(begin)
            self.computations[-1].go_on(end)
        return end

    def begin(self, computation: Computation) -> None:
        """Start a computation, which uses the processor between claims and interrupts computations started earlier."""
        now = max(self.kernel.now, self.free_at)
        if self.computations:
            self.used += self.computations[-1].give_way(now)
        self.computations.append(computation)
        computation.go_on(now)

    def end(self, computation: Computation) -> None:
        """End a finished or stopped computation."""
        last = computation is self.computations[-1]
        self.computations.remove(computation)
        if last:
            now = max(self.kernel.now, self.free_at)
            self.used += computation.give_way(now)
            if self.computations:
                self.computations[-1].go_on(now)


class Spin:
    """Polling loop over words of `memory` and special registers (`peek`)."""

    def __init__(
        self,
        cpu: CpuTime,
        memory: Memory,
        looks: Sequence[Look],
        peek: Callable[[int], int] | None = None,
        *,
        why: str,
        shared: bool = False,
    ) -> None:
        """Create a loop that is not running.

        Args:
            cpu: Processor that executes the loop.
            memory: Memory with the watched words.
            looks: The steps.
            peek: Function that reads a special register.
            why: Name of the loop in error messages and hang reports.
            shared: True if other software uses the processor while the loop spins. The loop then stops meanwhile, and
                claims the processor for the remainder of the step that hits.
        """
        if not looks:
            raise MachineError(f"{why}: a polling loop without steps would never end")
        self._kernel = cpu.kernel
        self._cpu = cpu
        self._memory = memory
        self._peek = peek
        self._why = why
        self._shared = shared
        self._all = list(looks)
        self._lay_out(len(looks))
        self._last = len(looks) - 1
        self._first = 0
        self._origin = 0
        self._due: int | None = None
        self._rest = 0
        """On a shared processor, the remainder of the step that hits."""
        self._due_step = 0
        self._generation = 0
        self._hit: Future[int] | None = None

    def _lay_out(self, count: int) -> None:
        """Restrict the loop to its first `count` steps."""
        self._looks = looks = self._all[:count]
        self._ends = list(accumulate(look.cost for look in looks))
        self._round = max(1, self._ends[-1])
        self._words: dict[int, list[int]] = {}
        for step, look in enumerate(looks):
            if not look.register:
                self._words.setdefault(look.address, []).append(step)
        self._registers = [step for step, look in enumerate(looks) if look.register]

    def expect(self, step: int, value: int) -> None:
        """Change the expected value of a step."""
        self._all[step] = self._all[step]._replace(expect=value)
        if step < len(self._looks):
            self._looks[step] = self._all[step]
            if self._hit is not None:
                self._consider(step)

    def aim(self, step: int, address: int) -> None:
        """Change the address of a step, from the next run on."""
        self._all[step] = self._all[step]._replace(address=address)
        self._lay_out(len(self._looks))

    def first(self, count: int) -> None:
        """Restrict the loop to its first `count` steps, from the next run on."""
        if count != len(self._looks):
            self._lay_out(count)

    async def run(self, start: int | None = None) -> int:
        """Spin until a step hits, and return its index. `start` is the first step (default: the one after the last
        hit).
        """
        if self._hit is not None:
            raise MachineError(f"{self._why}: the loop runs already")
        count = len(self._looks)
        self._first = (self._last + 1) % count if start is None else start
        self._origin = self._clock if self._shared else max(self._kernel.now, self._cpu.free_at)
        self._due = None
        hit: Future[int] = Future(self._kernel, self._why)
        self._hit = hit
        self._memory.spins.append(self)
        seen: dict[int, int] = {}
        for i in range(count):
            step = (self._first + i) % count
            if self._holds(step, seen):  # the first that holds is the first that will be sampled
                self._schedule(step)
                break
        step = await hit
        if self._shared:
            await self._kernel.sleep_until(self._cpu.claim(self._rest), self._why)
        return step

    def end(self) -> None:
        """Make the next sampled step hit."""
        for step, look in enumerate(self._looks):
            self.expect(step, ~self._memory.load(look.address))

    def stop(self) -> None:
        """Stop sampling at once, because the processor stops."""
        self._hit = None

    def memory_changed(self, address: int, size: int) -> None:
        """Handle a write of memory."""
        words = self._words
        if size <= 4 * len(words):
            for word in range(address & ~3, address + size, 4):
                for step in words.get(word, ()):
                    self._consider(step)
        else:
            for word, steps in words.items():
                if address - 4 < word < address + size:
                    for step in steps:
                        self._consider(step)

    def registers_changed(self) -> None:
        """Handle a change of ISR."""
        seen: dict[int, int] = {}
        for step in self._registers:
            if self._holds(step, seen):
                self._schedule(step)

    def _holds(self, step: int, seen: dict[int, int]) -> bool:
        """Return True if a step would hit now. `seen` caches register values, so that each is read once."""
        address, expect, mask, register, _ = self._looks[step]
        if not register or self._peek is None:
            value = self._memory.load(address)
        elif address in seen:
            value = seen[address]
        else:
            value = seen[address] = self._peek(address)
        return (value ^ expect) & mask != 0

    @property
    def _clock(self) -> int:
        """Time base of the loop, which stops on a shared processor while other software uses it."""
        return self._kernel.now - self._cpu.taken_now if self._shared else self._kernel.now

    def _sample_time(self, step: int) -> int:
        """Return the next time, in the time base of the loop, at which it samples `step`."""
        offset = self._ends[step] - self._ends[self._first] + self._looks[self._first].cost
        first = self._origin + (offset if step >= self._first else offset + self._round)
        missed = self._clock - first
        return first if missed <= 0 else first + -(-missed // self._round) * self._round

    def _consider(self, step: int) -> None:
        """Schedule the sample of a step if it holds."""
        if self._holds(step, {}):
            self._schedule(step)

    def _schedule(self, step: int) -> None:
        """Schedule the sample of a step that holds, unless an earlier sample is scheduled."""
        time = self._sample_time(step)
        if self._shared:
            self._rest = time - self._clock
            self._found(step)
        elif self._due is None or time < self._due:
            self._due, self._due_step = time, step
            self._generation += 1
            generation = self._generation
            self._kernel.at(time, lambda: self._sample(generation))

    def _sample(self, generation: int) -> None:
        if generation != self._generation or self._hit is None:
            return
        step = self._due_step
        if not self._holds(step, {}):  # it held only for a moment, while the loop sampled another step
            self._due = None
            for other in range(len(self._looks)):
                self._consider(other)
            return
        self._cpu.free_at = max(self._cpu.free_at, self._kernel.now)
        self._found(step)

    def _found(self, step: int) -> None:
        """End the loop with a hit."""
        hit, self._hit, self._last = self._hit, None, step
        if hit is not None:
            self._memory.spins.remove(self)
            hit.set(step)
