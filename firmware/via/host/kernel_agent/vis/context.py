"""Context of a VI in the kernel: its owner and the state of its connection."""

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
    """Return the receive queue cache of a VI."""
    layout = shared.layout
    counters = (layout.vi(number, Vi.RECEIVE_TAIL), layout.vi(number, Vi.RECEIVE_HEAD))
    words = shared.options.receive_words
    return Cache(shared.host, layout.ring(number), words, counters, layout.vi(number, Vi.QUEUED))


class EndedBy(Enum):
    """Cause of the end of a connection, which determines who is notified."""

    FAULT = auto()
    """A fault: process and peer are notified."""
    PEER = auto()
    """The peer: the process is notified."""
    OWNER = auto()
    """The process: the kernel agent notifies the peer."""


class ViContext:
    """VI of a NIC from creation to destruction. The next VI of the same number is another object."""

    def __init__(self, shared: Shared, number: int, before: ViContext | None = None) -> None:
        """Create the context; `before` is the last VI of this number, whose counters continue."""
        self._shared, self.number = shared, number
        self.notices = shared.notices
        self.receives: Cache = _receives(shared, number) if before is None else before.receives
        self.generation: int = 0 if before is None else before.generation
        self.process: Process | None = None
        self._on_broken: Callable[[int], None] | None = None
        self.dead = False
        """True after destruction."""
        self.changing = False
        """True while a thread connects, disconnects, changes or destroys the VI."""
        self._writing = KernelLock(shared.host)
        self.attributes = ViAttributes(0, Reliability.UNRELIABLE, 0)
        self.queues = [0, 0]
        """Completion queues of sends and receives, counted from 1; 0 for none."""
        self.state = State.CLOSED
        self.peer = self.remote = 0
        """Node and VI number of the peer."""
        self.made: Message | None = None
        """Message that names the present or broken connection, or None."""

    def give_to(self, process: Process, on_broken: Callable[[int], None]) -> None:
        """Give the VI to a process. `on_broken(number)` is called when its connection breaks."""
        self.process, self._on_broken = process, on_broken

    @property
    def owner(self) -> Process:
        """Process that owns the VI. Raises RuntimeError if there is none."""
        if self.process is None:
            raise RuntimeError(f"VI {self.number} has no owner")
        return self.process

    @property
    def tag(self) -> int:
        """Protection tag."""
        return self.attributes.tag

    @property
    def most(self) -> int:
        """Maximum message size in bytes."""
        return self.attributes.most

    @property
    def reliability(self) -> Reliability:
        """Reliability level."""
        return self.attributes.reliability

    def check(self, doing: str) -> None:
        """Raise VipError if the VI is destroyed. `doing` describes the call."""
        if self.dead:
            raise VipError(
                Result.INVALID_PARAMETER, f"{doing} VI {self.number}", "create another VI: this one is destroyed"
            )

    @contextmanager
    def change(self, doing: str) -> Iterator[None]:
        """Reserve the VI for connecting, disconnecting, changing or destroying it. Raises VipError if reserved."""
        self.check(doing)
        if self.changing:
            what = f"{doing} VI {self.number}"
            raise VipError(
                Result.INVALID_STATE, what, "wait until another thread has connected, disconnected or changed it"
            )
        self.changing = True
        try:
            yield
        finally:
            self.changing = False

    async def write(self, word: Vi, *values: int) -> None:
        """Write words of the VI in the NIC's memory, starting at `word`."""
        await store_words(self._shared.host, self._shared.layout.vi(self.number, word), *values)

    async def set_attributes(self, attributes: ViAttributes) -> None:
        """Set the attributes of an unconnected VI."""
        self.attributes = attributes
        await self.set_state(State.CLOSED)
        await self.write(Vi.SEND_QUEUE, *self.queues, attributes.tag, attributes.most)

    async def set_state(self, state: State, node: int = 0, peer: int = 0, number: int = 0) -> None:
        """Start a new generation of the VI.

        Args:
            state: New state.
            node: Node of the peer.
            peer: VI of the peer.
            number: Number of the connection.
        """
        self.state, self.peer, self.remote = state, node, peer
        self.generation = generation = self.generation + 1 & 0xFFFFFF
        whose = PeerWord.encode(number & CONNECTION, node, peer)
        rights = self.attributes.rdma_write * RDMA_WRITE | self.attributes.rdma_read * RDMA_READ
        async with self._writing:
            if self.generation == generation and not self.dead:  # no later change has overtaken this one
                await self.write(Vi.PEER, *whose, *ModeWord.encode(rights, self.reliability))
                await self.write(Vi.STATE, generation << 8 | state)

    def broken(self, by: EndedBy = EndedBy.FAULT) -> None:
        """Record the end of the connection, and notify process and peer as `by` requires."""
        connected, self.state = self.state is State.CONNECTED, State.ERROR
        if connected and by is not EndedBy.OWNER and self._on_broken is not None:
            self._on_broken(self.number)
        if connected and by is EndedBy.FAULT and self.made is not None:
            self.notices.begin(self.peer, self.made, self.number)

    async def on_broken_report(self, generation: int) -> None:
        """Handle the NIC's report of a broken connection, which may be an earlier one."""
        if self.state is State.CONNECTED and self.generation & 0xFFFF == generation:
            self.broken()
            self._shared.host.spawn(self.flush(), f"the end of a connection of VI {self.number}")

    async def close(self, command: Command = Command.FLUSH, by: EndedBy = EndedBy.FAULT) -> None:
        """End the connection, if it still exists, and let the NIC complete all posted descriptors.

        The owner may also close a broken connection.
        """
        generation = self.generation
        async with self._shared.lock:
            if self.generation != generation or not (by is EndedBy.OWNER or self.state is State.CONNECTED):
                return
            self.broken(by)
        await self.flush(command)

    async def flush(self, command: Command = Command.FLUSH) -> None:
        """Let the NIC complete the posted descriptors of a broken connection, including those that wait for room."""
        generation, shared = self.generation, self._shared
        await shared.commands.do(command, self)
        while self.receives.waiting and self.generation == generation:
            async with shared.lock:
                await self.receives.fill()
                await self.receives.flag()
            await shared.commands.do(Command.FLUSH, self)
