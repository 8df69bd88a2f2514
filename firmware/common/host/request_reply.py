"""What Active Message layers share: messages that name their handlers, and the rule of request and reply (paper 002).

The handler of a request may answer it, once; that of a reply sends nothing. A request that its handler has not answered
is answered by the library, with a reply that names no handler.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Generic, Protocol, TypeVar

from firmware.common.host.code_image import CodeImage, ImageError
from pymodels.errors import SanlabError

Handler = Callable[..., Coroutine[Any, Any, None]]
"""Of a message: takes its `Call`."""
NOBODY = 0
"""Handler of a reply that only says that the request has been handled."""
WORD = 1 << 32


class Kind(IntEnum):
    """What a message is, in its bits on the wire."""

    REQUEST = 0
    REPLY = 1

    @property
    def label(self) -> str:
        """As errors call it."""
        return self.name.lower()


@dataclass(frozen=True)
class Rules:
    """What a process may send, and which functions messages name. Errors are of the layer's class."""

    who: str
    """The process, as errors call it."""
    error: Callable[[str, str, str], SanlabError]
    partners: Sequence[int]
    image: CodeImage[Handler]
    arguments: int
    """Words in a message at most."""
    most: int
    """Bytes of data in a message at most."""

    def check(self, node: int, arguments: Sequence[int], size: int | None) -> None:
        """Check a message to be sent; `size` of its data, None: they are no bytes. Raises `error`."""
        what = f"{self.who}: a message to node {node!r}"
        if node not in self.partners:
            raise self.error(what, "there is none", f"one of {list(self.partners)}")
        if len(arguments) > self.arguments:
            raise self.error(what, f"{len(arguments)} arguments", f"give {self.arguments} at most")
        if not all(type(one) is int and 0 <= one < WORD for one in arguments):
            raise self.error(what, f"arguments {tuple(arguments)!r}", "give words of 32 bits")
        if size is None or size > self.most:
            raise self.error(what, f"its data are no more than {self.most} bytes", "cut them")

    def refuse_within(self, kind: Kind, node: int) -> None:
        """A handler of a message of `kind` makes a request. Raises `error`."""
        what, cause = f"{self.who}: a request to node {node}", f"the handler of a {kind.label} makes it"
        raise self.error(what, cause, "reply, or leave it to the program")

    def handler(self, kind: Kind, source: int, address: int) -> Handler | None:
        """The function that a message from a node names; None: a reply that names none. Raises `error`."""
        if address == NOBODY and kind is Kind.REPLY:
            return None
        try:
            return self.image.handler(address)
        except ImageError as error:
            what = f"{self.who}: a {kind.label} of node {source}"
            raise self.error(what, f"{error.what}: {error.cause}", "run one program on all nodes") from error


def size_of(data: object) -> int | None:
    """Bytes of a message's data; None: it is nothing that can be sent."""
    return len(data) if isinstance(data, bytes | bytearray | memoryview) else None


Header = TypeVar("Header")


class Answering(Protocol[Header]):
    """The process that a message has come to."""

    @property
    def rules(self) -> Rules:
        """What it may send."""

    def check(self, node: int, arguments: Sequence[int], data: Any) -> None:
        """Raises the layer's error for a message that cannot be."""

    async def answer(self, call: Call[Header], handler: int, arguments: tuple[int, ...], data: Any) -> None:
        """Send the reply to a request; `handler`: its address."""

    def load(self, address: int, size: int) -> bytes:
        """Bytes of its memory."""


class Call(Generic[Header]):
    """A message, as its handler sees it. Its data stand in a buffer of the process until the handler returns."""

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
        """Where the data stand in the memory of the process, and how many bytes they are."""
        self.replied = False

    @property
    def data(self) -> bytes:
        """The data."""
        return self._port.load(self.address, self.size) if self.size else b""

    async def reply(self, handler: Handler, *arguments: int, data: Any = b"") -> None:
        """Answer a request: once, from its handler. Raises the layer's error, ImageError."""
        rules = self._port.rules
        if self.kind is Kind.REPLY or self.replied:
            cause = "a reply is not answered" if self.kind is Kind.REPLY else "it is answered already"
            raise rules.error(f"a reply to node {self.source}", cause, "reply once, in the handler of a request")
        self._port.check(self.source, arguments, data)
        address = rules.image.address(handler)
        self.replied = True
        await self._port.answer(self, address, arguments, data)
