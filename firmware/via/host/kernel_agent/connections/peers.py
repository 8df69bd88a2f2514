"""Peer-to-peer connections (VipConnectPeerRequest, ...Done, ...Wait): both sides send a request.

    either ── PEER (discriminator, VI) ──> other         repeated until the other has sent READY
    either ── READY (VI) ────────────────> other         the VI is connected and accepts messages

The side that receives the other's request first is connected first. A side has finished when it has received READY. The
connection is named by its lower node and that node's number.
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
class PeerRequest:
    """Peer request of a VI."""

    vi: ViContext
    node: int
    message: Message
    """PEER message of the request."""
    end: int
    """Time limit of the request, in ps of simulated time."""
    flag: Flag
    """Set at the end of the request."""
    heard: Flag
    """Set when a message of the peer arrives."""
    other: Message | None = None
    """PEER message of the peer, or None."""
    ready: bool = False
    """True once the peer's VI is connected."""
    made: Message | None = None
    """Message that names the connection, or None."""
    failure: VipError | None = None


class Peers:
    """Peer requests of one host."""

    def __init__(self, ends: LocalEnds) -> None:
        self._ends, self._host = ends, ends.host
        self._requests: dict[tuple[int, int], PeerRequest] = {}
        """Requests by node and discriminator: pending ones, and the last one that was connected."""
        self._last: dict[int, PeerRequest] = {}
        """Last request by number of the VI, which may belong to an earlier VI of that number."""

    def pending(self, vi: ViContext) -> bool:
        """Return True if a VI has a pending peer request."""
        asked = self._last.get(vi.number)
        return asked is not None and asked.vi is vi and not asked.flag.up

    def unconnected(self, vi: ViContext) -> None:
        """Raise VipError unless a VI has neither a connection nor a pending request."""
        if vi.state is not State.CLOSED or self.pending(vi):
            raise VipError(Result.INVALID_STATE, f"connecting VI {vi.number}", "disconnect it first")

    async def request(self, vi: ViContext, node: int, discriminator: int, timeout_us: float) -> None:
        """Start a peer request. Raises VipError."""
        with vi.change("connecting"):
            self.unconnected(vi)
            self._ends.reachable(node)
            self._begin(vi, node, discriminator, timeout_us)

    def _begin(self, vi: ViContext, node: int, discriminator: int, timeout_us: float) -> None:
        before = self._requests.get((node, discriminator))
        if before is not None and not before.flag.up:
            what = f"a second peer request to node {node} for discriminator {discriminator}"
            raise VipError(Result.INVALID_STATE, what, "wait for the first, or use another discriminator")
        number, me = self._ends.new_number(), self._ends.me
        message = Message(Type.PEER, me, min(me, node), number, vi.number, 0, discriminator, vi.reliability, vi.most)
        end = self._host.now + int(timeout_us * 1e6)
        over, heard = (Flag(self._host, f"a peer on node {node} for {discriminator}") for _ in range(2))
        asked = PeerRequest(vi, node, message, end, over, heard)
        self._requests[node, discriminator] = self._last[vi.number] = asked
        self._host.spawn(self._send_requests(asked), f"VI {vi.number} asks for a peer")

    async def _send_requests(self, asked: PeerRequest) -> None:
        """Send the request until it is over."""
        waits = waits_us(self._ends.repeat_us)
        while not asked.flag.up and not (asked.ready and asked.other):
            left = (asked.end - self._host.now) / 1e6
            if left <= 0:
                await self.give_up(
                    asked.vi, VipError(Result.TIMEOUT, f"the peer request to node {asked.node}", "wait longer")
                )
                return
            await self._ends.sender.send(asked.node, asked.message)
            asked.heard = Flag(self._host, asked.flag.why)
            await asked.heard.wait(None, max(min(left, next(waits)), 0.001))
        asked.flag.raise_()

    async def give_up(self, vi: ViContext, failure: VipError) -> None:
        """End a request with a failure, and disconnect from a peer that is already connected."""
        asked = self._last_of(vi)
        asked.failure = failure
        asked.flag.raise_()
        asked.heard.raise_()
        if vi.state is not State.CLOSED and not vi.changing:
            await self._ends.disconnect(vi)

    async def arrived(self, message: Message) -> None:
        """Handle PEER or READY of another node."""
        asked = self._requests.get((message.source, message.discriminator))
        if asked is None or (message.type == Type.READY and message.number != asked.message.number):
            return
        theirs = message.server if message.type == Type.READY else message.number
        newer = asked.other is None or (message.type == Type.PEER and theirs > asked.other.number)
        if newer and not asked.flag.up:  # an older request was withdrawn
            await self._connect_peer(asked, message, theirs)
        if asked.other is None or asked.other.number != theirs or asked.failure is not None:
            return
        if message.type == Type.READY:
            asked.ready = True
        elif asked.vi.state is State.CONNECTED and asked.vi.made is asked.made:
            await self._ready(asked, theirs)
        asked.heard.raise_()

    async def _connect_peer(self, asked: PeerRequest, message: Message, theirs: int) -> None:
        """Connect to the peer that a message names."""
        vi = asked.vi
        asked.other = message._replace(number=theirs)
        failure = asked.failure = self._mismatch(vi, message)  # before the send, during which READY may arrive
        if failure is None:
            lower = asked.message if self._ends.me < asked.node else asked.other
            higher = asked.other if self._ends.me < asked.node else asked.message
            asked.made = lower._replace(server=higher.client)
            await self._ends.join(vi, message.source, message.client, asked.made)
        await self._ready(asked, theirs)  # lets a peer with different attributes detect that too
        if failure is not None:
            await self.give_up(vi, failure)

    @staticmethod
    def _mismatch(vi: ViContext, message: Message) -> VipError | None:
        """Return the error for a VI whose attributes differ from those of its peer, or None."""
        what, remedy = f"connecting VI {vi.number} to its peer", "create it with the peer's attributes"
        if message.reliability != vi.reliability:
            return VipError(Result.INVALID_RELIABILITY_LEVEL, what, remedy)
        return VipError(Result.INVALID_MTU, what, remedy) if message.most != vi.most else None

    async def _ready(self, asked: PeerRequest, theirs: int) -> None:
        """Send READY: the peer's number, the local VI and its number."""
        message = asked.message._replace(type=Type.READY, number=theirs, server=asked.message.number)
        await self._ends.sender.send(asked.node, message)

    def result(self, vi: ViContext) -> ViAttributes | None:
        """Return the peer's attributes, or None for a pending request (VipConnectPeerDone). Raises the failure."""
        asked = self._last_of(vi)
        if not asked.flag.up:
            return None
        if asked.failure is not None or asked.other is None:
            raise asked.failure or VipError(
                Result.INVALID_STATE, f"the peer request of VI {vi.number}", "request the peer again"
            )
        return ViAttributes(0, Reliability(asked.other.reliability), asked.other.most)

    async def wait(self, vi: ViContext) -> ViAttributes:
        """Wait for the end of the request and return the peer's attributes (VipConnectPeerWait). Raises VipError."""
        await self._last_of(vi).flag.wait_whole(vi.owner)
        found = self.result(vi)
        if found is None:
            raise RuntimeError("peer request ended without a result")
        return found

    def _last_of(self, vi: ViContext) -> PeerRequest:
        asked = self._last.get(vi.number)
        if asked is None or asked.vi is not vi:
            raise VipError(Result.INVALID_STATE, f"the peer of VI {vi.number}", "call connect_peer_request first")
        return asked
