"""The context of a VI in the kernel: who owns it, and what state its connection is in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum, auto

from firmware.common.host.words import store_words
from firmware.via.formats import CONNECTION, Reliability
from firmware.via.host.common.attributes import ViAttributes
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.kernel_agent.messages.message import Message
from firmware.via.host.kernel_agent.rings.cache import Cache
from firmware.via.host.kernel_agent.rings.lock import KernelLock
from firmware.via.host.kernel_agent.vis.shared import Shared
from firmware.via.nic.layout import RDMA_READ, RDMA_WRITE, Command, State, Vi
from firmware.via.nic.words import ModeWord, PeerWord
from pymodels.host.process import Process


def _receives(shared: Shared, number: int) -> Cache:
    """The receive queue cache of a VI."""
    layout = shared.layout
    counters = (layout.vi(number, Vi.RECEIVE_TAIL), layout.vi(number, Vi.RECEIVE_HEAD))
    words = shared.options.receive_words
    return Cache(shared.host, layout.ring(number), words, counters, layout.vi(number, Vi.QUEUED))


class EndedBy(Enum):
    """What ends a connection: who knows of it already."""

    FAULT = auto()
    """Neither its process nor its peer."""
    PEER = auto()
    """Its peer."""
    OWNER = auto()
    """Its process; its kernel agent tells the peer."""


class ViContext:
    """One VI of one NIC, from its creation until it is destroyed: the next one of its number is another object."""

    def __init__(self, shared: Shared, number: int, before: ViContext | None = None) -> None:
        """`before`: the last one of this number. What the NIC counts goes on."""
        self._shared, self.number = shared, number
        self.notices = shared.notices
        self.receives: Cache = _receives(shared, number) if before is None else before.receives
        self.generation: int = 0 if before is None else before.generation
        self.process: Process | None = None
        self._on_broken: Callable[[int], None] | None = None
        self.dead = False
        """It is destroyed."""
        self.changing = False
        """A thread connects, disconnects, changes or destroys it."""
        self._writing = KernelLock(shared.host)
        self.attributes = ViAttributes(0, Reliability.UNRELIABLE, 0)
        self.queues = [0, 0]
        """Completion queues of its sends and receives, from 1; 0: none."""
        self.state = State.CLOSED
        self.peer = self.remote = 0
        """Node that it is connected to, and VI there."""
        self.made: Message | None = None
        """The message that names its connection, or that of before if that is broken."""

    def give_to(self, process: Process, on_broken: Callable[[int], None]) -> None:
        """Give the VI to a process; `on_broken(number)` tells the process when its connection has broken."""
        self.process, self._on_broken = process, on_broken

    @property
    def owner(self) -> Process:
        """The process that has it. Raises RuntimeError when nobody has."""
        if self.process is None:
            raise RuntimeError(f"VI {self.number} belongs to nobody")
        return self.process

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

    async def write(self, word: Vi, *values: int) -> None:
        """Its words in the NIC's memory, from this one on."""
        await store_words(self._shared.host, self._shared.layout.vi(self.number, word), *values)

    async def set_attributes(self, attributes: ViAttributes) -> None:
        """While it has no connection."""
        self.attributes = attributes
        await self.set_state(State.CLOSED)
        await self.write(Vi.SEND_QUEUE, *self.queues, attributes.tag, attributes.most)

    async def set_state(self, state: State, node: int = 0, peer: int = 0, number: int = 0) -> None:
        """A new generation of the VI, with its peer and the number of their connection."""
        self.state, self.peer, self.remote = state, node, peer
        self.generation = generation = self.generation + 1 & 0xFFFFFF
        whose = PeerWord.of(number & CONNECTION, node, peer)
        rights = self.attributes.rdma_write * RDMA_WRITE | self.attributes.rdma_read * RDMA_READ
        async with self._writing:
            if self.generation == generation and not self.dead:  # nobody was faster
                await self.write(Vi.PEER, *whose, *ModeWord.of(rights, self.reliability))
                await self.write(Vi.STATE, generation << 8 | state)

    def broken(self, by: EndedBy = EndedBy.FAULT) -> None:
        """The connection is no more."""
        connected, self.state = self.state is State.CONNECTED, State.ERROR
        if connected and by is not EndedBy.OWNER and self._on_broken is not None:
            self._on_broken(self.number)
        if connected and by is EndedBy.FAULT and self.made is not None:
            self.notices.begin(self.peer, self.made, self.number)

    async def told_broken(self, generation: int) -> None:
        """The NIC has told that a connection broke: this one, or one before."""
        if self.state is State.CONNECTED and self.generation & 0xFFFF == generation:
            self.broken()
            self._shared.host.spawn(self.flush(), f"the end of a connection of VI {self.number}")

    async def close(self, command: Command = Command.FLUSH, by: EndedBy = EndedBy.FAULT) -> None:
        """End the connection, if it still is; its own process may end a broken one too. The NIC completes what is
        posted.
        """
        generation = self.generation
        async with self._shared.lock:
            if self.generation != generation or not (by is EndedBy.OWNER or self.state is State.CONNECTED):
                return
            self.broken(by)
        await self.flush(command)

    async def flush(self, command: Command = Command.FLUSH) -> None:
        """Have the NIC complete what it has of a broken connection, and what waits here for room there."""
        generation, shared = self.generation, self._shared
        await shared.commands.do(command, self)
        while self.receives.waiting and self.generation == generation:
            async with shared.lock:
                await self.receives.fill()
                await self.receives.flag()
            await shared.commands.do(Command.FLUSH, self)
