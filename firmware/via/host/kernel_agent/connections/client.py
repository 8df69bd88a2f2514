"""Client side of a connection (VipConnectRequest)."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.via.host.common.attributes import ViAttributes
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.common.waiting import Flag
from firmware.via.host.kernel_agent.connections.local_ends import LocalEnds
from firmware.via.host.kernel_agent.connections.peers import Peers
from firmware.via.host.kernel_agent.messages.message import Message, Type
from firmware.via.host.kernel_agent.messages.repeats import waits_us
from firmware.via.host.kernel_agent.vis.context import ViContext


@dataclass
class ClientRequest:
    """Connection request of a client."""

    vi: ViContext
    flag: Flag
    """Set when the server has answered, after the VI has been connected if it has accepted."""
    answer: Message | None = None


class Client:
    """Clients of one host."""

    def __init__(self, ends: LocalEnds, peers: Peers) -> None:
        self._ends, self._peers, self._host = ends, peers, ends.host
        self._requests: dict[int, ClientRequest] = {}

    async def request(self, vi: ViContext, node: int, discriminator: int, timeout_us: float) -> ViAttributes:
        """Connect a VI to a server that waits on a node. Raises VipError.

        Args:
            vi: VI to connect.
            node: Node of the server.
            discriminator: Discriminator that the server waits for.
            timeout_us: Time limit in microseconds.

        Returns:
            Attributes of the server's VI.
        """
        with vi.change("connecting"):
            self._peers.unconnected(vi)
            self._ends.reachable(node)
            return await self._request(vi, node, discriminator, timeout_us)

    async def _request(self, vi: ViContext, node: int, discriminator: int, timeout_us: float) -> ViAttributes:
        ends, host = self._ends, self._host
        number, me = ends.new_number(), ends.me
        attempt = self._requests[number] = ClientRequest(vi, Flag(host, f"node {node} to answer a connection request"))
        asked = Message(Type.REQUEST, me, me, number, vi.number, 0, discriminator, vi.reliability, vi.most)
        end, waits = host.now + int(timeout_us * 1e6), waits_us(ends.repeat_us)
        while attempt.answer is None and host.now < end:
            await ends.sender.send(node, asked)
            left = (end - host.now) / 1e6
            await attempt.flag.wait_whole(vi.owner, max(min(left, next(waits)), 0.001))
        while attempt.answer is not None and not attempt.flag.up:
            await attempt.flag.wait_whole(vi.owner)
        del self._requests[number]
        answer = attempt.answer
        if answer is None:
            raise VipError(Result.TIMEOUT, f"connecting to node {node}", "wait longer, or start a server there")
        if answer.type != Type.ACCEPT:
            raise VipError(Result.REJECT, f"connecting to node {node}", "connect to another server")
        return ViAttributes(0, vi.reliability, vi.most)

    def given_up(self, message: Message) -> None:
        """Handle DISCONNECT from a server that has given up before its ACCEPT reached the client."""
        attempt = self._requests.get(message.number)
        if attempt is not None and attempt.answer is None and message.origin == self._ends.me:
            attempt.answer = message
            attempt.flag.raise_()

    async def answered(self, message: Message) -> None:
        """Handle ACCEPT or REJECT: connect the VI and confirm, even while the client waits for the CPU."""
        attempt = self._requests.get(message.number)
        if attempt is not None and attempt.answer is None:
            attempt.answer = message
            if message.type == Type.ACCEPT:
                await self._ends.join(attempt.vi, message.source, message.server, message)
            attempt.flag.raise_()
        connected = attempt is None or attempt.flag.up
        if connected and any(self._ends.named_by(message)):
            await self._ends.sender.send(message.source, message._replace(type=Type.CONFIRM, source=self._ends.me))
