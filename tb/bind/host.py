"""The `Host` verbs on the RTL: host memory as shared memory, stores and loads through the bridge, one CPU."""

from __future__ import annotations

import random
import struct
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from firmware.verbs import Signal
from pymodels.costs.table import HostProcessor, PathTable, host_clocks
from pymodels.kernel import Event, Future, Kernel, Task
from pymodels.trace import Part, TraceEvent, unit
from tb.bind.lanai import PathNumbers
from tb.sim.doorway import Doorway

OP_STORE, OP_COPY, OP_LOAD, OP_FENCE = 1, 2, 3, 4
EVENT_WATCH, EVENT_WILD, EVENT_TAKEN, EVENT_LOADED, EVENT_INTERRUPT = 1, 2, 32, 33, 34
LINE = 32
COMBINE = 1 << 24
NIC_BASE = 0xE0000000


@dataclass(frozen=True)
class HostTiming:
    """A host's own times, from its profile."""

    clock_ps: float
    kernel_entry_ps: int
    interrupt_ps: tuple[int, int]
    """Shortest and longest interrupt latency."""
    miss_ps: int
    """A polled word that a DMA just wrote must be fetched from memory again."""
    processor: HostProcessor


@dataclass(frozen=True)
class RtlBuffer:
    """Pinned contiguous host memory."""

    address: int
    size: int
    view: memoryview


