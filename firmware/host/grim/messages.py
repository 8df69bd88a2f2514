"""The active message interface (paper 003, C.4): handlers, send, poll."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from firmware.host.grim.arguments import text, whole, word
from firmware.host.grim.database import Database
from firmware.host.grim.errors import GrimError
from firmware.host.grim.handlers import ABSENT, Handler
from firmware.host.grim.messenger import Messenger
from firmware.host.grim.nodes import Nodes
from firmware.host.grim.segments import Payload, Target, cut, payload_parts
from firmware.layers import ClusterView
from firmware.verbs import Host
from pymodels.formats.grim import Device, Reference, endpoint, reference

ENDPOINTS = (Device.HOST, Device.CELOXICA)
"""Devices that messages can be sent to."""
_LEAST, _MOST = -(1 << 31), (1 << 32) - 1
"""What an argument may be: 32 bits, with or without a sign."""


class ActiveMessages(Nodes):
    """Tables C.3 and C.4."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        super().__init__(host, view)
        self._database = Database(self, self._tell, self._may_wait)
        self._targets: dict[tuple[int, int], Target] = {}

    # ---- handlers (paper 003, C.4.1)

    def register_handler(self, function: Handler, name: str) -> None:
        """`grim_register_handler`: enter an own handler; others can use it after `sync_handlers`."""
        self.handlers.register(function, name)

    async def sync_handlers(self) -> None:
        """`grim_syncHandlers`: publish the own handlers, learn those that are published. Awaits the server on node
        0.
        """
        await self._begin_call()
        await self._database.synchronise()

    async def resolve_handler(self, name: str) -> int:
        """`grim_resolveHandler`: the number of a handler; asks the server when it is not known here. GrimError when
        nobody has it.
        """
        await self._begin_call()
        return await self._database.resolve(text("name", name))

    @property
    def nodes_served(self) -> int:
        """On node 0: how often another node has synchronised its handlers with this server."""
        return self._database.served

    def _built_in(self) -> dict[int, Handler]:
        """The handlers that every node has from the beginning, by number."""
        return {**self._database.built_in(), ABSENT: self._absent_there}

    # ---- messages (paper 003, C.4.2)

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
        `channel` is the own channel, whose messages arrive in order. Waits, polling, while the channel's queue is
        full. Raises GrimError.
        """
        messenger = self._ready()
        if handler not in self.handlers.names:
            self.handlers.check(handler)
        await self._send(messenger, destination, handler, (a0, a1, a2, a3), payload, channel)

    async def _tell(
        self, destination: int, handler: int, a0: int = 0, a1: int = 0, a2: int = 0, a3: int = 0, payload: bytes = b""
    ) -> None:
        """`send` to a built-in handler of another library. Errors that wait for the application are not for it."""
        assert self._messenger is not None
        await self._send(self._messenger, destination, handler, (a0, a1, a2, a3), payload, 0)

    async def _send(
        self,
        messenger: Messenger,
        destination: int,
        handler: int,
        values: tuple[int, int, int, int],
        payload: Payload,
        channel: int,
    ) -> None:
        target = self._target(destination, channel)
        arguments = self._words(values)
        if target.w2 & 0xFF == Device.CELOXICA:
            self._fits_card(payload)
        if target.stream < 0:
            await self._send_to_self(messenger, channel, handler, arguments, payload)
        else:
            await self._send_message(messenger, target, handler, arguments, payload)

    def _send_message(
        self, messenger: Messenger, target: Target, handler: int, arguments: tuple[int, int, int, int], payload: Payload
    ) -> Awaitable[None]:
        parts = payload_parts(payload)
        messenger.sends += 1
        pieces = cut(target, handler, arguments, parts, self.options.segment_bytes, messenger.sends)
        return messenger.send(target, pieces, parts[2], bool(parts[1]))

    def _words(self, arguments: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
        """The arguments as 32-bit words. Raises GrimError for one that does not fit."""
        for number, value in enumerate(arguments):
            if not _LEAST <= (value if type(value) is int else whole(f"argument {number}", value)) <= _MOST:
                raise GrimError(f"argument {number}", f"{value} does not fit into 32 bits", "send it as payload")
        a0, a1, a2, a3 = arguments
        return a0 & 0xFFFFFFFF, a1 & 0xFFFFFFFF, a2 & 0xFFFFFFFF, a3 & 0xFFFFFFFF

    def _target(self, destination: int, channel: int) -> Target:
        """Where a message goes that is sent from an own channel. Raises GrimError."""
        if type(destination) is type(channel) is int and (destination, channel) in self._targets:
            return self._targets[destination, channel]
        destination, channel = word("destination", destination), whole("channel", channel)
        parts = self._reference(reference(destination), "destination")
        if parts.device not in ENDPOINTS:
            cause = f"a device of type {Device(parts.device).name} runs no handlers"
            raise GrimError("destination", cause, "take a host or an FPGA card")
        self._reference(Reference(self._me, Device.HOST, channel), "channel")
        stream = (channel * len(self._names) + parts.vnn) * self.layout.targets + parts.channel
        if self.options.sequencing == "per-ni":
            stream = parts.vnn
        w1, w2, w3 = (
            endpoint(self._me, Device.HOST),
            endpoint(parts.vnn, parts.device),
            channel << 24 | parts.channel << 16,
        )
        to_self = parts.vnn == self._me and parts.device == Device.HOST
        target = Target(w1, w2, w3, channel, -1 if to_self else stream)
        self._targets[destination, channel] = target
        return target

    def _fits_card(self, payload: Payload) -> None:
        """A card takes no segments. Raises GrimError."""
        size, most = payload_parts(payload)[2], self.options.segment_bytes
        if size > most:
            cause = f"{size} bytes, and a card takes messages of one segment: {most}"
            raise GrimError("payload", cause, "send several messages, or make option segment_bytes larger")

    async def _send_to_self(
        self, messenger: Messenger, channel: int, handler: int, arguments: tuple[int, int, int, int], payload: Payload
    ) -> None:
        data, address, size = payload_parts(payload)
        await self.host.spend("send_to_self")
        copy = self.host.load_bytes(address, size) if address else bytes(data)
        await self.host.spend("copy_line", -(-size // 32) or 1)
        a0, a1, a2, a3 = (value - (value >> 31 << 32) for value in arguments)
        messenger.to_self((Reference(self._me, Device.HOST, channel).pack(), handler, (a0, a1, a2, a3), copy))

    async def poll(self, channel: int | None = None) -> int:
        """`grim_poll`: process the messages that have come, to all endpoints of this host one by one or to that of one
        channel only; how many handlers ran.
        """
        messenger = self._ready()
        if channel is not None:
            channel = self._reference(Reference(self._me, Device.HOST, whole("channel", channel)), "channel").channel
        handled = await messenger.poll(channel)
        if not handled:
            await self.host.spend("poll_empty")
        return handled

    async def wait_for(self, condition: Callable[[], bool]) -> None:
        """`while (!condition) grim_poll();`, without cost to the simulation while nothing comes."""
        messenger = self._ready()
        if not callable(condition):
            raise GrimError("condition", f"{condition!r} cannot be called", "give a function")
        if not condition():
            self._may_wait("wait_for")
            await messenger.wait_for(condition)

    @property
    def overflow(self) -> int:
        """Messages and segments that handlers have sent and the NI had no room for."""
        return self._messenger.overflow if self._messenger is not None else 0

    # ---- what went wrong elsewhere

    async def _absent(self, source: int, handler: int) -> None:
        """A message came for a handler that this endpoint does not have: tell its sender."""
        parts = reference(source)
        if parts.device == Device.NI:  # of a multicast message only the header's channel tells who sent it
            source = Reference(parts.channel >> 8, Device.HOST, 0).pack()
        if handler != ABSENT:
            await self._tell(source, ABSENT, handler)

    def _absent_there(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        parts = reference(source)
        name = self.handlers.names.get(a0, str(a0))
        self._fail(
            GrimError(
                "handler",
                f"{name!r} is not registered at node {parts.vnn}, channel {parts.channel}",
                "register it there",
            )
        )
