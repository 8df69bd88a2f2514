"""A VI as the kernel knows it: who owns it, what state it is in, what is posted, who sleeps on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum, auto
from typing import TYPE_CHECKING

from firmware.host.via.common.attributes import ViAttributes
from firmware.host.via.common.errors import Result, VipError
from firmware.host.via.common.waiting import Turn
from firmware.host.via.kernel_agent.memory.registry import Refused, Region, Registry
from firmware.host.via.kernel_agent.memory.translation import RECEIVED, SENT, Translation, refusal, translate
from firmware.host.via.kernel_agent.rings.cache import Cache, Entry
from firmware.host.via.kernel_agent.vis.outstanding import Outstanding
from firmware.host.via.kernel_agent.vis.time_limit import TimeLimit
from firmware.host.via.library.posting import ByKernel, ByProcess, Poster
from firmware.host.words import store_words
from firmware.nic.via.layout import RDMA_READ, RDMA_WRITE, Command, Layout, State, Vi
from firmware.nic.via.options import Options
from firmware.nic.via.user_pages import PAGE
from firmware.verbs import Host
from pymodels.formats.via import CONNECTION, INLINE, Field, Reliability
from pymodels.host import ProtectionFault
from pymodels.host.process import Process
from pymodels.registers import Pci

if TYPE_CHECKING:
    from firmware.host.via.kernel_agent.agent import Kernel
    from firmware.host.via.kernel_agent.connections.peers import Asked
    from firmware.host.via.kernel_agent.messages.message import Message


def _receives(kernel: Kernel, number: int) -> Cache:
    """The receive queue cache of a VI."""
    options, layout = kernel.options, kernel.layout
    counters = (layout.vi(number, Vi.RECEIVE_TAIL), layout.vi(number, Vi.RECEIVE_HEAD))
    return Cache(kernel.host, layout.ring(number), options.receive_words, counters, layout.vi(number, Vi.QUEUED))


class End(Enum):
    """Of a connection: who knows of it."""

    BREAK = auto()
    """Neither its process nor its peer."""
    PEER = auto()
    """Its peer, which has ended it."""
    OWN = auto()
    """Its process, which has ended it; its agent tells the peer."""


class KernelVi:
    """One VI of one NIC, from its creation until it is destroyed: the next one of its number is another object."""

    def __init__(self, kernel: Kernel, number: int, before: KernelVi | None = None) -> None:
        """`before`: the last one of this number. What the NIC counts goes on."""
        self._kernel, self.number = kernel, number
        self.receives: Cache = _receives(kernel, number) if before is None else before.receives
        self.process: Process | None = None
        self.dead = False
        """It is destroyed."""
        self.changing = False
        """A thread connects, disconnects, changes or destroys it."""
        self._writing = Turn(kernel.host)
        self.attributes = ViAttributes(0, Reliability.UNRELIABLE, 0)
        self.queues = [0, 0]
        """Completion queues of its sends and receives, from 1; 0: none."""
        self.state = State.CLOSED
        self.on_broken: Callable[[], None] | None = None
        self.generation: int = 0 if before is None else before.generation
        self.peer = self.remote = 0
        """Node that it is connected to, and VI there."""
        self.made: Message | None = None
        """The message that names its connection, or that of before if that is broken."""
        self.asked: Asked | None = None
        """The last peer that it asked for."""
        counter = kernel.layout.vi(number, Vi.ANSWERED)
        over = {} if before is None else before.outstanding
        self.outstanding: dict[int, Outstanding] = {
            side: Outstanding(kernel.host, cache, counter, self.claims, over.get(side))
            for side, cache in ((SENT, kernel.sends), (RECEIVED, self.receives))
        }
        self._limit: TimeLimit = TimeLimit(self, None if before is None else before._limit)
        self._page = self._pair = self._bell = 0
        """Where the process has them."""

    @property
    def options(self) -> Options:
        """The layer's."""
        return self._kernel.options

    @property
    def host(self) -> Host:
        """Where it is."""
        return self._kernel.host

    @property
    def layout(self) -> Layout:
        """Of the NIC's memory."""
        return self._kernel.layout

    @property
    def owner(self) -> Process:
        """The process that has it. Raises RuntimeError when nobody has."""
        if self.process is None:
            raise RuntimeError(f"VI {self.number} belongs to nobody")
        return self.process

    @property
    def now(self) -> int:
        """What time it is, ps."""
        return self._kernel.host.now

    @property
    def tag(self) -> int:
        """Its protection tag."""
        return self.attributes.tag

    @property
    def most(self) -> int:
        """Bytes of a message at most."""
        return self.attributes.most

    @property
    def reliability(self) -> Reliability:
        """Its level."""
        return self.attributes.reliability

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

    def check(self, doing: str) -> None:
        """Whether it is. Raises VipError: its handle is that of a VI that was destroyed."""
        if self.dead:
            raise VipError(Result.INVALID_PARAMETER, f"{doing} VI {self.number}", "it is destroyed: create another one")

    @contextmanager
    def change(self, doing: str) -> Iterator[None]:
        """Be the only one who connects, disconnects, changes or destroys it, as long as that takes. Raises VipError."""
        self.check(doing)
        if self.changing:
            what = f"{doing} VI {self.number}"
            raise VipError(Result.INVALID_STATE, what, "another thread connects or disconnects it: let that end first")
        self.changing = True
        try:
            yield
        finally:
            self.changing = False

    async def set_attributes(self, attributes: ViAttributes) -> None:
        """While it has no connection."""
        self.attributes = attributes
        await self.set_state(State.CLOSED)
        words = *self.queues, attributes.tag, attributes.most
        await self._kernel.write_vi(self.number, Vi.SEND_QUEUE, *words)

    async def set_state(self, state: State, node: int = 0, peer: int = 0, number: int = 0) -> None:
        """A new generation of the VI, with its peer and the number of their connection."""
        self.state, self.peer, self.remote = state, node, peer
        self.generation = generation = self.generation + 1 & 0xFFFFFF
        whose = (number & CONNECTION) << 16 | node << 8 | peer
        rights = self.attributes.rdma_write * RDMA_WRITE | self.attributes.rdma_read * RDMA_READ
        async with self._writing:
            if self.generation == generation and not self.dead:  # nobody was faster
                await self._kernel.write_vi(self.number, Vi.PEER, whose, rights << 8 | self.reliability)
                await self._kernel.write_vi(self.number, Vi.STATE, generation << 8 | state)

    def broken(self, end: End = End.BREAK) -> None:
        """The connection is no more."""
        connected, self.state = self.state is State.CONNECTED, State.ERROR
        if connected and end is not End.OWN and self.on_broken is not None:
            self.on_broken()
        if connected and end is End.BREAK:
            self._kernel.on_break(self)

    async def told_broken(self, generation: int) -> None:
        """The NIC has told that a connection broke: this one, or one before."""
        if self.state is State.CONNECTED and self.generation & 0xFFFF == generation:
            self.broken()
            self._kernel.host.spawn(self.flush(), f"the end of a connection of VI {self.number}")

    async def close(self, command: Command = Command.FLUSH, end: End = End.BREAK) -> None:
        """End the connection, if it still is; its own process may end a broken one too. The NIC completes what is
        posted.
        """
        generation = self.generation
        async with self._kernel.turn:
            if self.generation != generation or not (end is End.OWN or self.state is State.CONNECTED):
                return
            self.broken(end)
        await self.flush(command)

    async def flush(self, command: Command = Command.FLUSH) -> None:
        """Have the NIC complete what it has of a broken connection, and what waits here for room there."""
        generation = self.generation
        await self._kernel.command(command, self.number)
        while self.receives.waiting and self.generation == generation:
            async with self._kernel.turn:
                await self.receives.fill()
                await self.receives.flag()
            await self._kernel.command(Command.FLUSH, self.number)

    async def open_page(self, pair: int) -> None:
        """With user-level doorbells: let the process write the VI's page of the NIC, and its doorbells, which are empty
        and at `pair` in the NIC's memory.
        """
        kernel = self._kernel
        if not self.options.user_level:
            return
        await store_words(kernel.host, pair, 0, 0, 0, 0)
        await kernel.write_vi(self.number, Vi.PAIR, pair)
        await kernel.command(Command.RESET, self.number)
        self._page = self.owner.map_nic(kernel.layout.page(self.number) // PAGE)
        self._pair = kernel.pairs.map(self.owner, self.number, self._page)
        if self.options.doorbell == "hw":
            self._bell = self.owner.map_device(kernel.host.nic_base + Pci.DOORBELL + PAGE * self.number)

    def poster(self, side: int) -> Poster:
        """How descriptors are posted."""
        if not self.options.user_level:
            return ByKernel(self, side)
        return ByProcess(self, side, self._page, self._pair, self._bell)

    async def forget(self) -> None:
        """Nobody's again: what was posted may stand in memory that is no more; the NIC looks at its page no longer."""
        self.dead, self.state = True, State.CLOSED
        if self._page:
            await self._kernel.command(Command.LEAVE, self.number)
        for mapped in (self._page, self._bell):
            if mapped:
                self.owner.unmap(mapped)
        self._kernel.pairs.give_back(self.owner, self.number)
        self._page = self._pair = self._bell = 0
        self._kernel.sleepers.wake()
        self._kernel.vis[self.number] = KernelVi(self._kernel, self.number, self)

    # ---- posting

    async def post(self, side: int, va: int, handle: int) -> None:
        """Check and translate a descriptor, and give it to the NIC. What is wrong with it becomes its status, which the
        NIC writes when its turn comes. Raises VipError.
        """
        kernel = self._kernel
        async with kernel.turn:
            self.check("posting to")
            found = self._translated(side, va, handle)
            await self._charge(side, found)
            entry = Entry(found.head(self.number), found.pages)
            await self._bound(side)
            self.outstanding[side].add(va, entry, found.regions, side == SENT and self._answered)
            await (kernel.post_send(entry) if side == SENT else self.receives.post(entry))
        if side == SENT:
            self.note()
        elif self.state is State.ERROR:
            await self.flush()
        elif found.refused:
            await kernel.give_command(Command.LOOK, self.number)

    def _translated(self, side: int, va: int, handle: int) -> Translation:
        """A descriptor, translated or refused. Raises VipError when it does not stand in registered memory."""
        try:
            home = self.registry.check(self.owner, self.tag, va, handle, Field.SIZE)
        except Refused as cause:
            what = f"posting a descriptor at {va:#x} in region {handle:#x}"
            raise VipError(Result.INVALID_PARAMETER, what, "let it stand in memory under the VI's tag") from cause
        try:
            return translate(self, side, va, handle, home)
        except Refused as cause:
            return refusal(side, va, home, cause.status)

    async def _charge(self, side: int, found: Translation) -> None:
        """The time of the process that this takes."""
        process = self.owner
        if found.refused:
            await process.spend("post_refused")
            return
        await process.spend("post_send" if side == SENT else "post_receive")
        await process.overhead("post_kernel")
        if found.pages:
            await process.spend("post_page", len(found.pages))
        elif found.inline is not None:
            await process.spend("post_inline", -(-len(found.inline) // INLINE))

    async def _bound(self, side: int) -> None:
        """No VI fills the queue of all (readings C7). Raises VipError when too many of its descriptors are posted."""
        outstanding = self.outstanding[side]
        if len(outstanding) >= self.options.outstanding:
            await outstanding.look()
        if len(outstanding) >= self.options.outstanding:
            raise VipError(Result.ERROR_RESOURCE, f"posting to VI {self.number}", "wait until descriptors are done")

    @property
    def _answered(self) -> bool:
        """Its sends wait for answers."""
        return self.reliability != Reliability.UNRELIABLE

    def note(self) -> None:
        """A send is posted: on a reliable connection it has a limit of time."""
        if self._answered:
            self._limit.posted()

    def claims(self, va: int) -> int:
        """The status of a descriptor, as the process sees it, who may have written anything; 1: it is not there."""
        try:
            return self.owner.load_words(va + Field.STATUS, 1)[0]
        except ProtectionFault:
            return 1

    async def busy(self) -> bool:
        """Whether the NIC still has descriptors of it."""
        for outstanding in self.outstanding.values():
            if len(outstanding):
                await outstanding.look()
        return any(map(len, self.outstanding.values()))

    async def uses(self, region: Region) -> bool:
        """Whether the NIC may still use a region for it."""
        return any([await outstanding.uses(region) for outstanding in self.outstanding.values()])
