"""Notices of the end of a connection, sent until the peer acknowledges them."""

from __future__ import annotations

from firmware.verbs import Host
from firmware.via.host.common.waiting import Flag
from firmware.via.host.kernel_agent.messages.message import Message, Type
from firmware.via.host.kernel_agent.messages.repeats import limited_waits_us
from firmware.via.host.kernel_agent.messages.sender import MessageSender


class DisconnectNotices:
    """Disconnect notices of one host."""

    def __init__(self, host: Host, me: int, repeat_us: int, sender: MessageSender) -> None:
        """Create the object for node `me`; `repeat_us` is the first retransmission time-out."""
        self._host, self._me, self._repeat_us, self._sender = host, me, repeat_us, sender
        self._unanswered: dict[tuple[int, int], Flag] = {}
        """Unacknowledged notices by name of the connection."""

    def begin(self, node: int, made: Message, vi: int) -> None:
        """Notify a node of the end of a VI's connection, in a task of its own."""
        self._host.spawn(self.send(node, made), f"the end of a connection of VI {vi}")

    async def send(self, node: int, made: Message) -> None:
        """Notify a node of the end of the connection that a message names, with retransmissions."""
        self._unanswered[made.name] = flag = Flag(self._host, f"node {node} to confirm the end of a connection")
        notice = made._replace(type=Type.DISCONNECT, source=self._me)
        await self._sender.send(node, notice)
        self._host.spawn(self._resend(node, notice, flag), flag.why)

    async def _resend(self, node: int, notice: Message, flag: Flag) -> None:
        for wait in limited_waits_us(self._repeat_us):
            if await flag.wait(None, wait):
                break
            await self._sender.send(node, notice)
        self._unanswered.pop(notice.name, None)

    def answered(self, message: Message) -> None:
        """Handle the acknowledgement of a notice."""
        flag = self._unanswered.get(message.name)
        if flag is not None:
            flag.raise_()
