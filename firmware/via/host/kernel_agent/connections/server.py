"""Server side of a connection (VipConnectWait, VipConnectAccept, VipConnectReject)."""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware.via.formats import Reliability
from firmware.via.host.common.attributes import ViAttributes
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.common.waiting import Flag
from firmware.via.host.kernel_agent.connections.local_ends import LocalEnds
from firmware.via.host.kernel_agent.connections.peers import Peers
from firmware.via.host.kernel_agent.messages.message import Message, Type
from firmware.via.host.kernel_agent.messages.repeats import limited_waits_us
from firmware.via.host.kernel_agent.vis.context import ViContext
from pymodels.host.process import Process


@dataclass
class Connection:
    """Connection request at the server."""

    request: Message
    process: Process
    """Process that waited for the request."""
    confirmed: Flag | None = None
    rejected: bool = False
    """True after a rejection by the server, or if the client has not confirmed."""

    @property
    def attributes(self) -> ViAttributes:
        """Attributes of the client's VI: those that a server may see."""
        return ViAttributes(0, Reliability(self.request.reliability), self.request.most)

    def check_open(self) -> None:
        """Raise VipError if the request has already been answered."""
        if self.confirmed is not None or self.rejected:
            what = f"answering the connection request {self.request.name} twice"
            raise VipError(Result.INVALID_PARAMETER, what, "wait for another request")


@dataclass
class Listener:
    """Call of `wait`."""

    flag: Flag
    process: Process
    connections: list[Connection] = field(default_factory=list)


class Server:
    """Servers of one host."""

    def __init__(self, ends: LocalEnds, peers: Peers) -> None:
        self._ends, self._peers, self._host = ends, peers, ends.host
        self._listeners: dict[int, list[Listener]] = {}
        """Calls of `wait` by discriminator."""
        self._known: dict[tuple[int, int], Connection] = {}
        """Received requests by name of the connection."""

    async def wait(self, process: Process, discriminator: int, timeout_us: float) -> Connection:
        """Return the next request for a discriminator. Raises VipError."""
        listener = Listener(Flag(self._host, f"a connection request for {discriminator}"), process)
        waiting = self._listeners.setdefault(discriminator, [])
        waiting.append(listener)
        await listener.flag.wait_whole(process, timeout_us)
        waiting.remove(listener)
        if not listener.connections:
            raise VipError(
                Result.TIMEOUT, f"waiting for a connection request for discriminator {discriminator}", "wait longer"
            )
        return listener.connections[0]

    async def accept(self, connection: Connection, vi: ViContext) -> None:
        """Connect a VI to the client, and wait for its confirmation. Raises VipError.

        Without a confirmation the result is TIMEOUT. The client, which may be connected, is then notified of the end.
        """
        with vi.change("accepting by"):
            self._peers.unconnected(vi)
            connection.check_open()
            self._fits(connection.request, vi)
            await self._accept(connection, vi)

    @staticmethod
    def _fits(request: Message, vi: ViContext) -> None:
        """Raise VipError if a VI's attributes differ from those of the client's VI."""
        what, remedy = f"accepting by VI {vi.number}", "create it with the attributes of the client's"
        if request.reliability != vi.reliability:
            raise VipError(Result.INVALID_RELIABILITY_LEVEL, what, remedy)
        if request.most != vi.most:
            raise VipError(Result.INVALID_MTU, what, remedy)

    async def _accept(self, connection: Connection, vi: ViContext) -> None:
        request, ends = connection.request, self._ends
        connection.confirmed = flag = Flag(self._host, f"node {request.source} to confirm a connection")
        answer = request._replace(type=Type.ACCEPT, server=vi.number)
        await ends.join(vi, request.source, request.client, answer)
        for wait in limited_waits_us(ends.repeat_us):
            await ends.sender.send(request.source, answer._replace(source=ends.me))
            if await flag.wait_whole(vi.process, wait):
                return
        connection.rejected = True
        await ends.end(vi)
        raise VipError(
            Result.TIMEOUT, f"accepting by VI {vi.number}", "wait for another request: the client does not respond"
        )

    async def reject(self, connection: Connection) -> None:
        """Reject the client's request. Raises VipError."""
        connection.check_open()
        connection.rejected = True
        await self._reject(connection.request)

    async def _reject(self, request: Message) -> None:
        await self._ends.sender.send(request.source, request._replace(type=Type.REJECT, source=self._ends.me))

    async def requested(self, message: Message) -> None:
        """Handle REQUEST: pass a new request to a waiting call."""
        connection = self._known.get(message.name)
        if connection is not None:
            if connection.rejected:
                await self._reject(message)
            return
        for listener in self._listeners.get(message.discriminator, ()):
            if not listener.connections:
                self._known[message.name] = connection = Connection(message, listener.process)
                listener.connections.append(connection)
                listener.flag.raise_()
                return

    def confirmed(self, message: Message) -> None:
        """Handle CONFIRM: the client is connected."""
        connection = self._known.get(message.name)
        if connection is not None and connection.confirmed is not None:
            connection.confirmed.raise_()
