"""Requests and replies of Active Message layers: messages that name their handlers (paper 002).

The handler of a request may reply once; the handler of a reply sends nothing. If a request's handler does not reply,
the library sends a reply that names no handler.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Generic, Protocol, TypeVar

from firmware.common.host.code_image import CodeImage, ImageError
from pymodels.errors import SanlabError

Handler = Callable[..., Coroutine[Any, Any, None]]
"""Handler of a message; its argument is the `Call`."""
NO_HANDLER = 0
"""Handler address of a reply that only acknowledges a request."""
WORD = 1 << 32


class Kind(IntEnum):
    """Kind of a message, as encoded on the wire."""

    REQUEST = 0
    REPLY = 1

    @property
    def label(self) -> str:
        """Name of the kind in error messages."""
        return self.name.lower()


@dataclass(frozen=True)
class Rules:
    """Limits on the messages of a process, and the functions that messages can name. Errors have the layer's class."""

    who: str
    """Name of the process in error messages."""
    error: Callable[[str, str, str], SanlabError]
    partners: Sequence[int]
    image: CodeImage[Handler]
    arguments: int
    """Maximum number of argument words in a message."""
    most: int
    """Maximum number of data bytes in a message."""

    def check(self, node: int, arguments: Sequence[int], size: int | None) -> None:
        """Raise `error` for a message that cannot be sent. `size` is None for data that are not bytes."""
        what = f"{self.who}: a message to node {node!r}"
        if node not in self.partners:
            raise self.error(what, "unknown node", f"one of {list(self.partners)}")
        if len(arguments) > self.arguments:
            raise self.error(what, f"{len(arguments)} arguments", f"give {self.arguments} at most")
        if not all(type(one) is int and 0 <= one < WORD for one in arguments):
            raise self.error(what, f"arguments {tuple(arguments)!r}", "give integers from 0 to 2**32 - 1")
        if size is None or size > self.most:
            raise self.error(what, f"data must be bytes, at most {self.most} of them", "send less, or several messages")

    def reject_nested_request(self, kind: Kind, node: int) -> None:
        """Raise `error` for a request made by the handler of a message of `kind`."""
        what, cause = f"{self.who}: a request to node {node}", f"the handler of a {kind.label} makes it"
        raise self.error(what, cause, "reply instead, or request outside of handlers")

    def handler(self, kind: Kind, source: int, address: int) -> Handler | None:
        """Return the function that a message names, or None for a reply without a handler. Raises `error`."""
        if address == NO_HANDLER and kind is Kind.REPLY:
            return None
        try:
            return self.image.handler(address)
        except ImageError as error:
            what = f"{self.who}: a {kind.label} of node {source}"
            raise self.error(what, f"{error.what}: {error.cause}", "run one program on all nodes") from error


def size_of(data: object) -> int | None:
    """Return the size of a message's data in bytes, or None for an object that is not bytes-like."""
    return len(data) if isinstance(data, bytes | bytearray | memoryview) else None


Header = TypeVar("Header")


class Answering(Protocol[Header]):
    """Process that has received a message."""

    @property
    def rules(self) -> Rules:
        """Limits on messages of the process."""

    def check(self, node: int, arguments: Sequence[int], data: Any) -> None:
        """Raise the layer's error for a message that cannot be sent."""

    async def answer(self, call: Call[Header], handler: int, arguments: tuple[int, ...], data: Any) -> None:
        """Send the reply to a request; `handler` is the address of the reply's handler."""

    def load(self, address: int, size: int) -> bytes:
        """Return bytes of the process's memory."""


class Call(Generic[Header]):
    """Received message as seen by its handler. Its data stay in a buffer of the process until the handler returns."""

    def __init__(
        self,
        port: Answering[Header],
        header: Header,
        source: int,
        kind: Kind,
        arguments: tuple[int, ...],
        address: int,
        size: int,
    ) -> None:
        self._port, self.header = port, header
        self.source, self.kind, self.arguments = source, kind, arguments
        self.address, self.size = address, size
        """Address of the data in the memory of the process, and size of the data in bytes."""
        self.replied = False

    @property
    def data(self) -> bytes:
        """Data of the message."""
        return self._port.load(self.address, self.size) if self.size else b""

    async def reply(self, handler: Handler, *arguments: int, data: Any = b"") -> None:
        """Reply to a request, once, from its handler.

        Args:
            handler: Function that handles the reply.
            arguments: Words of 32 bits.
            data: Bytes of data.

        Raises:
            SanlabError: The message cannot be sent (the layer's class).
            ImageError: The handler is not in the code image.
        """
        rules = self._port.rules
        if self.kind is Kind.REPLY or self.replied:
            cause = "the message is a reply" if self.kind is Kind.REPLY else "the request has its reply"
            raise rules.error(f"a reply to node {self.source}", cause, "reply once, in the handler of a request")
        self._port.check(self.source, arguments, data)
        address = rules.image.address(handler)
        self.replied = True
        await self._port.answer(self, address, arguments, data)
