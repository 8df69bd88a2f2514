"""Connection protocol of the kernel agents, whose messages are packets to and from VI 0 (readings C12).

    client                                       server
    request ── REQUEST (discriminator, VI) ───>  connect_wait
            <─ ACCEPT (VI) or REJECT ──────────  connect_accept, connect_reject
            ── CONFIRM ───────────────────────>  connected
    either  ── DISCONNECT ────────────────────>  the other's VI breaks
            <─ GONE ───────────────────────────

Packets may be lost. REQUEST, ACCEPT and DISCONNECT are retransmitted until acknowledged, each time after twice the
previous time-out (`messages/repeats.py`). A connection has a number by which duplicates are recognized. A server whose
ACCEPTs are not confirmed gives up, and sends DISCONNECT. Its client then loses the connection, or is rejected if it
still waits. Whenever a connection breaks at one end, DISCONNECT informs the other end.
"""

from __future__ import annotations

from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.kernel_agent.connections.client import Client
from firmware.via.host.kernel_agent.connections.local_ends import LocalEnds
from firmware.via.host.kernel_agent.connections.peers import Peers
from firmware.via.host.kernel_agent.connections.server import Server
from firmware.via.host.kernel_agent.messages.message import Message, Type
from firmware.via.host.kernel_agent.messages.notices import DisconnectNotices
from firmware.via.host.kernel_agent.vis.context import ViContext
from pymodels.trace import TraceEvent


class ConnectionManager:
    """Connections of one host."""

    def __init__(self, ends: LocalEnds, notices: DisconnectNotices) -> None:
        self._ends, self._notices, self._host = ends, notices, ends.host
        self.peers = Peers(ends)
        self.client = Client(ends, self.peers)
        self.server = Server(ends, self.peers)

    async def disconnect(self, vi: ViContext) -> None:
        """End a connection, or a pending peer request, from this side. Raises VipError."""
        if self.peers.pending(vi):
            await self.peers.give_up(
                vi, VipError(Result.REJECT, f"the peer request of VI {vi.number}", "request the peer again")
            )
        else:
            await self._ends.disconnect(vi)

    def arrived(self, message: Message, number: int) -> None:
        """Handle a received message, in a task of its own; `number` is its number in the trace."""
        self._host.trace(TraceEvent.POLL_HIT, 0, 0, message.source, message=number)
        self._host.spawn(self._serve(message), "the kernel agent")

    async def _serve(self, message: Message) -> None:
        """Dispatch a message by its type."""
        await self._host.spend("agent_serve")
        if message.type == Type.REQUEST:
            await self.server.requested(message)
        elif message.type in (Type.ACCEPT, Type.REJECT):
            await self.client.answered(message)
        elif message.type == Type.CONFIRM:
            self.server.confirmed(message)
        elif message.type == Type.DISCONNECT:
            self.client.given_up(message)
            await self._ends.disconnected(message)
        elif message.type == Type.GONE:
            self._notices.answered(message)
        else:
            await self.peers.arrived(message)
