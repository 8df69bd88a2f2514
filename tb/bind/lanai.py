"""The `Nic` verbs on the RTL: SRAM as shared memory, registers and work through the processor's command ring."""

from __future__ import annotations

import struct
from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any

from firmware.verbs import Signal, Watch
from pymodels.costs.table import NicProcessor, PathTable, nic_charge
from pymodels.kernel import Event, Future, Kernel, Task
from pymodels.trace import Part, unit
from tb.sim.doorway import LOOPS, STEP_WORDS, STEPS, Doorway

OP_WORK, OP_POLL, OP_READ, OP_WRITE = 1, 2, 3, 4
EVENT_WILD = 2
WORD = struct.Struct(">I")


class RtlNic:
    """One LANai. Commands are numbered; the event that ends one fulfils the future of its number."""

    def __init__(self, node: int, kernel: Kernel, doorway: Doorway, sram: memoryview, processor: NicProcessor, paths: PathNumbers) -> None:
        self.node = node
        self.sram = sram
        self.sram_bytes = len(sram)
        self.unit = unit(node, Part.NIC_CPU)
        self.wild: list[str] = []
        self._kernel = kernel
        self._doorway = doorway
        self._give = doorway.give
        self._table: PathTable | None = None
        self._processor = processor
        self._paths = paths
        self._charges: dict[tuple[str, int], tuple[int, int, int]] = {}
        self._pending: dict[int, Future[int]] = {}
        self._ticket = 0
        self._loops = 0
        self._steps = doorway.steps(self.unit)
        doorway.on_event(self.unit, self._on_event)

    @property
    def table(self) -> PathTable:
        """The compiled costs of the message layer that runs here. Raises RuntimeError before one does."""
        if self._table is None:
            raise RuntimeError(f"NIC {self.node}: no message layer was started, so no instruction has a cost")
        return self._table

    @table.setter
    def table(self, table: PathTable) -> None:
        self._table = table
        self._charges.clear()

    def _on_event(self, time: int, code: int, a: int, b: int) -> None:
        if code == EVENT_WILD:
            self.wild.append(f"node {self.node}: SRAM {'write' if b else 'read'} at {a:#x}, beyond its {self.sram_bytes} bytes, at {time / 1e6:.3f} us")
        else:
            self._pending.pop(a).set(b)

    @property
    def now(self) -> int:
        return self._kernel.now

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str) -> Task:
        return self._kernel.spawn(coroutine, f"NIC {self.node}: {name}")

    def event(self, why: str) -> Signal:
        return Event(self._kernel, why)

    def sleep(self, duration_ps: int, why: str = "time") -> Awaitable[None]:
        return self._kernel.sleep(duration_ps, why)

    def trace(self, event: int, packet: int = 0, argument: int = 0) -> None:
        self._doorway.lib.san_trace(self._kernel.now, self.unit, event, packet, argument, 0)

    def load(self, address: int) -> int:
        return WORD.unpack_from(self.sram, address)[0]  # type: ignore[no-any-return]

    def store(self, address: int, value: int) -> None:
        WORD.pack_into(self.sram, address, value)

    def load_words(self, address: int, count: int) -> tuple[int, ...]:
        return struct.unpack_from(f">{count}I", self.sram, address)

    def store_words(self, address: int, words: Sequence[int]) -> None:
        struct.pack_into(f">{len(words)}I", self.sram, address, *words)

    def load_bytes(self, address: int, count: int) -> bytes:
        return bytes(self.sram[address : address + count])

    def write(self, register: int, value: int) -> None:
        self._give(self.unit, OP_WRITE, register, value & 0xFFFFFFFF)

    def _ticketed(self, why: str) -> tuple[int, Future[int]]:
        self._ticket += 1
        future: Future[int] = Future(self._kernel, why)
        self._pending[self._ticket] = future
        return self._ticket, future

    async def read(self, register: int) -> int:
        ticket, future = self._ticketed(f"register {register:#x}")
        self._give(self.unit, OP_READ, register, f=ticket)
        return await future & 0xFFFFFFFF

    async def work(self, path: str, times: int = 1) -> None:
        charge = self._charges.get((path, times))
        if charge is None:
            cost = nic_charge(self.table.cost(path), self._processor, times)
            charge = self._charges[path, times] = (cost.clocks, min(cost.accesses, cost.clocks), self._paths.number(self.table.name, path))
        ticket, future = self._ticketed(path)
        self._give(self.unit, OP_WORK, *charge, f=ticket)
        await future

    def poll_loop(self, steps: Sequence[Watch]) -> RtlPollLoop:
        loop = self._loops
        self._loops += 1
        if loop >= LOOPS or len(steps) > STEPS:
            raise ValueError(f"a NIC program has at most {LOOPS} polling loops of {STEPS} steps (steps: {len(steps)})")
        at = loop * STEPS * STEP_WORDS
        for step in steps:
            cost = nic_charge(self.table.cost(step.path), self._processor)
            clocks = max(cost.clocks, 1)
            self._steps[at : at + STEP_WORDS] = memoryview(struct.pack("6I", step.address, step.expect, step.mask, int(step.register), clocks, min(cost.accesses, clocks))).cast("I")
            at += STEP_WORDS
        return RtlPollLoop(self, loop, len(steps))


class RtlPollLoop:
    """A polling loop in the processor port model."""

    def __init__(self, nic: RtlNic, loop: int, count: int) -> None:
        self._nic = nic
        self._loop = loop
        self._count = count
        self._next = 0
        self._base = loop * STEPS * STEP_WORDS + 1

    def expect(self, step: int, value: int) -> None:
        self._nic._steps[self._base + step * STEP_WORDS] = value & 0xFFFFFFFF

    async def run(self, start: int | None = None) -> int:
        nic = self._nic
        ticket, future = nic._ticketed("its polling loop to see something")
        nic._give(nic.unit, OP_POLL, self._loop, self._count, self._next if start is None else start, f=ticket)
        step = await future
        self._next = (step + 1) % self._count
        return step


class PathNumbers:
    """Numbers the paths of a run, so that the trace carries a word and the results name it."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, table: str, path: str) -> int:
        """The number of a path, a new one at first use."""
        name = f"{table}:{path}"
        if name not in self._numbers:
            self._numbers[name] = len(self.names)
            self.names.append(name)
        return self._numbers[name]
