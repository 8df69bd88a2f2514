"""Process: a virtual address space with access rights, and the verbs that its threads use.

Processes are implemented with the verbs of a host (`firmware.verbs.Host`), and therefore equal on the RTL and in pure
Python. Kernel work (mapping, pinning) costs nothing here: the model of a system call charges it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from pathlib import Path
from struct import pack, unpack
from typing import Any

from pymodels.host.ahead import Repeats
from pymodels.host.computing import Computation
from pymodels.host.faulting import Faulting
from pymodels.host.faults import ProtectionFault
from pymodels.host.frames import Frames
from pymodels.host.moves import Moves
from pymodels.host.outside import NONE_MORE, PATIENCE_S, Outside
from pymodels.host.owner import Owner, Signal
from pymodels.host.pages import PAGE, Page, PageTable, Rights, parts
from pymodels.host.polling import PollsCards
from pymodels.host.scheduler import Scheduler
from pymodels.host.signals import Sig, SignalError, Signals
from pymodels.kernel import Kernel, Task

MEMORY_VA, DEVICE_VA = 0x1000_0000, 0xC000_0000
"""Virtual base addresses of memory and devices, equal in every process (ours)."""


def _nothing_around(computation: Computation) -> AbstractContextManager[None]:
    """Return a context manager without effect."""
    return nullcontext()


class Process(Faulting, PollsCards):
    """Process of one host. Addresses are virtual; an access to an unmapped address raises ProtectionFault."""

    def __init__(self, host: Owner, number: int, name: str) -> None:
        self.host = host
        self.number = number
        self.name = name
        self.who = f"{host.name}: process {name}"
        self.pages = PageTable(self.who)
        self.signals = Signals(self.who, host.scheduler.kernel, self.overhead, self._tell)
        self.start_faults()
        self._scheduler = self.threads = host.scheduler
        self.around_computing: Callable[[Computation], AbstractContextManager[None]] = _nothing_around
        """Function that returns a context manager for each `compute` of a thread."""
        self._kernel = host.scheduler.kernel
        self._next = MEMORY_VA
        self._next_device = DEVICE_VA

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str) -> Task:
        """Start a thread."""
        return self.host.spawn(coroutine, f"{self.name}: {name}")

    # ---- the kernel's side

    def allocate(self, size: int) -> int:
        """Map zeroed memory of whole pages in scattered frames, and return its virtual address. Raises MemoryError."""
        frames = self.host.frames.take(-(-size // PAGE))
        va = self._next
        for i, frame in enumerate(frames):
            self.pages.map(va + PAGE * i, Page(frame))
        self._next += PAGE * (len(frames) + 1)
        return va

    def free(self, va: int, size: int) -> None:
        """Unmap and zero the pages of a range. Raises ProtectionFault for a page that is not mapped or is pinned."""
        frames = [self.pages.unmap(at).physical for at, _ in parts(va, size)]
        for frame in frames:
            self.host.close(frame, "")
            self.host.store_bytes(frame, bytes(PAGE))
        self.host.frames.give_back(frames)

    def map_nic(self, page: int, pages: int = 1, writable: bool = True) -> int:
        """Map pages of the NIC's memory, counted from its beginning, and return their virtual address."""
        return self.map_device(self.host.nic_base + PAGE * page, pages, writable)

    def map_device(self, physical: int, pages: int = 1, writable: bool = True) -> int:
        """Map pages of a card, given the physical address of the first, and return their virtual address."""
        va = self._next_device
        for i in range(pages):
            self.pages.map(va + PAGE * i, Page(physical + PAGE * i, True, Rights.WRITE if writable else Rights.READ))
        self._next_device += PAGE * (pages + 1)
        return va

    def map_memory(self, physical: int, pages: int) -> int:
        """Map pinned pages of the kernel, given the physical address of the first, and return their virtual address."""
        va = self._next
        for i in range(pages):
            self.pages.map(va + PAGE * i, Page(physical + PAGE * i, pins=1))
        self._next += PAGE * (pages + 1)
        return va

    def unmap_memory(self, va: int, pages: int) -> None:
        """Unmap pinned pages of the kernel, which keeps them."""
        for i in range(pages):
            self._memory(va + PAGE * i).pins -= 1
            self.pages.unmap(va + PAGE * i)

    def unmap(self, va: int, pages: int = 1) -> None:
        """Unmap pages of a card."""
        for i in range(pages):
            self.pages.unmap(va + PAGE * i)
        self._scheduler.disturbed()

    def pin(self, va: int, size: int) -> list[int]:
        """Pin the pages of a range, and return the physical address of each. Raises ProtectionFault."""
        pages = [self._memory(at) for at, _ in parts(va, size)]
        for page in pages:
            page.pins += 1
        return [page.physical for page in pages]

    def unpin(self, va: int, size: int) -> None:
        """Undo one `pin` of the pages of a range."""
        for at, _ in parts(va, size):
            self._memory(at).pins -= 1

    def gather(self, va: int, size: int) -> list[tuple[int, int]]:
        """Move the pages of a range to contiguous frames, unless they are contiguous; return old and new address of
        each page.

        The caller charges the copies and returns the old frames (`Frames.give_back`, zeroed). Raises ProtectionFault
        for a page that is pinned or not mapped, and MemoryError.
        """
        places = [at // PAGE * PAGE for at, _ in parts(va, size)]
        pages = [self._memory(at) for at in places]
        old = [page.physical for page in pages]
        if all(after == before + PAGE for before, after in pairwise(old)):
            return []
        for at, page in zip(places, pages, strict=True):
            if page.pins:
                raise ProtectionFault(self.who, "moving", at, "the page is pinned")
        new = self.host.frames.take_run(len(pages))
        for at, page, frame in zip(places, pages, new, strict=True):
            self.host.store_bytes(frame, self.host.load_bytes(page.physical, PAGE))
            self.host.close(page.physical, "")
            page.physical = frame
            self._change(at, page, page.rights, page.present)
        return list(zip(old, new, strict=True))

    def _memory(self, va: int) -> Page:
        self.pages.physical(va, 1, "pinning", device=False, write=False)
        return self.pages.at(va, "pinning")

    def pieces(self, va: int, size: int, write: bool = False) -> list[tuple[int, int]]:
        """Return physical address and size of the contiguous pieces of a memory range, in order. Raises
        ProtectionFault.
        """
        return self.pages.pieces(va, size, "translation", write=write)

    # ---- memory, as the process's own instructions see it; their cost is in the path around them

    def load_bytes(self, va: int, count: int) -> bytes:
        """Return bytes of memory."""
        load = self.host.load_bytes
        at = self.pages.physical(va, count, f"load of {count} bytes", device=False, write=False)
        if at is not None:
            return load(at, count)
        return b"".join(load(piece, size) for piece, size in self.pages.pieces(va, count, f"load of {count} bytes"))

    def store_bytes(self, va: int, data: bytes | memoryview) -> None:
        """Store bytes to memory: all of them, or none."""
        what = f"store of {len(data)} bytes"
        at = self.pages.physical(va, len(data), what, device=False, write=True)
        if at is not None:
            self.host.store_bytes(at, data)
            return
        done = 0
        for piece, size in self.pages.pieces(va, len(data), what, write=True):
            self.host.store_bytes(piece, data[done : done + size])
            done += size

    def load_words(self, va: int, count: int) -> tuple[int, ...]:
        """Return big-endian 32-bit words of memory."""
        return unpack(f">{count}I", self.load_bytes(va, 4 * count))

    def store_words(self, va: int, words: Sequence[int]) -> None:
        """Store big-endian 32-bit words to memory."""
        self.store_bytes(va, pack(f">{len(words)}I", *words))

    # ---- verbs that take time

    async def spend(self, path: str, times: int = 1) -> None:
        """Use the CPU for `times` executions of a compiled path."""
        await self._scheduler.enter()
        await self.host.spend(path, times)
        if self._scheduler.leave():
            await self._after("spend")

    async def copy_memory(self, path: str, target: int, source: int, size: int) -> None:
        """Copy bytes between two virtual addresses, as `Host.copy_memory` does; the rights of all pages are checked
        first.
        """
        pairs = list(zip(*_cut(self.pieces(target, size, True), self.pieces(source, size)), strict=True))
        await self._scheduler.enter()
        for (to, part), (at, _) in pairs:
            await self.host.copy_memory(path, to, at, part)
        if self._scheduler.leave():
            await self._after("copy_memory")

    async def give_way(self) -> None:
        """Let every ready thread run first, for a loop that polls a card."""
        await self._scheduler.give_way()

    async def compute(self, what: str | float, times: int = 1) -> None:
        """Use the CPU for a computation, which yields to interrupt routines at once and to other threads after the
        quantum.

        Args:
            what: Name of a compiled path, or a time in ns.
            times: Number of repetitions.

        Raises:
            ComputingError: The time or the number of repetitions is invalid.
        """
        computation = self.host.computation(what, times, self.who)
        with self.around_computing(computation):
            while computation.left > 0:
                await self._scheduler.enter()
                if not self.signals.due:
                    with self.signals.interrupting(computation.stop, first=True):
                        await self._scheduler.compute(computation)
                if self._scheduler.leave():
                    await self._after("compute")

    async def pio_write(self, va: int, data: bytes, combine: bool = False) -> None:
        """Store whole words to a mapped card; faults on a driver's pages are handled."""
        at = await self._storing(va, len(data))
        await self.host.pio_write(at, data, combine)
        if self._scheduler.leave():
            await self._after("pio_write")

    async def pio_read(self, va: int) -> int:
        """Return a word of a mapped card. A rejected access takes no CPU time."""
        self._card(va, 4, "PIO load", write=False)
        await self._scheduler.enter()
        try:
            value = await self.host.pio_read(self._card(va, 4, "PIO load", write=False))
        finally:
            signalled = self._scheduler.leave()
        if signalled:
            await self._after("pio_read")
        return value

    async def repeat(self, va: int, expect: int, path: str, mask: int) -> tuple[int, bool]:
        """Execute `Owner.repeat` on a mapped card."""
        self._card(va, 4, "PIO load", write=False)
        await self._scheduler.enter()
        try:
            at = self._card(va, 4, "PIO load", write=False)
            if self._scheduler.pressed:
                word, spent = await self.host.pio_read(at), False
            else:
                word, spent = await self.host.repeat(at, expect, path, mask)
        finally:
            signalled = self._scheduler.leave()
        if signalled:
            await self._after("spend" if spent else "pio_read")
        return word, spent

    async def _storing(self, va: int, size: int) -> int:
        """Acquire the CPU for a store to a card, and return the physical address at that time. A rejected access takes
        no CPU.
        """
        while True:
            try:
                self._card(va, size, what := f"PIO store of {size} bytes", write=True)
            except ProtectionFault as refused:
                if not await self._mend(refused, write=True):
                    raise
                continue
            await self._scheduler.enter()
            try:
                return self._card(va, size, what, write=True)
            except ProtectionFault:  # unmapped while this thread waited for the CPU
                if self._scheduler.leave():
                    await self._after("pio_write")

    @property
    def slots(self) -> frozenset[int]:  # type: ignore[override]
        """Slots of the host's bus with a card."""
        return self.host.slots

    @property
    def around(self) -> Repeats | None:  # type: ignore[override]
        """Hardware around the host's loops."""
        return self.host.around

    async def stand(self, until: int, why: str) -> None:
        """Hold the CPU while turns of a polling loop are computed."""
        await self.host.stand(until, why)

    def _on_bus(self, address: int, call: str) -> int:
        return self._card(address, 4, call, write=False)

    async def _missed(self) -> None:
        await self.give_way()

    def _card(self, va: int, size: int, what: str, write: bool) -> int:
        """Return the physical address of a range on a card, whose pages are contiguous if mapped together."""
        return self.pages.pieces(va, size, what, device=True, write=write)[0][0]

    async def poll(self, watches: Sequence[tuple[int, int]], path: str, moves: Moves | None = None) -> int:
        """Spin on words of memory until one differs, and return its index.

        Args:
            watches: Virtual address and present value of each word.
            path: Path that one look at a word costs.
            moves: Moves of the words by other threads, which end the loop; the index is then meaningless.
        """
        places = [(self.pages.pieces(va, 4, "load of 4 bytes")[0][0], value) for va, value in watches]
        before = moves and moves.count
        await self._scheduler.enter()
        if self._scheduler.leave():  # ready threads run first
            await self._after("poll")
        if moves and moves.count != before:
            return 0
        hit = await self._spin(places, path, moves)
        await self._scheduler.enter()
        if self._scheduler.leave():
            await self._after("poll")
        return hit

    async def _spin(self, places: Sequence[tuple[int, int]], path: str, moves: Moves | None) -> int:
        """Spin on words of physical memory; signal handlers run between two looks."""
        if not self.signals.handlers:
            return await self.host.poll(places, path, moves)
        while True:
            own, before = Moves(), moves and moves.count
            with moves.ending(own.moved) if moves else nullcontext(), self.signals.interrupting(own.moved):
                hit = await self.host.poll(places, path, own)
            if not own.count or (moves and moves.count != before):
                return hit
            await self._scheduler.enter()
            if self._scheduler.leave():
                await self._after("spin")

    async def block(self, signal: Signal) -> bool:
        """Sleep until a condition is set by the kernel or another thread; the CPU is free meanwhile.

        Returns True if the condition was set, False if a signal handler (`Sig`) ran instead.
        """
        if self.signals.due:
            await self.signals.deliver()
            return False
        self._scheduler.sleep()
        came = True
        if self.signals.handlers:
            came = await self._woken(signal)
        else:
            await signal.wait()
        await self._scheduler.enter()
        if self._scheduler.leave():
            await self._after("block")
        return came


def _cut(*ranges: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Return lists of (address, size) with equal total size, cut at the ends of all pieces."""
    ends = sorted({sum(size for _, size in one[: index + 1]) for one in ranges for index in range(len(one))})
    found = []
    for one in ranges:
        places, begin = [], 0
        for address, size in one:
            marks = [begin, *(end for end in ends if begin < end <= begin + size)]
            places += [(address + low - begin, high - low) for low, high in pairwise(marks)]
            begin += size
        found.append(places)
    return found


class Processes:
    """Mixin with the processes of a host, for both bindings of its verbs."""

    frames: Frames
    scheduler: Scheduler
    processes: list[Process]
    closed: dict[int, str]
    """Frames that DMA must not write, with the owner of the page."""

    def start_processes(self: Any, kernel: Kernel, seed: int) -> None:
        """Initialize the mixin; `seed` determines the scattering of frames."""
        self.frames = Frames(lambda size: int(self.allocate(size).address), f"frames {seed} {self.node}")
        self.scheduler = Scheduler(kernel, self.who, self.switch_context)
        self.processes = []
        self.closed = {}

    def process(self: Any, name: str = "") -> Process:
        """Create a process; its default name is its number, counted from 1."""
        number = len(self.processes) + 1
        process = Process(self, number, name or str(number))
        self.processes.append(process)
        return process

    def outside(
        self: Any,
        command: Sequence[str],
        patience_s: float = PATIENCE_S,
        variables: Mapping[str, str] = NONE_MORE,
        output: Path | None = None,
        folder: Path | None = None,
        reads: bool = False,
    ) -> Outside:
        """Start a program of the real machine (`pymodels.host.outside`)."""
        return Outside(self.who, command, patience_s, variables, output, folder, reads)

    def signal(self: Any, number: int, sig: Sig, call: str = "") -> None:
        """Post a signal to a process. Raises SignalError, which contains the `call`, for an unknown process."""
        if not 1 <= number <= len(self.processes):
            there = ", ".join(str(one.number) for one in self.processes) or "none"
            what = call or f"{self.who}: signal({number}, {sig.name})"
            raise SignalError(what, f"no process {number} on this host", f"processes: {there}")
        self.processes[number - 1].signals.post(sig)

    def close(self: Any, frame: int, whose: str) -> None:
        """Forbid DMA stores into a frame that belongs to `whose`, or allow them if `whose` is empty."""
        if whose:
            self.closed[frame] = whose
            self._close(frame, True)
        elif self.closed.pop(frame, None):
            self._close(frame, False)
