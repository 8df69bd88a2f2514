"""A message as its handler sees it: its token, with which a request is answered."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from firmware.am2.host.errors import Am2Error
from firmware.am2.nic.words import Code, Head, Kind, Name
from pymodels.host.process import Process

Data = bytes | bytearray | memoryview
"""Payload of a message that is sent."""


class EndpointName(NamedTuple):
    """The global name of an endpoint."""

    node: int
    endpoint: int


class Replies(Protocol):
    """What a token needs of its endpoint."""

    process: Process

    async def reply(
        self, token: Token, kind: Kind, handler: int, words: tuple[int, ...], data: Data, offset: int, wait: bool
    ) -> bool:
        """Post a reply; False: there is no room, and it is not to wait."""


class Token:
    """A message. Its payload stands in a staging block until the handler returns."""

    def __init__(
        self, endpoint: Replies, head: Head, name: Name, arguments: tuple[int, ...], va: int, size: int, index: int
    ) -> None:
        self.endpoint, self.head, self.arguments, self.va, self.size = endpoint, head, arguments, va, size
        self.source = EndpointName(name.node, name.endpoint)
        """Who has sent it; of a returned message, to whom it went."""
        self.index = index
        """Of its descriptor."""
        self.is_reply = head.code == Code.REPLY_REJECTED if head.returned and head.null else bool(name.queue)
        """A reply has come, or has come back."""
        self.replied = False
        self.offset = 0
        """Of bulk data: their place in the segment. In the handler, `offset`, `va` and `size` are those of all of them.
        """

    @property
    def came_back(self) -> bool:
        """The own NIC has returned it: its payload stands where it was sent from."""
        return self.head.returned and not self.head.null

    @property
    def status(self) -> Code:
        """Why a message was returned; of one that has come: OK."""
        return Code(self.head.code) if self.head.returned else Code.OK

    @property
    def opcode(self) -> str:
        """What it was sent as."""
        kind = Kind.BULK if self.head.kind == Kind.PIECE else Kind(self.head.kind)
        return f"{'reply' if self.is_reply else 'request'} {kind.name.lower()}"

    @property
    def data(self) -> bytes:
        """The payload."""
        return self.endpoint.process.load_bytes(self.va, self.size) if self.size else b""

    async def reply(self, handler: int, *arguments: int) -> None:
        """AM_Reply4, AM_Reply8: answer a request, once, in its handler. Raises Am2Error."""
        await self._reply(Kind.SHORT, handler, arguments, b"")

    async def reply_i(self, handler: int, data: Data, *arguments: int) -> None:
        """AM_ReplyI4, AM_ReplyI8: the same, with payload by the staging areas. Raises Am2Error."""
        await self._reply(Kind.MEDIUM, handler, arguments, data)

    async def reply_xfer(self, offset: int, handler: int, data: Data, *arguments: int) -> None:
        """AM_ReplyXfer4, AM_ReplyXfer8: the same, into the segment of the endpoint that has asked. Raises Am2Error."""
        await self._reply(Kind.BULK, handler, arguments, data, offset)

    async def reply_xfer_async(self, offset: int, handler: int, data: Data, *arguments: int) -> bool:
        """AM_ReplyXferAsync4, AM_ReplyXferAsync8: the same, if it can go at once; if not, nothing is sent, and False is
        the result. Raises Am2Error.
        """
        return await self._reply(Kind.BULK, handler, arguments, data, offset, wait=False)

    async def _reply(
        self, kind: Kind, handler: int, arguments: tuple[int, ...], data: Data, offset: int = 0, wait: bool = True
    ) -> bool:
        if self.head.returned or self.is_reply or self.replied:
            cause = "it is answered already" if self.replied else "a reply or a returned message is not answered"
            raise Am2Error(f"a reply to {self.source}", cause, "reply once, in the handler of a request")
        self.replied = await self.endpoint.reply(self, kind, handler, arguments, data, offset, wait)
        return self.replied
