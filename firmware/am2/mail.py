"""Mail over AM-II: one endpoint a host; each message is a medium message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from firmware.am2.host import Am2, Endpoint, EndpointName, Token
from firmware.am2.host.bundle import Bundle
from firmware.common.host.request_mail import RequestMail

TAG = 0x4D41_494C


class Call:
    """Message as handlers of mail see it."""

    def __init__(self, port: MailPort, token: Token) -> None:
        self.source, self.data = token.source.node, token.data
        self._port, self._token = port, token

    async def reply(self, handler: Callable[..., Any], *, data: bytes) -> None:
        """Reply to a request."""
        await self._token.reply_i(self._port.index(handler), data)


class MailPort:
    """Endpoint whose handlers are named by functions. Translation n is the endpoint of host n."""

    def __init__(self, bundle: Bundle, endpoint: Endpoint, handlers: Sequence[Callable[..., Any]]) -> None:
        self._bundle, self._endpoint, self._handlers = bundle, endpoint, list(handlers)
        for handler in handlers:
            endpoint.set_handler(self.index(handler), self._of(handler))

    @property
    def unanswered(self) -> int:
        """Number of unanswered requests."""
        return self._endpoint.unanswered

    def index(self, handler: Callable[..., Any]) -> int:
        """Return the index of a handler. Index 0 is for returned messages."""
        return self._handlers.index(handler) + 1

    def _of(self, handler: Callable[..., Any]) -> Callable[[Token], Any]:
        async def handle(token: Token) -> None:
            await handler(Call(self, token))

        return handle

    async def until(self, condition: Callable[[], bool], what: str = "a condition", holder: str = "") -> None:
        """Poll until a condition is true. Hang reports show `what` and its `holder`."""
        await self._bundle.until(condition, what, holder)

    async def request(self, node: int, handler: Callable[..., Any], *, data: bytes) -> None:
        """Send a request."""
        await self._endpoint.request_i(node, self.index(handler), data)


class Am2Mail(RequestMail):
    """Mail over the first endpoint of a process on each host."""

    def __init__(self, am2: Am2) -> None:
        super().__init__(am2.host)
        self._am2 = am2
        self.most = am2.options.medium

    async def opened(self, handlers: Sequence[Any]) -> MailPort:
        am2 = self._am2
        await am2.start()
        bundle = am2.init().allocate_bundle()
        endpoint = await bundle.allocate_endpoint()
        port = MailPort(bundle, endpoint, handlers)
        for node in range(am2.nodes):
            endpoint.map(node, EndpointName(node, endpoint.name.endpoint), TAG)
        await endpoint.set_tag(TAG)
        return port


open_mail = Am2Mail
