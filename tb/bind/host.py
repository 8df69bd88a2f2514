"""`Host` verbs on the RTL: host memory as shared memory, loads and stores through the bridge, one CPU."""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

from pymodels.cards import CardMap
from pymodels.costs.table import PathTable
from pymodels.errors import SanlabError
from pymodels.hardware.processors import HostProcessor, host_clocks
from pymodels.host import PAGE, Computes, Moves, PollsCards, Processes
from pymodels.host.interrupts import InterruptLine, Routine
from pymodels.host.polling import ALL
from pymodels.kernel import FOREVER, Kernel
from pymodels.messages import HostMessages
from pymodels.trace import Part, TraceEvent, unit
from tb.bind.actor import Actor, PathNumbers, big_endian
from tb.bind.cpu import LINE, Cpu, CpuPort
from tb.bind.watch import WatchedWords
from tb.sim.doorway import Doorway

EVENT_WATCH, EVENT_WILD, EVENT_INTERRUPT, EVENT_UNANSWERED, EVENT_SPUN, EVENT_POWER = 1, 2, 34, 35, 36, 37
"""Event codes of a host's unit."""
ENDS = (32, 33)
"""Event codes that complete a command of the CPU port: store accepted by the bridge, word loaded."""
FIRST_FREE = 0x100000
"""First allocatable address; the first MB of host memory belongs to the kernel (our choice)."""


class WildDmaError(SanlabError):
    """DMA write of a card to memory that no software has allocated; a real host would be corrupted."""


@dataclass(frozen=True)
class HostTiming:
    """Times of a host, from its profile."""

    clock_ps: float
    switch_ps: int
    """Context switch between threads."""
    kernel_entry_ps: int
    overheads_ps: Mapping[str, int]
    """Software costs without a path, by name."""
    interrupt_ps: tuple[int, int]
    """Shortest and longest interrupt latency."""
    miss_ps: int
    """Cache miss of a polled word after a DMA write."""
    processor: HostProcessor
    copy_ps: float
    """Copy time of a byte by memory; the instructions of the copy loop overlap with it."""


@dataclass
class RtlBuffer:
    """Pinned host memory: physical byte address, size in bytes, and a view of the bytes."""

    address: int
    size: int
    view: memoryview


