"""Active messages (paper 003, C.4.2): send and poll."""

from __future__ import annotations

from collections.abc import Callable

from firmware.grim.formats import MAX_SEND, Device, Reference, endpoint, reference, vnn_of
from firmware.grim.host.arguments import whole, word
from firmware.grim.host.calls import Calls
from firmware.grim.host.crc import sealed
from firmware.grim.host.errors import LIMIT_REMEDY, GrimError
from firmware.grim.host.handlers import ABSENT, Handler, Handlers
from firmware.grim.host.messenger import Messenger
from firmware.grim.host.nodes import Nodes
from firmware.grim.host.segments import ACTIVE, CARD, Payload, Target, cut, payload_parts
from firmware.grim.nic.layout import Layout
from firmware.grim.options import Options
from firmware.verbs import Host
from pymodels.config.model import IO_CARD

_LEAST, _MOST = -(1 << 31), (1 << 32) - 1
"""Range of an argument: 32 bits, signed or unsigned."""


class Messages:
    """Calls of table C.4, and the messages between libraries.

    All calls of the API spell out their arguments, so that editors show them and a wrong name fails at the call.
    """

    def __init__(
        self,
        host: Host,
        options: Options,
        layout: Layout,
        nodes: Nodes,
        calls: Calls,
        handlers: Handlers,
        process: str = "",
    ) -> None:
        """Create the calls of the host's own application, or of a process with this name."""
        self._process = process
        self._channel = nodes.process(nodes.me, process).channel if process else 0
        """Channel of the messages between libraries."""
        self._host, self._options, self._layout = host, options, layout
        self._nodes, self._calls, self._handlers = nodes, calls, handlers
        self._targets: dict[tuple[int, int], Target] = {}

    def built_in(self) -> dict[int, Handler]:
        """Return the built-in handler of reports about messages to unknown handlers."""
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
        """Run a handler at an endpoint (`grim_send`). Polls once first, and polls while the channel's queue is full.

        Args:
            destination: Reference of the endpoint.
            handler: Number of the handler.
            a0: Argument of 32 bits, as are `a1`, `a2` and `a3`.
            a1: Second argument.
            a2: Third argument.
            a3: Fourth argument.
            payload: Up to 16 MB: bytes, a buffer, or a region of host memory (`address`, `size`).
            channel: Channel of this host; messages of one channel arrive in order.

        Raises:
            GrimError: An argument is invalid, or an earlier message failed.
        """
        messenger = self._calls.ready()
        if handler not in self._handlers.names:
            self._handlers.check(handler)
        await self._send(messenger, destination, handler, (a0, a1, a2, a3), payload, channel)

    async def send_internal(
        self, destination: int, handler: int, a0: int = 0, a1: int = 0, a2: int = 0, a3: int = 0, payload: bytes = b""
    ) -> None:
        """Send to a built-in handler of another library, without raising the application's pending errors."""
        await self._send(self._calls.messenger, destination, handler, (a0, a1, a2, a3), payload, self._channel)

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
            self._check_circuit(target, handler, payload)
        if target.stream < 0:
            await self._send_to_self(messenger, channel, handler, arguments, payload)
        else:
            await self.send_message(messenger, target, handler, arguments, payload)

    async def send_message(
        self, messenger: Messenger, target: Target, handler: int, arguments: tuple[int, int, int, int], payload: Payload
    ) -> None:
        """Send a message with checked handler and arguments, cut into segments."""
        parts, sending = payload_parts(payload), messenger.sending
        if self._options.crc32 and target.kinds is ACTIVE:
            parts = await sealed(self._host, self._nodes.me, handler, arguments, parts)
        pieces = cut(target, handler, arguments, parts, self._options.segment_bytes, sending.begin())
        await sending.send(target, pieces, parts[2], bool(parts[1]))

    def words(self, arguments: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
        """Return the arguments as unsigned 32-bit words. Raises GrimError for an argument out of range."""
        for number, value in enumerate(arguments):
            if not _LEAST <= (value if type(value) is int else whole(f"argument {number}", value)) <= _MOST:
                raise GrimError(f"argument {number}", f"{value} does not fit into 32 bits", "send it as payload")
        a0, a1, a2, a3 = arguments
        return a0 & 0xFFFFFFFF, a1 & 0xFFFFFFFF, a2 & 0xFFFFFFFF, a3 & 0xFFFFFFFF

    def target(self, destination: int, channel: int) -> Target:
        """Return header fields and stream of messages from a channel of this host to an endpoint.

        Raises GrimError for an invalid reference or channel.
        """
        if type(destination) is type(channel) is int and (destination, channel) in self._targets:
            return self._targets[destination, channel]
        destination, channel = word("destination", destination), whole("channel", channel)
        parts = self._nodes.endpoint(destination, "destination")
        self._nodes.own_channel(channel, self._process)
        stream = (channel * len(self._nodes.names) + parts.vnn) * self._layout.targets + parts.channel
        if self._options.sequencing == "per-ni":
            stream = parts.vnn
        to_self = parts.vnn == self._nodes.me and parts.device == Device.HOST
        if to_self and self._nodes.channels(parts.vnn).process(parts.channel) != self._process:
            to_self = False  # another endpoint of this node polls by itself: the message goes over the NI
        own, other = endpoint(self._nodes.me, Device.HOST), endpoint(parts.vnn, parts.device)
        kinds = CARD if parts.device == Device.CELOXICA else ACTIVE
        target = Target(own, other, (channel, parts.channel), -1 if to_self else stream, kinds)
        self._targets[destination, channel] = target
        return target

    def _check_circuit(self, target: Target, handler: int, payload: Payload) -> None:
        """Raise GrimError if a payload is longer than its circuit, or an I/O card, accepts."""
        name = self._handlers.names.get(handler, "")
        size, most = payload_parts(payload)[2], self._options.segment_bytes
        if size > most and self._nodes.has_card(vnn_of(target.destination), (IO_CARD,)):
            cause = f"{size} bytes, but a card takes at most one segment of {most}"
            raise GrimError("payload", cause, "send several messages, or increase option segment_bytes")
        most = self._nodes.limits.get(name, MAX_SEND)
        if size > most:
            cause = f"{size} bytes, but circuit {name!r} of an FPGA card accepts at most {most}"
            raise GrimError("payload", cause, LIMIT_REMEDY)

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
        """Process received messages of all channels, or of one, and return the number of handlers that ran
        (`grim_poll`).
        """
        dispatch = self._calls.ready().dispatch
        if channel is not None:
            channel = self._nodes.own_channel(whole("channel", channel), self._process)
        handled = await dispatch.poll(channel)
        if not handled:
            await self._host.spend("poll_empty")
        return handled

    async def wait_for(self, condition: Callable[[], bool]) -> None:
        """Poll until a condition holds: `while (!condition) grim_poll();`, simulated without idle rounds."""
        dispatch = self._calls.ready().dispatch
        if not callable(condition):
            raise GrimError("condition", f"{condition!r} is not callable", "give a function")
        if not condition():
            self._calls.may_wait("wait_for")
            await dispatch.wait_for(condition)

    # ---- errors on other nodes

    async def absent(self, source: int, handler: int) -> None:
        """Report a message to an unknown handler back to its sender."""
        parts = reference(source)
        if parts.device == Device.NI:  # the channel of a multicast message holds its original sender
            source = Reference(parts.channel >> 8, Device.HOST, 0).pack()
        if handler != ABSENT:
            await self.send_internal(source, ABSENT, handler)

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
