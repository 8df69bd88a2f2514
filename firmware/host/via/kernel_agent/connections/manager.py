"""Connections: the kernel agents' messages, which travel as packets to and from VI 0 (readings C12).

    client                                       server
    request ── REQUEST (discriminator, VI) ───>  connect_wait
            <─ ACCEPT (VI) or REJECT ──────────  connect_accept, connect_reject
            ── CONFIRM ───────────────────────>  connected
    either  ── DISCONNECT ────────────────────>  the other's VI breaks
            <─ GONE ───────────────────────────

Packets may be lost: REQUEST, ACCEPT and DISCONNECT are repeated until answered, and a connection has a number by which
repetitions are known. Whatever breaks a connection at one end, the other one hears of it by DISCONNECT.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware.host.via.common.attributes import ViAttributes
from firmware.host.via.common.checks import whole
from firmware.host.via.common.errors import Result, VipError
from firmware.host.via.common.waiting import Flag
from firmware.host.via.kernel_agent.agent import Kernel
from firmware.host.via.kernel_agent.connections.peers import Peers
from firmware.host.via.kernel_agent.messages.channel import Letters
from firmware.host.via.kernel_agent.messages.message import LETTER, Message, Type
from firmware.host.via.kernel_agent.vis.context import End, KernelVi
from firmware.nic.via.layout import State
from pymodels.formats.via import Reliability
from pymodels.host.process import Process
from pymodels.trace import TraceEvent

TRIES = 50
"""After so many ACCEPTs without a CONFIRM, or DISCONNECTs without a GONE, the peer counts as gone. Assumed."""


@dataclass
class Connection:
    """A connection that is being made, at the server."""

    request: Message
    process: Process
    """Which waited for it."""
    confirmed: Flag | None = None
    rejected: bool = False

    @property
    def attributes(self) -> ViAttributes:
        """Of the client's VI, as far as a server may know them."""
        return ViAttributes(0, Reliability(self.request.reliability), self.request.most)


@dataclass
class Listener:
    """Somebody in `connect_wait`."""

    flag: Flag
    process: Process
    connections: list[Connection] = field(default_factory=list)


@dataclass
class Asking:
    """Somebody in `connect_request`."""

    vi: KernelVi
    flag: Flag
    """It is answered, and its VI connected if it was accepted."""
    answer: Message | None = None


