"""Endpoints of a process as one port, with handlers identified by themselves, and the reasons of returned messages."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from firmware.am2.host import Am2, Bundle, Code, Endpoint, EndpointName, Mask, Token
from firmware.am2.nic.layout import BLOCKS_A_QUEUE

Handler = Callable[..., Coroutine[Any, Any, None]]
LACKING, MISSING_ENDPOINT = 199, 40
"""Index of a missing handler; name of a missing endpoint."""
UNREACHABLE = 250
"""Translation of messages that must return."""
REASONS = {
    "bad endpoint": Code.BAD_ENDPOINT,
    "bad tag": Code.BAD_TAG,
    "no route": Code.UNREACHABLE,
    "bad handler": Code.BAD_HANDLER,
    "bad place": Code.BAD_SEGMENT_OFFSET,
    "bad length": Code.BAD_LENGTH,
}


class Call:
    """Message as handlers of the fuzz test see it."""

    def __init__(self, port: Port, token: Token, data: bytes) -> None:
        self.source, self.arguments, self.data, self.token = token.source.node, token.arguments, data, token
        self._port = port

    async def reply(self, handler: Handler, *words: int, data: bytes = b"") -> None:
        """Answer the message."""
        index = self._port.index(handler)
        if data:
            await self.token.reply_i(index, data, *words)
        else:
            await self.token.reply(index, *words)


class Port:
    """Endpoints of a process."""

    def __init__(self, am2: Am2, key: int, handlers: Sequence[Handler], returned: Handler) -> None:
        self._library = am2.init()
        self.process = self._library.process
        self.bundle = self._library.allocate_bundle()
        self.tag = 0x1_0000_0000 * key + 0xA2
        self.most = am2.options.medium
        self.put_most = BLOCKS_A_QUEUE * self.most if am2.options.full == "nack" else 1 << 32
        """Maximum bytes of bulk data that get through after repeated attempts."""
        self._handlers, self._returned = list(handlers), returned
        self.segment = (0, 0)

    @property
    def endpoints(self) -> list[Endpoint]:
        """Open endpoints; others know the first."""
        return self.bundle.endpoints

    def index(self, handler: Handler) -> int:
        """Return the index of a handler."""
        return self._handlers.index(handler) + 1

    async def open(self, weight: int = 1) -> Endpoint:
        """Open a further endpoint."""
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
        """Return the translation to an endpoint of the same program."""
        endpoint.map(index or name.node, name, self.tag)
        return index or name.node

    def sender(self, number: int) -> Endpoint:
        """Return the endpoint that sends request `number`."""
        return self.endpoints[number % len(self.endpoints)]

    async def send(self, number: int, name: EndpointName, handler: Handler, *words: int, data: bytes = b"") -> None:
        """Send a request."""
        endpoint = self.sender(number)
        index = self.to(endpoint, name)
        if data:
            await endpoint.request_i(index, self.index(handler), data, *words)
        else:
            await endpoint.request(index, self.index(handler), *words)

    @property
    def unanswered(self) -> int:
        """Number of requests that are neither answered nor returned."""
        return sum(endpoint.unanswered for endpoint in self.endpoints)

    async def poll(self) -> int:
        """Poll all endpoints once."""
        return await self.bundle.poll()

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        """Poll until a condition is true."""
        await self.bundle.until(condition, what)

    async def move_and_back(self) -> None:
        """Move the last endpoint to another bundle, poll that once, and move it back."""
        other: Bundle = self._library.allocate_bundle()
        endpoint = self.endpoints[-1]
        self.bundle.move_endpoint(endpoint, other)
        await other.poll()
        other.move_endpoint(endpoint, self.bundle)

    def sleep(self, sleeps: int) -> None:
        """Choose whether waits sleep."""
        self.bundle.set_event_mask(Mask.NOT_EMPTY if sleeps else Mask.NONE)

    async def close(self) -> None:
        """Close the port."""
        await self._library.terminate()
