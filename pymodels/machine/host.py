"""Host of the machine: memory, one CPU, and its stores and loads on the PCI bus."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

from pymodels.cards import SLOT, SLOT_BYTES, CardMap
from pymodels.host import Computes, Moves, PollsCards, Processes
from pymodels.host.interrupts import InterruptLine, Routine
from pymodels.kernel import Event
from pymodels.machine.actor import Actor
from pymodels.machine.log import WORD
from pymodels.machine.memory import BusMemory, MachineError, Memory
from pymodels.machine.parts import Face
from pymodels.machine.spin import Look
from pymodels.machine.world import World
from pymodels.messages import HostMessages
from pymodels.registers import Pci
from pymodels.trace import Part, TraceEvent, unit

OVERHEADS = "signal", "fault", "protect"
"""Costs of software beside its paths; each is a field of `Timing`."""
FIRST_FREE = 0x1000
"""First allocated address, so that a buffer never has address 0."""
LINE = 32
"""Bytes of one store command from the CPU to the bridge."""


@dataclass
class ModelBuffer:
    """Pinned host memory: physical byte address, size in bytes, and a view of the bytes."""

    address: int
    size: int
    view: memoryview


class ModelHost(Processes, Computes, PollsCards, HostMessages, Actor):
    """Host that satisfies the protocol `firmware.verbs.Host`, with `memory`, `pause`, `resume` and `granted` in
    addition.
    """

    side = "host"
    page_size = 4096
    copied_bytes = 0
    """Number of bytes that the CPU has copied from memory to memory."""

    def __init__(
        self, world: World, node: int, name: str, card: Face, places: CardMap, *, size: int, seed: int
    ) -> None:
        super().__init__(world, node, unit(node, Part.HOST_CPU), f"host {name}")
        self.note_messages(world.messages, node)
        self.name = name
        self.card = places
        self.nic_base = self.card.sram
        self.memory = Memory(f"host {name} memory", size)
        self._card = card
        self._bridge = unit(node, Part.BRIDGE)
        self._timing = world.timing
        self._free = FIRST_FREE
        self._grants: list[tuple[int, int]] = []
        self._bus_free = 0
        self._polled = 0
        self._pauses = 0
        self._resumed = Event(world.kernel, f"host {name} paused")
        least, most = world.timing.interrupt_least, world.timing.interrupt_most
        self._interrupts = InterruptLine(world.kernel, self.spawn, partial(random.Random(seed).randint, least, most))
        card.interrupt = self._interrupt_line
        self.start_processes(world.kernel, seed)

    # Memory.

    def allocate(self, size: int, align: int = 4096) -> ModelBuffer:
        """Return pinned, contiguous, zeroed memory. Raises MemoryError if the host has none left."""
        if size <= 0 or align <= 0 or align & (align - 1):
            raise ValueError(f"allocate: size {size} must be positive and align {align} a power of two")
        address = self._free + align - 1 & -align
        if address + size > self.memory.size:
            raise MemoryError(f"host {self.name}: {size} bytes requested, {max(0, self.memory.size - address)} left")
        self._free = address + size
        self._grants.append((address, address + size))
        return ModelBuffer(address, size, memoryview(self.memory.data)[address : address + size])

    def granted(self, address: int, size: int) -> None:
        """Raise MachineError unless a range is allocated: a DMA to other memory is an error of the firmware."""
        for start, end in reversed(self._grants):
            if start <= address and address + size <= end:
                return
        raise MachineError(f"host {self.name}: DMA at {address:#x} .. {address + size:#x} is not in allocated memory")

    def window(self, address: int, size: int) -> memoryview:
        """Return a view of host memory."""
        return memoryview(self.memory.data)[address : address + size]

    def _close(self, frame: int, closed: bool) -> None:
        """Do nothing: the memory of the bus checks `closed` at each write of a card."""

    def bus_memory(self) -> Memory:
        """Return host memory as the card's DMA accesses it, with some frames closed to writes."""
        return BusMemory(self.memory, self._closed)

    def _closed(self, address: int, size: int) -> None:
        for frame in range(address // self.page_size * self.page_size, address + size, self.page_size):
            if whose := self.closed.get(frame):
                what = f"host {self.name}: DMA stores {size} bytes at {address:#x}"
                raise MachineError(f"{what}, into a page that may not be written: {whose}")

    def load_words(self, address: int, count: int) -> tuple[int, ...]:
        """Return big-endian 32-bit words of host memory."""
        return self.memory.load_words(address, count)

    def store_words(self, address: int, words: Sequence[int]) -> None:
        """Store big-endian 32-bit words in host memory."""
        self.memory.store_words(address, words)

    def load_bytes(self, address: int, count: int) -> bytes:
        """Return bytes of host memory."""
        return self.memory.read(address, count)

    def store_bytes(self, address: int, data: bytes | memoryview) -> None:
        """Store bytes to host memory."""
        self.memory.write(address, data)

    # The CPU's time.

    async def spend(self, path: str, times: int = 1) -> None:
        """Use the CPU for `times` executions of a compiled path, after earlier users of the CPU."""
        duration, number = self.cost(path)
        await self._charge(path, number, duration * times)

    async def copy_memory(self, path: str, target: int, source: int, size: int) -> None:
        """Copy bytes of host memory with the CPU.

        The duration is the longer of the loop, one path execution for every 32 bytes, and the time of memory.
        """
        duration, number = self.cost(path)
        self.copied_bytes += size
        await self._charge(path, number, max(-(-size // LINE) * duration, size * self._timing.copy_byte))
        self.memory.write(target, self.memory.read(source, size))

    def _computing(self, what: str | float, times: int) -> tuple[int, Callable[[int, int], None]]:
        """Return the duration of a computation, and the function that records an interval of it."""
        if isinstance(what, str):
            duration, number = self.cost(what)
            duration *= times
        else:
            duration, number = round(what * 1000 * times), self._log.path("host:computing")
        return duration, partial(self._log.span, self._unit, number)

    async def _charge(self, path: str, number: int, duration: int) -> None:
        self._log.add(self._unit, TraceEvent.SPEND_START, 0, number, duration)
        await self._use(duration, path)
        self._log.add(self._unit, TraceEvent.SPEND_END, 0, number, duration)

    @property
    def cpu_ps(self) -> int:
        """CPU time used so far."""
        return self.cpu.taken_now + self._polled

    async def switch_context(self) -> None:
        """Charge the CPU with a context switch between threads."""
        await self._use(self._timing.context_switch, "a context switch")

    async def syscall(self) -> None:
        """Charge the CPU with a system call."""
        await self._use(self._timing.syscall, "a system call")

    async def overhead(self, what: str) -> None:
        """Charge the CPU with a cost beside paths: a signal, a page fault, or a change of page rights."""
        if what in OVERHEADS:
            await self._use(getattr(self._timing, what), what)

    async def poll(self, watches: Sequence[tuple[int, int]], path: str, moves: Moves | None = None) -> int:
        """Spin on words of host memory until one differs, or until `moves` ends the loop; return the index of the word.

        Args:
            watches: Address and present value of each word.
            path: Path that one look at a word costs.
            moves: Moves of processes that end the loop.
        """
        cost = self.cost(path)[0]
        looks = [Look(address, value, 0xFFFFFFFF, False, cost) for address, value in watches]
        idle = self._kernel.now - self.cpu.taken_now
        spin = self._spin(self.cpu, self.memory, looks, why=f"host {self.name} polling ({path})", shared=True)
        with moves.ending(spin.end) if moves else nullcontext():
            index = await spin.run()
        self._polled += max(0, self._kernel.now - self.cpu.taken_now - idle)
        if self._pauses:
            await self._unpaused()
        return index

    def pause(self) -> None:
        """Stop the CPU: its software makes no further step until `resume`. Pauses nest."""
        self._pauses += 1

    def resume(self) -> None:
        """Continue after `pause`."""
        self._pauses -= 1
        if not self._pauses:
            self._resumed.set()

    def pause_between(self, start_us: float, end_us: float) -> None:
        """Pause from one absolute time to another, in microseconds."""
        self._kernel.at(int(start_us * 1e6), self.pause)
        self._kernel.at(int(end_us * 1e6), self.resume)

    async def _use(self, duration: int, why: str) -> None:
        if self._pauses:
            await self._unpaused()
        end = self.cpu.claim(duration)
        if end > self._kernel.now:
            await self._kernel.sleep_until(end, why)
        if self._pauses:
            await self._unpaused()

    async def _unpaused(self) -> None:
        while self._pauses:
            await self._resumed.wait()

    # The bus.

    async def pio_write(self, address: int, data: bytes, combine: bool = False) -> None:
        """Store whole words to the bus. Returns when the CPU may continue; the words arrive later, in program order."""
        await self._store(address, data, combine, LINE)

    async def _store(self, address: int, data: bytes, combine: bool, command: int) -> None:
        """Store whole words in commands of `command` bytes, each with a trace record."""
        if address & 3 or len(data) & 3:
            what = f"PIO of {len(data)} bytes at {address:#x}"
            raise MachineError(f"host {self.name}: {what} is not made of whole aligned words")
        offset = self._offset(address, len(data))
        word = self._timing.pio_combined if combine else self._timing.pio_word
        for at in range(0, len(data), command):
            self._log.add(self._unit, TraceEvent.PIO_WRITE, 0, address + at, min(command, len(data) - at))
        if self._pauses:
            await self._unpaused()
        end = self.cpu.claim(len(data) // 4 * word)
        arrival = max(self._bus_free, end - len(data) // 4 * word + self._timing.pio_latency)
        place = offset if offset < self._card.sram_bytes else address - SLOT
        at, line = 0, self._timing.pio_line
        while at < len(data):
            piece = min(len(data) - at, line - (offset + at) % line)
            arrival += piece // 4 * word
            if self._log.enabled and place < Pci.DOORBELL:
                width = WORD if combine else 4
                self._kernel.at(arrival, partial(self._log.stores, self._bridge, place + at, piece, width))
            self._kernel.at(arrival, partial(self._card.write, offset + at, bytes(data[at : at + piece])))
            at += piece
        self._bus_free = arrival
        if end > self._kernel.now:
            await self._kernel.sleep_until(end, "a PIO write")

    async def pio_copy(self, address: int, source: int, size: int, combine: bool = True) -> None:
        """Copy bytes, rounded up to words, from host memory to the bus."""
        data = self.memory.read(source, size + 3 & ~3)
        await self._store(address, data, combine, max(1, len(data)))

    async def pio_read(self, address: int) -> int:
        """Return a word read over the bus; earlier posted writes arrive first."""
        if address & 3:
            raise MachineError(f"host {self.name}: PIO read at {address:#x} is not word-aligned")
        offset = self._offset(address, 4)
        if self._pauses:
            await self._unpaused()
        begin = max(self._kernel.now, self.cpu.free_at, self._bus_free)
        self.cpu.claim(begin - max(self._kernel.now, self.cpu.free_at) + self._timing.pio_read)
        await self._kernel.sleep_until(begin + self._timing.pio_read, "a PIO read")
        value = self._card.read(offset)
        self._log.add(self._unit, TraceEvent.PIO_READ, 0, address, value)
        return value

    def _offset(self, address: int, size: int) -> int:
        offset = self.card.offset(address, self._card.sram_bytes)
        if offset < 0 or offset > SLOT_BYTES - size:
            raise MachineError(f"host {self.name}: no device on the bus at {address:#x}")
        return offset

    # Interrupts.

    def on_interrupt(self, handler: Routine) -> None:
        """Register the driver's interrupt routine."""
        self._interrupts.serve_by(handler)

    def _interrupt_line(self, level: bool) -> None:
        """Set the level of INTA#."""
        if level != self._interrupts.held:
            self._log.add(self._unit, TraceEvent.INTERRUPT, 0, int(level))
            self._interrupts.change(level)
