"""Endpoints of a process as one port, whose handlers are named by themselves, and why a message comes back."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from firmware.am2.host import Am2, Bundle, Code, Endpoint, EndpointName, Mask, Token
from firmware.am2.nic.layout import BLOCKS_A_QUEUE

Handler = Callable[..., Coroutine[Any, Any, None]]
LACKING, NOBODY = 199, 40
"""A handler that no endpoint has; an endpoint that no host has."""
TO_NOBODY = 250
"""The translation of messages that come back."""
REASONS = {
    "bad endpoint": Code.BAD_ENDPOINT,
    "bad tag": Code.BAD_TAG,
    "no route": Code.UNREACHABLE,
    "bad handler": Code.BAD_HANDLER,
    "bad place": Code.BAD_SEGMENT_OFFSET,
    "bad length": Code.BAD_LENGTH,
}


class Call:
    """A message as handlers of the fuzz see it."""

    def __init__(self, port: Port, token: Token, data: bytes) -> None:
        self.source, self.arguments, self.data, self.token = token.source.node, token.arguments, data, token
        self._port = port

    async def reply(self, handler: Handler, *words: int, data: bytes = b"") -> None:
        """Answer it."""
        index = self._port.index(handler)
        if data:
            await self.token.reply_i(index, data, *words)
        else:
            await self.token.reply(index, *words)


class Port:
    """What a process has."""

    def __init__(self, am2: Am2, key: int, handlers: Sequence[Handler], returned: Handler) -> None:
        self._library = am2.init()
        self.process = self._library.process
        self.bundle = self._library.allocate_bundle()
        self.tag = 0x1_0000_0000 * key + 0xA2
        self.most = am2.options.medium
        self.put_most = BLOCKS_A_QUEUE * self.most if am2.options.full == "nack" else 1 << 32
        """Bytes of bulk data that may be sent again and again, and get through at last."""
        self._handlers, self._returned = list(handlers), returned
        self.segment = (0, 0)

    @property
    def endpoints(self) -> list[Endpoint]:
        """Those that are there; others know the first."""
        return self.bundle.endpoints

    def index(self, handler: Handler) -> int:
        """Of a handler."""
        return self._handlers.index(handler) + 1

    async def open(self, weight: int = 1) -> Endpoint:
        """One more endpoint."""
        endpoint = await self.bundle.allocate_endpoint(weight)
        endpoint.set_handler(0, self._returned)
        for handler in self._handlers:
            endpoint.set_handler(self.index(handler), self._of(handler))
        if self.segment[1]:
            endpoint.set_segment(*self.segment)
        await endpoint.set_tag(self.tag)
        return endpoint

    def _of(self, handler: Handler) -> Handler:
        async def handle(token: Token) -> None:
            await handler(Call(self, token, token.data))

        return handle

    def to(self, endpoint: Endpoint, name: EndpointName, index: int = 0) -> int:
        """The translation to an endpoint of the same program."""
        endpoint.map(index or name.node, name, self.tag)
        return index or name.node

    def sender(self, number: int) -> Endpoint:
        """Which endpoint sends a request of a number."""
        return self.endpoints[number % len(self.endpoints)]

    async def send(self, number: int, name: EndpointName, handler: Handler, *words: int, data: bytes = b"") -> None:
        """A request."""
        endpoint = self.sender(number)
        index = self.to(endpoint, name)
        if data:
            await endpoint.request_i(index, self.index(handler), data, *words)
        else:
            await endpoint.request(index, self.index(handler), *words)

    @property
    def unanswered(self) -> int:
        """Requests that are not answered, and have not come back."""
        return sum(endpoint.unanswered for endpoint in self.endpoints)

    async def poll(self) -> int:
        """Look once."""
        return await self.bundle.poll()

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        """Poll until it holds."""
        await self.bundle.until(condition, what)

    async def move_and_back(self) -> None:
        """Its last endpoint goes into another bundle, which is polled once, and comes back."""
        other: Bundle = self._library.allocate_bundle()
        endpoint = self.endpoints[-1]
        self.bundle.move_endpoint(endpoint, other)
        await other.poll()
        other.move_endpoint(endpoint, self.bundle)

    def sleep(self, sleeps: int) -> None:
        """Whether its waits sleep."""
        self.bundle.set_event_mask(Mask.NOT_EMPTY if sleeps else Mask.NONE)

    async def close(self) -> None:
        """The end."""
        await self._library.terminate()
