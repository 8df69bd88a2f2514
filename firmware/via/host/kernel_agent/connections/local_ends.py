"""The local ends of connections: made and ended, whichever side has asked for it."""

from __future__ import annotations

from collections.abc import Iterator

from firmware.via.host.common.checks import whole
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.kernel_agent.messages.message import Message, Type
from firmware.via.host.kernel_agent.messages.notices import DisconnectNotices
from firmware.via.host.kernel_agent.messages.sender import MessageSender
from firmware.via.host.kernel_agent.vis.context import EndedBy, ViContext
from firmware.via.host.kernel_agent.vis.table import ViTable
from firmware.via.nic.layout import State


class LocalEnds:
    """Of one host."""

    def __init__(self, me: int, nodes: int, vis: ViTable, sender: MessageSender, notices: DisconnectNotices) -> None:
        """`me`: this node, one of so many `nodes`."""
        self.me, self._nodes, self.vis = me, nodes, vis
        self.host, self.repeat_us = vis.shared.host, vis.shared.options.connect_us
        self.sender, self._notices = sender, notices
        self._number = 0

    def new_number(self) -> int:
        """Of a connection, which no other one of this node has."""
        self._number += 1
        return self._number

    def reachable(self, node: int) -> None:
        """Whether there can be a peer. Raises VipError."""
        whole("connecting to a node", node, 0, self._nodes - 1, Result.NOT_REACHABLE)
        if node == self.me:
            raise VipError(Result.NOT_REACHABLE, f"connecting to node {node}", "give another node: this is its own")

    def named_by(self, message: Message) -> Iterator[ViContext]:
        """VIs whose connection a message names, or that had it until it broke."""
        return (vi for vi in list(self.vis.contexts) if vi.made is not None and vi.made.name == message.name)

    async def join(self, vi: ViContext, node: int, peer: int, made: Message) -> None:
        """Connect a VI to one of a node. A VI that was connected to that has lost it, and missed the notice."""
        for other in self.vis.contexts:
            same = (other.peer, other.remote) == (node, peer)
            if same and other is not vi and other.state is State.CONNECTED:
                await other.close()
        vi.made = made
        await vi.set_state(State.CONNECTED, node, peer, made.number << 1 | (made.origin == max(node, self.me)))

    async def disconnect(self, vi: ViContext) -> None:
        """End a connection from this side; afterwards the VI can be connected again. Raises VipError."""
        with vi.change("disconnecting"):
            if vi.made is None:
                raise VipError(Result.INVALID_STATE, f"disconnecting VI {vi.number}", "it is not connected")
            await self.end(vi)

    async def end(self, vi: ViContext) -> None:
        """The end of a connection, of which the peer is told, and the VI as it was before."""
        if vi.state is State.CONNECTED and vi.made is not None:
            await self._notices.tell(vi.peer, vi.made)
        await vi.close(by=EndedBy.OWNER)
        await vi.set_state(State.CLOSED)
        vi.made = None

    async def disconnected(self, message: Message) -> None:
        """The peer has ended the connection."""
        await self.sender.send(message.source, message._replace(type=Type.GONE, source=self.me))
        for vi in self.named_by(message):
            if vi.peer == message.source:
                await vi.close(by=EndedBy.PEER)