class RtlHost(Processes, Computes, PollsCards, HostMessages, Actor):
    """Host verbs on the RTL. All tasks of a host share one CPU in the order of their requests."""

    copied_bytes = 0
    """Bytes that the CPU has copied from memory to memory."""
    part = Part.HOST_CPU
    """Part of the node whose unit executes the commands."""
    first_free = FIRST_FREE
    """First address that software may allocate."""
    compiled = "HostMethods"
    """C type of tb/sim/twin/doorway_python.c with the hot verbs of the subclass `RtlHostC` (`tb.sim.compiled`)."""

    def __init__(
        self,
        node: int,
        name: str,
        kernel: Kernel,
        doorway: Doorway,
        memory: memoryview,
        memory_number: int,
        card: CardMap,
        timing: HostTiming,
        paths: PathNumbers,
        seed: int,
    ) -> None:
        super().__init__(f"host {name}", unit(node, self.part), kernel, doorway)
        self.note_messages(doorway.messages, node)
        self.node = node
        self.name = name
        self.card = card
        self.nic_base = card.sram
        self.memory = memory
        self.cpu = doorway.backend(Cpu)(kernel)
        commands = doorway.commands(self.unit, kernel, ENDS, self._on_event, LINE)
        want = partial(doorway.lib.dw_want_cpu, self.unit)
        self._stores = commands
        self._port = CpuPort(commands, self.cpu, self.who, kernel, want, doorway.words("dw_spun", 1, "q"))
        self._beside = unit(node, Part.NIC_CPU)
        self._words = doorway.backend(WatchedWords)(name, kernel, doorway, memory, memory_number)
        self._polled = self._words.waits
        self._timing = timing
        self._miss_ps = timing.miss_ps
        self._paths = paths
        self._spends: dict[str | tuple[str, int], tuple[int, int]] = {}
        """Cached costs by path, or by path and repetitions."""
        self._next_free = self.first_free
        self._grant = partial(doorway.lib.dw_grant, memory_number, self.first_free)
        self._grant(self.first_free)
        self._close = partial(doorway.lib.dw_close, memory_number)
        draw = partial(random.Random(f"interrupts {seed} {node}").randint, *timing.interrupt_ps)
        self._new_interrupts = partial(InterruptLine, kernel, self.spawn, draw)
        self._interrupts = self._new_interrupts()
        self.on_power: Callable[[int, bool], None] = lambda slot, off: None
        """Callback at the end or the return of a card's supply: slot, and True at the end."""
        self.start_processes(kernel, seed)
        self.scheduler.disturbed = self.cpu.want

    @property
    def cpu_ps(self) -> int:
        return self.cpu.busy_ps

    def use(self, table: PathTable) -> None:
        super().use(table)
        self._spends.clear()

    def _on_event(self, time: int, code: int, a: int, b: int) -> None:
        if code == EVENT_WATCH:
            self._words.written(a, time)
        elif code == EVENT_WILD:
            self._wild_dma(time, a, b)
        elif code == EVENT_UNANSWERED:
            self._port.unanswered = True
        elif code == EVENT_SPUN:
            self._port.spun(a)
        elif code == EVENT_POWER:
            self.on_power(a, bool(b))
        elif code == EVENT_INTERRUPT:
            self._interrupts.change(bool(a))
        else:
            raise RuntimeError(f"{self.who}: unknown event {code} of its hardware")

    def _wild_dma(self, time: int, address: int, write: int) -> None:
        """Record a card's read beyond host memory, or raise WildDmaError for a write to unallocated or
        read-only memory.
        """
        where = f"at {address:#x}, at {time / 1e6:.3f} us"
        if not write:
            self.wild.append(f"{self.name}: DMA read of host memory {where}, beyond its {len(self.memory)} bytes")
            return
        beyond = f"beyond its {len(self.memory)} bytes" if write == 1 else "which no software has allocated"
        if write == 3:
            beyond = f"which may not be written: {self.closed.get(address // PAGE * PAGE, 'writable again now')}"
        raise WildDmaError(f"{self.name}: wild DMA", f"write of host memory {where}, {beyond}", "check the address")

    @property
    def allocated(self) -> range:
        """Address range that software has allocated so far."""
        return range(self.first_free, self._next_free)

    def allocate(self, size: int, align: int = 4096) -> RtlBuffer:
        address = -(-self._next_free // align) * align
        if size < 0 or address + size > len(self.memory):
            left = max(len(self.memory) - address, 0)
            remedy = "SET memory.bytes=... gives more"
            raise MemoryError(f"{self.name}: {size} bytes requested, {left} left of {len(self.memory)} ({remedy})")
        self._next_free = address + size
        self._grant(self._next_free + 7 & ~7)
        return RtlBuffer(address, size, self.memory[address : address + size])

    def window(self, address: int, size: int) -> memoryview:
        """Return a view of host memory."""
        return self.memory[address : address + size]

    def load_words(self, address: int, count: int) -> tuple[int, ...]:
        return big_endian(count).unpack_from(self.memory, address)

    def store_words(self, address: int, words: Sequence[int]) -> None:
        big_endian(len(words)).pack_into(self.memory, address, *words)
        if self._polled:
            self._words.stored(address, 4 * len(words))

    def load_bytes(self, address: int, count: int) -> bytes:
        return bytes(self.memory[address : address + count])

    def store_bytes(self, address: int, data: bytes | memoryview) -> None:
        self.memory[address : address + len(data)] = data
        if self._polled:
            self._words.stored(address, len(data))

    def spend(self, path: str, times: int = 1) -> Coroutine[Any, Any, None]:
        return self._charge(*(self._spends.get(path if times == 1 else (path, times)) or self._cost(path, times)))

    async def copy_memory(self, path: str, target: int, source: int, size: int) -> None:
        duration, number = self._cost(path, -(-size // LINE))
        self.copied_bytes += size
        await self._charge(max(duration, round(size * self._timing.copy_ps)), number)
        self.store_bytes(target, self.load_bytes(source, size))

    async def _charge(self, duration: int, number: int) -> None:
        """Occupy the CPU for `duration` ps and record path `number` in the trace."""
        cpu = self.cpu
        await cpu.take()
        await self._kernel.sleep(duration, "its own instructions")
        cpu.leave()
        self._executed(duration, number)

    def _executed(self, duration: int, number: int) -> None:
        """Record a completed path. Its start record has an earlier time, so readers of the trace sort by time."""
        trace, now = self._doorway.record, self._kernel.now
        trace(now - duration, self.unit, TraceEvent.SPEND_START, 0, number, duration)
        trace(now, self.unit, TraceEvent.SPEND_END, 0, number, duration)

    def _cost(self, path: str, times: int = 1) -> tuple[int, int]:
        """Return and cache the time of a path in ps and its number in the trace."""
        clocks = host_clocks(self.table.cost(path), self._timing.processor, times)
        cost = round(clocks * self._timing.clock_ps), self._paths.number(self.table.owner(path), path)
        self._spends[path, times] = cost
        if times == 1:
            self._spends[path] = cost
        return cost

    def _computing(self, what: str | float, times: int) -> tuple[int, Callable[[int, int], None]]:
        """Return the duration of a computation in ps, and the function that records an interval of it."""
        if isinstance(what, str):
            duration, number = self._spends.get((what, times)) or self._cost(what, times)
        else:
            duration, number = round(what * 1000 * times), self._paths.number("host", "computing")
        trace, unit = self._doorway.record, self.unit

        def record(begin: int, end: int) -> None:
            trace(begin, unit, TraceEvent.SPEND_START, 0, number, end - begin)
            trace(end, unit, TraceEvent.SPEND_END, 0, number, end - begin)

        return duration, record

    def pio_write(self, address: int, data: bytes, combine: bool = False) -> Coroutine[Any, Any, None]:
        return self._port.store(address, data, combine)

    def pio_copy(self, address: int, source: int, size: int, combine: bool = True) -> Coroutine[Any, Any, None]:
        return self._port.copy(address, source, size, combine)

    def pio_read(self, address: int) -> Coroutine[Any, Any, int]:
        return self._port.load(address)

    async def repeat(self, address: int, expect: int, path: str, mask: int) -> tuple[int, bool]:
        duration, number = self._spends.get(path) or self._cost(path)
        compared = (mask & ALL) << 32 | expect & ALL
        word, over = await self._port.spin(address, compared, number, duration, self._beside)
        if over:
            self._executed(duration, number)
        return word, over

    def fence(self) -> Coroutine[Any, Any, None]:
        """Drain the write-combining buffers (a serialising instruction)."""
        return self._port.fence()

    def poll(
        self, watches: Sequence[tuple[int, int]], path: str, moves: Moves | None = None
    ) -> Coroutine[Any, Any, int]:
        return self._poll(watches, path, moves)

    async def _poll(self, watches: Sequence[tuple[int, int]], path: str, moves: Moves | None) -> int:
        """Poll words until one differs; C has the loops of words that do not move."""
        look, _ = self._spends.get(path) or self._cost(path)
        look, count, watched = max(1, look), len(watches), list(watches)
        cpu, now = self.cpu, self._kernel.now
        idle = now - cpu.held_ps  # the loop's own clock, which stops while another task owns the CPU
        cpu.begin_poll()

        def sees(hit: int, written: int) -> int:
            """Return the time at which the loop, whose phase is kept, polls the changed word."""
            spun = written - cpu.held_ps - idle
            rounds = max(0, -(-(spun - (hit + 1) * look) // (count * look)))
            return written + (rounds * count + hit + 1) * look - spun + self._miss_ps

        hit = self._words.first_difference(watches)
        if hit is None:
            with moves.ending(partial(self._words.end, watched)) if moves else nullcontext():
                hit, seen = await self._words.change(watched, sees)
        else:  # seen in the first round
            seen = now + (hit + 1) * look
        free = self._kernel.now
        await cpu.take()
        late = self._kernel.now - free
        cpu.end_poll()
        await self._kernel.sleep_until(seen + late, "its own instructions")
        cpu.leave()
        return hit

    async def switch_context(self) -> None:
        await self.cpu.run(self._timing.switch_ps)

    async def syscall(self) -> None:
        await self.cpu.run(self._timing.kernel_entry_ps)

    async def overhead(self, what: str) -> None:
        if took := self._timing.overheads_ps[what]:
            await self.cpu.run(took)

    async def stand(self, until: int, why: str) -> None:
        await self.cpu.take()
        await (self._kernel.future(why) if until == FOREVER else self._kernel.sleep_until(until, why))
        self.cpu.leave()

    def on_interrupt(self, handler: Routine) -> None:
        self._interrupts.serve_by(handler)
