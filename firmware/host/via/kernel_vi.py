"""A VI as the kernel knows it: who owns it, what state it is in, what is posted, who sleeps on it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from firmware.host.via.cache import Cache, Entry
from firmware.host.via.posting import ByKernel, ByProcess, Poster
from firmware.host.via.registry import Refused, Region, Registry
from firmware.host.via.translate import RECEIVED, SENT, translate
from firmware.host.words import store_words
from firmware.nic.via.layout import PAGE, Command, State, Vi
from firmware.nic.via.options import Options
from pymodels.formats.via import Field, Reliability, Status
from pymodels.host.process import Process
from pymodels.registers import Pci

if TYPE_CHECKING:
    from firmware.host.via.kernel import Kernel


@dataclass
class Posted:
    """A descriptor that the NIC has, or that waits for room there."""

    va: int
    entry: Entry | None
    """None: the process has given it to the NIC by itself."""
    regions: tuple[Region, ...]
    time: int


class KernelVi:
    """One VI of one NIC."""

    def __init__(self, kernel: Kernel, number: int) -> None:
        self._kernel, self.number = kernel, number
        options, layout = kernel.options, kernel.layout
        counters = (layout.vi(number, Vi.RECEIVE_TAIL), layout.vi(number, Vi.RECEIVE_HEAD))
        flag = layout.vi(number, Vi.QUEUED)
        self.receives = Cache(kernel.host, layout.ring(number), options.receive_words, counters, flag)
        self.process: Process | None = None
        self.tag = 0
        self.most = 0
        self.reliability = Reliability.UNRELIABLE
        self.state = State.CLOSED
        self.generation = 0
        self.peer = 0
        """Node that it is connected to."""
        self.posted: dict[int, deque[Posted]] = {SENT: deque(), RECEIVED: deque()}
        self.on_broken: Callable[[], None] | None = None
        self._watched = False
        self._page = self._bell = 0
        """Where the process has them."""

    @property
    def options(self) -> Options:
        """The layer's."""
        return self._kernel.options

    @property
    def owner(self) -> Process:
        """The process that has it. Raises RuntimeError when nobody has."""
        if self.process is None:
            raise RuntimeError(f"VI {self.number} belongs to nobody")
        return self.process

    @property
    def registry(self) -> Registry:
        """The host's registered memory."""
        return self._kernel.registry

    @property
    def inline(self) -> int:
        """Bytes that go into the queue instead of their address at most."""
        return self._kernel.options.inline

    def aligned(self, va: int, size: int, last: bool) -> bool:
        """Whether the NIC can move a segment: a LANai 4 moves whole words."""
        return self._kernel.host.card.moves_bytes or not (va & 3 or (size & 3 and not last))

    # ---- state

    async def set_state(self, state: State, node: int = 0, peer: int = 0) -> None:
        """A new generation of the VI, with its peer."""
        self.state, self.peer = state, node
        self.generation = self.generation + 1 & 0xFFFFFF
        await self._kernel.write_vi(self.number, Vi.PEER, node << 8 | peer, int(self.reliability))
        await self._kernel.write_vi(self.number, Vi.STATE, self.generation << 8 | state)

    async def broken(self) -> None:
        """The connection is no more: what the NIC does not have is flushed here."""
        self.state = State.ERROR
        unwritten = [entry for entry in self.receives.waiting if entry.head]
        for entry in unwritten:
            self.receives.waiting.remove(entry)
            posted = next(one for one in self.posted[RECEIVED] if one.entry is entry)
            self._complete(posted.va, Status.FLUSHED | Status.RECEIVE)
            self.posted[RECEIVED].remove(posted)
        if self.on_broken is not None:
            self.on_broken()
        self._kernel.sleepers.wake()

    def _complete(self, va: int, status: Status) -> None:
        """Write a status from the kernel."""
        self.owner.store_words(va + Field.LENGTH, (0, status | Status.DONE))

    async def close(self, command: Command = Command.FLUSH) -> None:
        """End the connection from this side: the NIC completes what is posted."""
        async with self._kernel.turn:
            await self.broken()
        await self._kernel.command(command, self.number)
        self._kernel.sleepers.wake()

    async def open_page(self) -> None:
        """With user-level doorbells: let the process write the VI's page of the NIC, empty, and its doorbell."""
        kernel = self._kernel
        if not self.options.user_level:
            return
        page = kernel.layout.page(self.number)
        await store_words(kernel.host, page, 0, 0, 0, 0)
        await kernel.command(Command.RESET, self.number)
        self._page = self.owner.map_nic(page // PAGE)
        if self.options.doorbell == "hw":
            self._bell = self.owner.map_device(kernel.host.nic_base + Pci.DOORBELL + PAGE * self.number)

    def poster(self, side: int) -> Poster:
        """How descriptors are posted."""
        return ByProcess(self, side, self._page, self._bell) if self.options.user_level else ByKernel(self, side)

    async def forget(self) -> None:
        """Nobody's again: what was posted may stand in memory that is no more, and the NIC looks at its page no longer."""
        if self._page:
            await self._kernel.command(Command.LEAVE, self.number)
        for mapped in (self._page, self._bell):
            if mapped:
                self.owner.unmap(mapped)
        self._page = self._bell = 0
        self.process = None
        for posted in self.posted.values():
            posted.clear()

    # ---- posting

    async def post(self, side: int, va: int, handle: int) -> None:
        """Check and translate a descriptor, and give it to the NIC. What is wrong with it becomes its status."""
        kernel, process = self._kernel, self.owner
        async with kernel.turn:
            operation = Status.RECEIVE if side == RECEIVED else Status(0)
            try:
                found = translate(self, side, va, handle)
            except Refused as refused:
                await process.spend("post_refused")
                self._complete(va, refused.status | operation)
                return
            await process.spend("post_send" if side == SENT else "post_receive")
            if found.pages:
                await process.spend("post_page", len(found.pages))
            elif found.inline is not None:
                await process.spend("post_inline")
            if self.state is State.ERROR:
                self._complete(va, Status.FLUSHED | operation)
                return
            entry = Entry(found.head(self.number), found.pages)
            self._prune(side)
            self.posted[side].append(Posted(va, entry, found.regions, kernel.host.now))
            await (kernel.post_send(entry) if side == SENT else self.receives.post(entry))
        if side == SENT and self.reliability != Reliability.UNRELIABLE and kernel.options.timeout_us:
            self._watch()

    def _prune(self, side: int) -> None:
        """Forget what is done."""
        posted, cache = self.posted[side], self._kernel.sends if side == SENT else self.receives
        while posted and self.status(posted[0].va) and self._used(posted[0], cache):
            posted.popleft()

    @staticmethod
    def _used(posted: Posted, cache: Cache) -> bool:
        return posted.entry is None or cache.done(posted.entry)

    def note(self, va: int) -> None:
        """A process has posted a send by itself: on a reliable connection it has a limit of time."""
        if self.reliability != Reliability.UNRELIABLE and self.options.timeout_us:
            self.posted[SENT].append(Posted(va, None, (), self._kernel.host.now))
            self._watch()

    def status(self, va: int) -> int:
        """Of a descriptor of this VI's process."""
        return self.owner.load_words(va + Field.STATUS, 1)[0]

    async def busy(self, region: Region) -> bool:
        """Whether the NIC may still use a region."""
        for side, cache in ((SENT, self._kernel.sends), (RECEIVED, self.receives)):
            if any(region in one.regions for one in self.posted[side]):
                await cache.look()
                self._prune(side)
                if any(region in one.regions for one in self.posted[side]):
                    return True
        return False

    # ---- reliable sends that are never answered

    def _watch(self) -> None:
        if not self._watched:
            self._watched = True
            self._kernel.host.spawn(self._time_out(), f"time limit of VI {self.number}")

    async def _time_out(self) -> None:
        """As long as sends are posted: the oldest one may not take longer than the limit."""
        limit = self._kernel.options.timeout_us * 1_000_000
        posted = self.posted[SENT]
        while self.state is State.CONNECTED:
            while posted and self.status(posted[0].va):
                if not self._used(posted[0], self._kernel.sends):
                    await self._kernel.sends.look()
                self._prune(SENT)
            if not posted:
                break
            oldest = posted[0]
            left = oldest.time + limit - self._kernel.host.now
            if left <= 0:
                await self.close(Command.BREAK)
                break
            await self._kernel.host.sleep(left, "a reliable send to be answered")
        self._watched = False
