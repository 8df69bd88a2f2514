"""Peer-to-peer connections (VipConnectPeerRequest, ...Done, ...Wait): both sides ask, and the one that gets the
other's request first is connected first.

    either ── PEER (discriminator, VI) ──> other         repeated until the other has said READY
    either ── READY (VI) ────────────────> other         its VI is connected: it may be sent to

A side is done when it has heard READY. The connection is named by its lower node, and the number there.
"""

from __future__ import annotations

from dataclasses import dataclass

from firmware.via.formats import Reliability
from firmware.via.host.common.attributes import ViAttributes
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.common.waiting import Flag
from firmware.via.host.kernel_agent.connections.local_ends import LocalEnds
from firmware.via.host.kernel_agent.messages.message import Message, Type
from firmware.via.host.kernel_agent.messages.repeats import waits_us
from firmware.via.host.kernel_agent.vis.context import ViContext
from firmware.via.nic.layout import State


@dataclass
class Asked:
    """A VI that asks for a peer."""

    vi: ViContext
    node: int
    message: Message
    """That asks."""
    end: int
    """When it gives up, ps."""
    flag: Flag
    """It is over."""
    heard: Flag
    """Something came."""
    other: Message | None = None
    """The peer's."""
    ready: bool = False
    """The peer's VI is connected."""
    made: Message | None = None
    """What names the connection."""
    failure: VipError | None = None


class Peers:
    """The peers of a host."""

    def __init__(self, ends: LocalEnds) -> None:
        self._ends, self._host = ends, ends.host
        self._asked: dict[tuple[int, int], Asked] = {}
        """By node and discriminator: those that are not over, and the last one of each that was connected."""
        self._last: dict[int, Asked] = {}
        """By number of the VI, or of one before it: the last peer that it asked for."""

    def pending(self, vi: ViContext) -> bool:
        """Whether a VI asks for a peer."""
        asked = self._last.get(vi.number)
        return asked is not None and asked.vi is vi and not asked.flag.up

    def unconnected(self, vi: ViContext) -> None:
        """Whether a VI has no connection, and asks for none. Raises VipError."""
        if vi.state is not State.CLOSED or self.pending(vi):
            raise VipError(Result.INVALID_STATE, f"connecting VI {vi.number}", "disconnect it first")

    async def request(self, vi: ViContext, node: int, discriminator: int, timeout_us: float) -> None:
        """Begin to ask. Raises VipError."""
        with vi.change("connecting"):
            self.unconnected(vi)
            self._ends.reachable(node)
            self._begin(vi, node, discriminator, timeout_us)

    def _begin(self, vi: ViContext, node: int, discriminator: int, timeout_us: float) -> None:
        before = self._asked.get((node, discriminator))
        if before is not None and not before.flag.up:
            what = f"a second request to node {node} for {discriminator}"
            raise VipError(Result.INVALID_STATE, what, "wait for the first, or give another discriminator")
        number, me = self._ends.new_number(), self._ends.me
        message = Message(Type.PEER, me, min(me, node), number, vi.number, 0, discriminator, vi.reliability, vi.most)
        end = self._host.now + int(timeout_us * 1e6)
        over, heard = (Flag(self._host, f"a peer on node {node} for {discriminator}") for _ in range(2))
        asked = Asked(vi, node, message, end, over, heard)
        self._asked[node, discriminator] = self._last[vi.number] = asked
        self._host.spawn(self._ask(asked), f"VI {vi.number} asks for a peer")

    async def _ask(self, asked: Asked) -> None:
        """Ask until it is over."""
        waits = waits_us(self._ends.repeat_us)
        while not asked.flag.up and not (asked.ready and asked.other):
            left = (asked.end - self._host.now) / 1e6
            if left <= 0:
                await self.give_up(asked.vi, VipError(Result.TIMEOUT, f"asking node {asked.node}", "wait longer"))
                return
            await self._ends.sender.send(asked.node, asked.message)
            asked.heard = Flag(self._host, asked.flag.why)
            await asked.heard.wait(None, max(min(left, next(waits)), 0.001))
        asked.flag.raise_()

    async def give_up(self, vi: ViContext, failure: VipError) -> None:
        """Stop asking; a peer that is connected already is told."""
        asked = self._last_of(vi)
        asked.failure = failure
        asked.flag.raise_()
        asked.heard.raise_()
        if vi.state is not State.CLOSED and not vi.changing:
            await self._ends.disconnect(vi)

    async def arrived(self, message: Message) -> None:
        """PEER or READY of another node."""
        asked = self._asked.get((message.source, message.discriminator))
        if asked is None or (message.type == Type.READY and message.number != asked.message.number):
            return
        theirs = message.server if message.type == Type.READY else message.number
        newer = asked.other is None or (message.type == Type.PEER and theirs > asked.other.number)
        if newer and not asked.flag.up:  # what is older was taken back
            await self._meet(asked, message, theirs)
        if asked.other is None or asked.other.number != theirs or asked.failure is not None:
            return
        if message.type == Type.READY:
            asked.ready = True
        elif asked.vi.state is State.CONNECTED and asked.vi.made is asked.made:
            await self._ready(asked, theirs)
        asked.heard.raise_()

    async def _meet(self, asked: Asked, message: Message, theirs: int) -> None:
        """The peer is known: connect to it."""
        vi = asked.vi
        asked.other = message._replace(number=theirs)
        failure = asked.failure = self._unlike(vi, message)  # at once: the peer may be ready while we answer
        if failure is None:
            lower = asked.message if self._ends.me < asked.node else asked.other
            higher = asked.other if self._ends.me < asked.node else asked.message
            asked.made = lower._replace(server=higher.client)
            await self._ends.join(vi, message.source, message.client, asked.made)
        await self._ready(asked, theirs)  # whose VI is not like ours shall see that too
        if failure is not None:
            await self.give_up(vi, failure)

    @staticmethod
    def _unlike(vi: ViContext, message: Message) -> VipError | None:
        """Why a VI cannot be the peer of the one that asks."""
        what, remedy = f"connecting VI {vi.number} to its peer", "create it like the peer's"
        if message.reliability != vi.reliability:
            return VipError(Result.INVALID_RELIABILITY_LEVEL, what, remedy)
        return VipError(Result.INVALID_MTU, what, remedy) if message.most != vi.most else None

    async def _ready(self, asked: Asked, theirs: int) -> None:
        """Tell the peer that it may send: its own number, our VI and number."""
        message = asked.message._replace(type=Type.READY, number=theirs, server=asked.message.number)
        await self._ends.sender.send(asked.node, message)

    def result(self, vi: ViContext) -> ViAttributes | None:
        """VipConnectPeerDone: the peer's attributes; None while it is not over. Raises VipError: why it failed."""
        asked = self._last_of(vi)
        if not asked.flag.up:
            return None
        if asked.failure is not None or asked.other is None:
            raise asked.failure or VipError(Result.INVALID_STATE, f"VI {vi.number}", "ask again")
        return ViAttributes(0, Reliability(asked.other.reliability), asked.other.most)

    async def wait(self, vi: ViContext) -> ViAttributes:
        """VipConnectPeerWait. Raises VipError."""
        await self._last_of(vi).flag.wait_whole(vi.owner)
        found = self.result(vi)
        if found is None:
            raise RuntimeError("a request for a peer is over, and has no result")
        return found

    def _last_of(self, vi: ViContext) -> Asked:
        asked = self._last.get(vi.number)
        if asked is None or asked.vi is not vi:
            raise VipError(Result.INVALID_STATE, f"VI {vi.number} waits for a peer", "request one first")
        return asked
