"""Active messages (paper 003, C.4.2): send, poll."""

from __future__ import annotations

from collections.abc import Callable

from firmware.grim.formats import Device, Reference, endpoint, reference
from firmware.grim.host.arguments import whole, word
from firmware.grim.host.calls import Calls
from firmware.grim.host.crc import sealed
from firmware.grim.host.errors import GrimError
from firmware.grim.host.handlers import ABSENT, Handler, Handlers
from firmware.grim.host.messenger import Messenger
from firmware.grim.host.nodes import Nodes
from firmware.grim.host.segments import ACTIVE, Payload, Target, cut, payload_parts
from firmware.grim.nic.layout import Layout
from firmware.grim.options import Options
from firmware.verbs import Host

_LEAST, _MOST = -(1 << 31), (1 << 32) - 1
"""What an argument may be: 32 bits, with or without a sign."""


class Messages:
    """Table C.4, and the messages between libraries.

    The calls of the API, here and beside, have every argument written out, though several share them: an editor shows
    what a call takes, and a wrong name is refused where it is written.
    """

    def __init__(
        self, host: Host, options: Options, layout: Layout, nodes: Nodes, calls: Calls, handlers: Handlers
    ) -> None:
        self._host, self._options, self._layout = host, options, layout
        self._nodes, self._calls, self._handlers = nodes, calls, handlers
        self._targets: dict[tuple[int, int], Target] = {}

    def built_in(self) -> dict[int, Handler]:
        """The handler that every node has for reports of messages to a handler that does not exist."""
        return {ABSENT: self._absent_there}

    async def send(
        self,
        destination: int,
        handler: int,
        a0: int = 0,
        a1: int = 0,
        a2: int = 0,
        a3: int = 0,
        payload: Payload = b"",
        *,
        channel: int = 0,
    ) -> None:
        """`grim_send`: run `handler` at `destination` with four 32-bit arguments and up to 16 MB. Polls once first.

        `payload` is bytes, anything with the buffer protocol, or a region of host memory (`address`, `size`).
        `channel` is a channel of this host; its messages arrive in order. Waits, polling, while the channel's queue is
        full. Raises GrimError.
        """
        messenger = self._calls.ready()
        if handler not in self._handlers.names:
            self._handlers.check(handler)
        await self._send(messenger, destination, handler, (a0, a1, a2, a3), payload, channel)

    async def tell(
        self, destination: int, handler: int, a0: int = 0, a1: int = 0, a2: int = 0, a3: int = 0, payload: bytes = b""
    ) -> None:
        """`send` to a built-in handler of another library. It does not raise the pending errors of the application."""
        await self._send(self._calls.messenger, destination, handler, (a0, a1, a2, a3), payload, 0)

    async def _send(
        self,
        messenger: Messenger,
        destination: int,
        handler: int,
        values: tuple[int, int, int, int],
        payload: Payload,
        channel: int,
    ) -> None:
        target = self.target(destination, channel)
        arguments = self.words(values)
        if target.destination & 3 == Device.CELOXICA:
            self._fits_card(payload)
        if target.stream < 0:
            await self._send_to_self(messenger, channel, handler, arguments, payload)
        else:
            await self.send_message(messenger, target, handler, arguments, payload)

    async def send_message(
        self, messenger: Messenger, target: Target, handler: int, arguments: tuple[int, int, int, int], payload: Payload
    ) -> None:
        """Send a message whose handler and arguments are checked, cut into segments."""
        parts, sending = payload_parts(payload), messenger.sending
        if self._options.crc32 and target.kinds is ACTIVE and target.destination & 3 != Device.CELOXICA:
            parts = await sealed(self._host, self._nodes.me, handler, arguments, parts)
        sending.sends += 1
        pieces = cut(target, handler, arguments, parts, self._options.segment_bytes, sending.sends)
        await sending.send(target, pieces, parts[2], bool(parts[1]))

    def words(self, arguments: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
        """The arguments as 32-bit words. Raises GrimError for one that does not fit."""
        for number, value in enumerate(arguments):
            if not _LEAST <= (value if type(value) is int else whole(f"argument {number}", value)) <= _MOST:
                raise GrimError(f"argument {number}", f"{value} does not fit into 32 bits", "send it as payload")
        a0, a1, a2, a3 = arguments
        return a0 & 0xFFFFFFFF, a1 & 0xFFFFFFFF, a2 & 0xFFFFFFFF, a3 & 0xFFFFFFFF

    def target(self, destination: int, channel: int) -> Target:
        """Where a message goes that is sent from an own channel. Raises GrimError."""
        if type(destination) is type(channel) is int and (destination, channel) in self._targets:
            return self._targets[destination, channel]
        destination, channel = word("destination", destination), whole("channel", channel)
        parts = self._nodes.endpoint(destination, "destination")
        self._nodes.own_channel(channel)
        stream = (channel * len(self._nodes.names) + parts.vnn) * self._layout.targets + parts.channel
        if self._options.sequencing == "per-ni":
            stream = parts.vnn
        to_self = parts.vnn == self._nodes.me and parts.device == Device.HOST
        own, other = endpoint(self._nodes.me, Device.HOST), endpoint(parts.vnn, parts.device)
        target = Target(own, other, (channel, parts.channel), -1 if to_self else stream)
        self._targets[destination, channel] = target
        return target

    def _fits_card(self, payload: Payload) -> None:
        """A card takes no segments. Raises GrimError."""
        size, most = payload_parts(payload)[2], self._options.segment_bytes
        if size > most:
            cause = f"{size} bytes, and a card takes messages of one segment: {most}"
            raise GrimError("payload", cause, "send several messages, or make option segment_bytes larger")

    async def _send_to_self(
        self, messenger: Messenger, channel: int, handler: int, arguments: tuple[int, int, int, int], payload: Payload
    ) -> None:
        data, address, size = payload_parts(payload)
        await self._host.spend("send_to_self")
        copy = self._host.load_bytes(address, size) if address else bytes(data)
        await self._host.spend("copy_line", -(-size // 32) or 1)
        a0, a1, a2, a3 = (value - (value >> 31 << 32) for value in arguments)
        messenger.dispatch.to_self(
            (Reference(self._nodes.me, Device.HOST, channel).pack(), handler, (a0, a1, a2, a3), copy)
        )

    async def poll(self, channel: int | None = None) -> int:
        """`grim_poll`: process the messages that have come, to all endpoints of this host one by one or to that of one
        channel only; how many handlers ran.
        """
        dispatch = self._calls.ready().dispatch
        if channel is not None:
            channel = self._nodes.own_channel(whole("channel", channel))
        handled = await dispatch.poll(channel)
        if not handled:
            await self._host.spend("poll_empty")
        return handled

    async def wait_for(self, condition: Callable[[], bool]) -> None:
        """`while (!condition) grim_poll();`, without cost to the simulation while nothing comes."""
        dispatch = self._calls.ready().dispatch
        if not callable(condition):
            raise GrimError("condition", f"{condition!r} cannot be called", "give a function")
        if not condition():
            self._calls.may_wait("wait_for")
            await dispatch.wait_for(condition)

    # ---- what went wrong elsewhere

    async def absent(self, source: int, handler: int) -> None:
        """A message came for a handler that this endpoint does not have: tell its sender."""
        parts = reference(source)
        if parts.device == Device.NI:  # of a multicast message only the header's channel tells who sent it
            source = Reference(parts.channel >> 8, Device.HOST, 0).pack()
        if handler != ABSENT:
            await self.tell(source, ABSENT, handler)

    def _absent_there(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        parts = reference(source)
        name = self._handlers.names.get(a0, str(a0))
        self._calls.errors.append(
            GrimError(
                "handler",
                f"{name!r} is not registered at node {parts.vnn}, channel {parts.channel}",
                "register it there",
            )
        )