class RtlHost:
    """One host. All its tasks share one CPU, in the order in which they ask for it."""

    def __init__(
        self, node: int, name: str, kernel: Kernel, doorway: Doorway, memory: memoryview, memory_number: int, timing: HostTiming, paths: PathNumbers, seed: int
    ) -> None:
        self.node = node
        self.name = name
        self.nic_base = NIC_BASE
        self.memory = memory
        self.unit = unit(node, Part.HOST_CPU)
        self.wild: list[str] = []
        self.busy_ps = 0
        """CPU time charged so far."""
        self._memory_number = memory_number
        self._kernel = kernel
        self._doorway = doorway
        self._give = doorway.give
        self._table: PathTable | None = None
        self._timing = timing
        self._paths = paths
        self._spends: dict[tuple[str, int], tuple[int, int]] = {}
        self._pending: dict[int, Future[int]] = {}
        self._ticket = 0
        self._next_free = 0x100000   # the first MB belongs to the kernel (ours)
        self._cpu_taken = False
        self._cpu_queue: deque[Future[None]] = deque()
        self._slots: dict[int, int] = {}
        self._slot_waits: dict[int, Future[int]] = {}
        self._armed = doorway.armed(memory_number)
        self._random = random.Random(f"interrupts {seed} {node}")
        self._service: Callable[[], Coroutine[Any, Any, None]] | None = None
        doorway.on_event(self.unit, self._on_event)

    @property
    def table(self) -> PathTable:
        """The compiled costs of the message layer that runs here. Raises RuntimeError before one does."""
        if self._table is None:
            raise RuntimeError(f"{self.name}: no message layer was started, so no instruction has a cost")
        return self._table

    @table.setter
    def table(self, table: PathTable) -> None:
        self._table = table
        self._spends.clear()

    def _on_event(self, time: int, code: int, a: int, b: int) -> None:
        if code == EVENT_WATCH:
            waiter = self._slot_waits.pop(a, None)
            if waiter is not None and not waiter.done:
                waiter.set(time)
        elif code == EVENT_WILD:
            self.wild.append(f"{self.name}: {'write' if b else 'read'} of host memory at {a:#x}, beyond its {len(self.memory)} bytes, at {time / 1e6:.3f} us")
        elif code == EVENT_INTERRUPT:
            self._kernel.spawn(self._interrupt(), f"host {self.name}: interrupt")
        else:
            self._pending.pop(a).set(b)

    async def _interrupt(self) -> None:
        await self._kernel.sleep(self._random.randint(*self._timing.interrupt_ps), "interrupt latency")
        if self._service is not None:
            await self._service()

    @property
    def now(self) -> int:
        return self._kernel.now

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str) -> Task:
        return self._kernel.spawn(coroutine, f"host {self.name}: {name}")

    def event(self, why: str) -> Signal:
        return Event(self._kernel, why)

    def sleep(self, duration_ps: int, why: str = "time") -> Awaitable[None]:
        return self._kernel.sleep(duration_ps, why)

    def trace(self, event: int, packet: int = 0, argument: int = 0) -> None:
        self._doorway.lib.san_trace(self._kernel.now, self.unit, event, packet, argument, 0)

    def allocate(self, size: int, align: int = 4096) -> RtlBuffer:
        address = -(-self._next_free // align) * align
        if size < 0 or address + size > len(self.memory):
            raise MemoryError(f"{self.name}: {size} bytes asked, {max(len(self.memory) - address, 0)} left of {len(self.memory)} (SET host.memory_bytes=... gives more)")
        self._next_free = address + size
        return RtlBuffer(address, size, self.memory[address : address + size])

    def load_words(self, address: int, count: int) -> tuple[int, ...]:
        return struct.unpack_from(f">{count}I", self.memory, address)

    def store_words(self, address: int, words: Sequence[int]) -> None:
        struct.pack_into(f">{len(words)}I", self.memory, address, *words)

    def load_bytes(self, address: int, count: int) -> bytes:
        return bytes(self.memory[address : address + count])

    def store_bytes(self, address: int, data: bytes | memoryview) -> None:
        self.memory[address : address + len(data)] = data

    # The one CPU: taken at once when free (the common case costs nothing), else in order.
    async def _take_cpu(self) -> None:
        if self._cpu_taken:
            turn: Future[None] = Future(self._kernel, "the CPU")
            self._cpu_queue.append(turn)
            await turn
        self._cpu_taken = True

    def _leave_cpu(self) -> None:
        if self._cpu_queue:
            self._cpu_queue.popleft().set(None)
        else:
            self._cpu_taken = False

    async def _use(self, duration_ps: int) -> None:
        await self._take_cpu()
        try:
            self.busy_ps += duration_ps
            await self._kernel.sleep(duration_ps, "its own instructions")
        finally:
            self._leave_cpu()

    async def spend(self, path: str, times: int = 1) -> None:
        known = self._spends.get((path, times))
        if known is None:
            clocks = host_clocks(self.table.cost(path), self._timing.processor, times)
            known = self._spends[path, times] = (round(clocks * self._timing.clock_ps), self._paths.number(self.table.name, path))
        duration, number = known
        await self._use(duration)
        # Appended at the end, so the start stands `duration` earlier: readers sort by time.
        trace, now = self._doorway.lib.san_trace, self._kernel.now
        trace(now - duration, self.unit, TraceEvent.SPEND_START, 0, number, duration)
        trace(now, self.unit, TraceEvent.SPEND_END, 0, number, duration)

    def _command(self, op: int, address: int, size: int, combine: bool, why: str, words: tuple[int, ...] = ()) -> Future[int]:
        self._ticket += 1
        future: Future[int] = Future(self._kernel, why)
        self._pending[self._ticket] = future
        self._give(self.unit, op, address, size | (COMBINE if combine else 0) | self._ticket << 32, *words)
        return future

    async def _on_cpu(self, futures: Sequence[Future[int]]) -> int:
        started = self._kernel.now
        value = 0
        for future in futures:
            value = await future
        self.busy_ps += self._kernel.now - started
        return value

    async def pio_write(self, address: int, data: bytes, combine: bool = False) -> None:
        if address % 4 or len(data) % 4:
            raise ValueError(f"programmed I/O moves whole words: address {address:#x}, {len(data)} bytes")
        if not data:
            return
        await self._take_cpu()
        try:
            taken = []
            for at in range(0, len(data), LINE):
                part = bytes(data[at : at + LINE])
                words = struct.unpack("4q", part.ljust(LINE, b"\0"))
                taken.append(self._command(OP_STORE, address + at, len(part), combine, "the bridge to take its stores", words))
                if len(taken) == 64:
                    await self._on_cpu(taken)
                    taken = []
            await self._on_cpu(taken)
        finally:
            self._leave_cpu()

    async def pio_copy(self, address: int, source: int, size: int, combine: bool = True) -> None:
        size = -(-size // 4) * 4
        if address % 4:
            raise ValueError(f"programmed I/O moves whole words: address {address:#x}")
        if not size:
            return
        await self._take_cpu()
        try:
            await self._on_cpu([self._command(OP_COPY, address, size, combine, "the bridge to take its stores", (source,))])
        finally:
            self._leave_cpu()

    async def pio_read(self, address: int) -> int:
        if address % 4:
            raise ValueError(f"programmed I/O moves whole words: address {address:#x}")
        await self._take_cpu()
        try:
            lanes = await self._on_cpu([self._command(OP_LOAD, address, 0, False, f"the word at {address:#x}")])
        finally:
            self._leave_cpu()
        return int.from_bytes(((lanes >> (8 * (address & 4))) & 0xFFFFFFFF).to_bytes(4, "little"), "big")

    async def fence(self) -> None:
        """Drain the write-combining buffers (a serialising instruction)."""
        await self._take_cpu()
        try:
            await self._on_cpu([self._command(OP_FENCE, 0, 0, False, "its write-combining buffers to drain")])
        finally:
            self._leave_cpu()

    def _look_ps(self, path: str) -> int:
        known = self._spends.get((path, 1))
        if known is None:
            known = self._spends[path, 1] = (
                max(1, round(host_clocks(self.table.cost(path), self._timing.processor) * self._timing.clock_ps)), self._paths.number(self.table.name, path))
        return known[0]

    async def poll(self, watches: Sequence[tuple[int, int]], path: str) -> int:
        look, count = self._look_ps(path), len(watches)
        started = self._kernel.now
        hit = self._first_difference(watches)
        if hit is not None:   # seen in the first round
            seen = started + (hit + 1) * look
        else:
            while hit is None:
                written = await self._any_change([address for address, _ in watches])
                hit = self._first_difference(watches)
            rounds = max(0, -(-(written - started - (hit + 1) * look) // (count * look)))   # the loop's phase is kept
            seen = started + (rounds * count + hit + 1) * look + self._timing.miss_ps
        await self._kernel.sleep_until(seen, "its own instructions")
        self.busy_ps += self._kernel.now - started
        return hit

    def _first_difference(self, watches: Sequence[tuple[int, int]]) -> int | None:
        memory = self.memory
        for i, (address, old) in enumerate(watches):
            if int.from_bytes(memory[address : address + 4], "big") != old:
                return i
        return None

    async def _any_change(self, addresses: Sequence[int]) -> int:
        """Wait until one of the words is written with a new value; the time of the write."""
        future: Future[int] = Future(self._kernel, "a word of host memory to change")
        slots = []
        for address in addresses:
            slot = self._slots.get(address)
            if slot is None:
                slot = self._slots[address] = self._doorway.watch(self._memory_number, address)
            if slot in self._slot_waits:
                raise RuntimeError(f"{self.name}: two tasks poll the word at {address:#x}")
            self._slot_waits[slot] = future
            self._armed[slot] = 1
            slots.append(slot)
        time = await future
        for slot in slots:
            self._armed[slot] = 0
            self._slot_waits.pop(slot, None)
        return time

    async def syscall(self) -> None:
        await self._use(self._timing.kernel_entry_ps)

    def on_interrupt(self, handler: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._service = handler