class Agent:
    """The kernel agent of a host."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel, self.host = kernel, kernel.host
        self.me, self.connect_us = kernel.me, kernel.options.connect_us
        self._letters = Letters(kernel, self._arrived)
        self._listeners: dict[int, list[Listener]] = {}
        self._asking: dict[int, Asking] = {}
        self._known: dict[tuple[int, int], Connection] = {}
        """Connections of which a request has come, by their names."""
        self._ending: dict[tuple[int, int], Flag] = {}
        """Connections that have ended, until their peers know."""
        kernel.on_break = self._broken
        self._number = 0
        self.peers = Peers(self)

    async def start(self) -> None:
        """Be ready for messages."""
        await self._letters.start()

    # ---- client

    async def request(self, vi: KernelVi, node: int, discriminator: int, timeout_us: float) -> ViAttributes:
        """Connect a VI to whoever waits at a node; the attributes of its VI. Raises VipError."""
        with vi.change("connecting"):
            self.closed(vi)
            self.reachable(node)
            return await self._request(vi, node, discriminator, timeout_us)

    async def _request(self, vi: KernelVi, node: int, discriminator: int, timeout_us: float) -> ViAttributes:
        number, me = self.new_number(), self.me
        asking = self._asking[number] = Asking(vi, Flag(self.host, f"node {node} to answer a connection request"))
        asked = Message(Type.REQUEST, me, me, number, vi.number, 0, discriminator, vi.reliability, vi.most)
        end = self.host.now + int(timeout_us * 1e6)
        while asking.answer is None and self.host.now < end:
            await self.send(node, asked)
            left = (end - self.host.now) / 1e6
            await asking.flag.wait(vi.owner, max(min(left, self.connect_us), 0.001))
        while asking.answer is not None and not asking.flag.up:
            await asking.flag.wait(vi.owner)
        del self._asking[number]
        answer = asking.answer
        if answer is None:
            raise VipError(Result.TIMEOUT, f"connecting to node {node}", "wait longer, or have somebody wait there")
        if answer.type == Type.REJECT:
            raise VipError(Result.REJECT, f"connecting to node {node}", "ask somebody else")
        return ViAttributes(0, vi.reliability, vi.most)

    def new_number(self) -> int:
        """Of a connection, which no other one of this node has."""
        self._number += 1
        return self._number

    def reachable(self, node: int) -> None:
        """Whether there can be a peer. Raises VipError."""
        whole("connecting to a node", node, 0, self._kernel.nodes - 1, Result.NOT_REACHABLE)
        if node == self.me:
            raise VipError(Result.NOT_REACHABLE, f"connecting to node {node}", "give another node: this is its own")

    def closed(self, vi: KernelVi) -> None:
        """Whether a VI has no connection, and asks for none. Raises VipError."""
        if vi.state is not State.CLOSED or self.peers.pending(vi):
            raise VipError(Result.INVALID_STATE, f"connecting VI {vi.number}", "disconnect it first")

    # ---- server

    async def wait(self, process: Process, discriminator: int, timeout_us: float) -> Connection:
        """The next request for a discriminator. Raises VipError."""
        listener = Listener(Flag(self.host, f"a connection request for {discriminator}"), process)
        waiting = self._listeners.setdefault(discriminator, [])
        waiting.append(listener)
        await listener.flag.wait(process, timeout_us)
        waiting.remove(listener)
        if not listener.connections:
            raise VipError(Result.TIMEOUT, f"waiting for a connection request for {discriminator}", "wait longer")
        return listener.connections[0]

    async def accept(self, connection: Connection, vi: KernelVi) -> None:
        """Connect a VI to the client, and wait until it knows. Raises VipError."""
        with vi.change("accepting by"):
            self.closed(vi)
            self._fits(connection, vi)
            await self._accept(connection, vi)

    def _fits(self, connection: Connection, vi: KernelVi) -> None:
        """Whether a VI can be the client's peer. Raises VipError."""
        request = connection.request
        self._open(connection)
        if request.reliability != vi.reliability:
            raise VipError(
                Result.INVALID_RELIABILITY_LEVEL, f"accepting by VI {vi.number}", "create it like the client's"
            )
        if request.most != vi.most:
            raise VipError(Result.INVALID_MTU, f"accepting by VI {vi.number}", "create it like the client's")

    @staticmethod
    def _open(connection: Connection) -> None:
        """Whether a client still waits for an answer. Raises VipError."""
        if connection.confirmed is not None or connection.rejected:
            what = f"answering the connection request {connection.request.name} twice"
            raise VipError(Result.INVALID_PARAMETER, what, "it is accepted or rejected: wait for another one")

    async def _accept(self, connection: Connection, vi: KernelVi) -> None:
        request = connection.request
        connection.confirmed = flag = Flag(self.host, f"node {request.source} to confirm a connection")
        answer = request._replace(type=Type.ACCEPT, server=vi.number)
        await self.join(vi, request.source, request.client, answer)
        for _ in range(TRIES):
            await self.send(request.source, answer._replace(source=self.me))
            if await flag.wait(vi.process, self.connect_us):
                return
        await self._end(vi)
        raise VipError(Result.TIMEOUT, f"accepting by VI {vi.number}", "the client has gone; wait for another one")

    async def reject(self, connection: Connection) -> None:
        """Tell the client that nobody wants it. Raises VipError."""
        self._open(connection)
        connection.rejected = True
        await self._reject(connection.request)

    async def _reject(self, request: Message) -> None:
        await self.send(request.source, request._replace(type=Type.REJECT, source=self.me))

    # ---- both

    async def join(self, vi: KernelVi, node: int, peer: int, made: Message) -> None:
        """Connect a VI to one of a node. A VI that was connected to that has lost it, and missed the notice."""
        for other in self._kernel.vis:
            same = (other.peer, other.remote) == (node, peer)
            if same and other is not vi and other.state is State.CONNECTED:
                await other.close()
        vi.made = made
        await vi.set_state(State.CONNECTED, node, peer, made.number << 1 | (made.origin == max(node, self.me)))

    async def disconnect(self, vi: KernelVi) -> None:
        """End a connection from this side; afterwards the VI can be connected again."""
        if self.peers.pending(vi):
            await self.peers.give_up(vi, VipError(Result.REJECT, f"VI {vi.number} asks for a peer", "ask again"))
            return
        with vi.change("disconnecting"):
            if vi.made is None:
                raise VipError(Result.INVALID_STATE, f"disconnecting VI {vi.number}", "it is not connected")
            if vi.state is State.CONNECTED:
                await self._tell(vi.peer, vi.made)
            await self._end(vi)

    def _broken(self, vi: KernelVi) -> None:
        """A connection has broken here: its peer shall know."""
        if vi.made is not None:
            self.host.spawn(self._tell(vi.peer, vi.made), f"the end of a connection of VI {vi.number}")

    async def _tell(self, node: int, made: Message) -> None:
        """Tell the peer that a connection has ended; if that is lost, again later."""
        self._ending[made.name] = flag = Flag(self.host, f"node {node} to hear of the end of a connection")
        notice = made._replace(type=Type.DISCONNECT, source=self.me)
        await self.send(node, notice)
        self.host.spawn(self._tell_again(node, notice, flag), flag.why)

    async def _tell_again(self, node: int, notice: Message, flag: Flag) -> None:
        for _ in range(TRIES):
            if await flag.wait(None, self.connect_us):
                break
            await self.send(node, notice)
        self._ending.pop(notice.name, None)

    @staticmethod
    async def _end(vi: KernelVi) -> None:
        """The end of a connection, and the VI as it was before."""
        await vi.close(end=End.OWN)
        await vi.set_state(State.CLOSED)
        vi.made = None

    async def send(self, node: int, message: Message) -> None:
        """A message to another kernel agent; it may be lost."""
        await self.host.spend("agent_send")
        await self._letters.send(node, LETTER.pack(*message))

    def _arrived(self, data: bytes) -> None:
        """A message has come; what takes time is done in a task."""
        message = Message(*LETTER.unpack(data[: LETTER.size]))
        self.host.trace(TraceEvent.POLL_HIT, 0, 0, message.source)
        self.host.spawn(self._serve(message), "the kernel agent")

    async def _serve(self, message: Message) -> None:
        """Do what a message asks for."""
        await self.host.spend("agent_serve")
        if message.type == Type.REQUEST:
            await self._requested(message)
        elif message.type in (Type.ACCEPT, Type.REJECT):
            await self._answered(message)
        elif message.type == Type.CONFIRM:
            connection = self._known.get(message.name)
            if connection is not None and connection.confirmed is not None:
                connection.confirmed.raise_()
        elif message.type == Type.DISCONNECT:
            await self._disconnected(message)
        elif message.type == Type.GONE:
            if (ending := self._ending.get(message.name)) is not None:
                ending.raise_()
        else:
            await self.peers.arrived(message)

    async def _requested(self, message: Message) -> None:
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

    async def _answered(self, message: Message) -> None:
        """A server's answer. The client may be waiting for its CPU: its VI is connected, and the server told, here."""
        asking = self._asking.get(message.number)
        if asking is not None and asking.answer is None:
            asking.answer = message
            if message.type == Type.ACCEPT:
                await self.join(asking.vi, message.source, message.server, message)
            asking.flag.raise_()
        connected = asking is None or asking.flag.up
        if connected and any(vi.made is not None and vi.made.name == message.name for vi in self._kernel.vis):
            await self.send(message.source, message._replace(type=Type.CONFIRM, source=self.me))

    async def _disconnected(self, message: Message) -> None:
        """The peer has ended the connection."""
        await self.send(message.source, message._replace(type=Type.GONE, source=self.me))
        for vi in list(self._kernel.vis):
            if vi.made is not None and vi.made.name == message.name and vi.peer == message.source:
                await vi.close(end=End.PEER)
