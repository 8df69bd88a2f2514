"""Local ends of connections: established and ended at the request of either side."""

from __future__ import annotations

from collections.abc import Iterator

from firmware.via.host.common.checks import check_integer
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.kernel_agent.messages.message import Message, Type
from firmware.via.host.kernel_agent.messages.notices import DisconnectNotices
from firmware.via.host.kernel_agent.messages.sender import MessageSender
from firmware.via.host.kernel_agent.vis.context import EndedBy, ViContext
from firmware.via.host.kernel_agent.vis.table import ViTable
from firmware.via.nic.layout import State


class LocalEnds:
    """Local ends of the connections of one host."""

    def __init__(self, me: int, nodes: int, vis: ViTable, sender: MessageSender, notices: DisconnectNotices) -> None:
        """Create the object for node `me` of `nodes` nodes."""
        self.me, self._nodes, self.vis = me, nodes, vis
        self.host, self.repeat_us = vis.shared.host, vis.shared.options.connect_us
        self.sender, self._notices = sender, notices
        self._number = 0

    def new_number(self) -> int:
        """Return a new connection number of this node."""
        self._number += 1
        return self._number

    def reachable(self, node: int) -> None:
        """Raise VipError unless `node` is another node of the cluster."""
        check_integer("connecting to a node", node, 0, self._nodes - 1, Result.NOT_REACHABLE)
        if node == self.me:
            raise VipError(Result.NOT_REACHABLE, f"connecting to node {node}", "give a node other than the VI's own")

    def named_by(self, message: Message) -> Iterator[ViContext]:
        """Return the VIs whose present or broken connection a message names."""
        return (vi for vi in list(self.vis.contexts) if vi.made is not None and vi.made.name == message.name)

    async def join(self, vi: ViContext, node: int, peer: int, made: Message) -> None:
        """Connect a VI to a VI of another node.

        Another local VI that is still connected to that VI has missed the end of its connection, and is closed.
        """
        for other in self.vis.contexts:
            same = (other.peer, other.remote) == (node, peer)
            if same and other is not vi and other.state is State.CONNECTED:
                await other.close()
        vi.made = made
        await vi.set_state(State.CONNECTED, node, peer, made.number << 1 | (made.origin == max(node, self.me)))

    async def disconnect(self, vi: ViContext) -> None:
        """End a connection from this side, so that the VI can be connected again. Raises VipError."""
        with vi.change("disconnecting"):
            if vi.made is None:
                raise VipError(Result.INVALID_STATE, f"disconnecting VI {vi.number}", "connect it first")
            await self.end(vi)

    async def end(self, vi: ViContext) -> None:
        """End a connection, notify the peer, and return the VI to its initial state."""
        if vi.state is State.CONNECTED and vi.made is not None:
            await self._notices.send(vi.peer, vi.made)
        await vi.close(by=EndedBy.OWNER)
        await vi.set_state(State.CLOSED)
        vi.made = None

    async def disconnected(self, message: Message) -> None:
        """Handle DISCONNECT: the peer has ended the connection."""
        await self.sender.send(message.source, message._replace(type=Type.GONE, source=self.me))
        for vi in self.named_by(message):
            if vi.peer == message.source:
                await vi.close(by=EndedBy.PEER)
