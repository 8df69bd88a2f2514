"""Message as its handler sees it: a token, with which a request is answered."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from firmware.am2.host.errors import Am2Error
from firmware.am2.nic.words import Code, Head, Kind, Name
from pymodels.host.process import Process

Data = bytes | bytearray | memoryview
"""Payload of a message to send."""


class EndpointName(NamedTuple):
    """Global name of an endpoint."""

    node: int
    endpoint: int


class Replies(Protocol):
    """Interface of the endpoint that a token uses."""

    process: Process

    async def reply(
        self, token: Token, kind: Kind, handler: int, words: tuple[int, ...], data: Data, offset: int, wait: bool
    ) -> bool:
        """Post a reply. Return False if there is no room and `wait` is false."""


class Token:
    """Received message. Its payload is in a staging block until the handler returns."""

    def __init__(
        self, endpoint: Replies, head: Head, name: Name, arguments: tuple[int, ...], va: int, size: int, index: int
    ) -> None:
        self.endpoint, self.head, self.arguments, self.va, self.size = endpoint, head, arguments, va, size
        self.source = EndpointName(name.node, name.endpoint)
        """Sender; for a returned message, its destination."""
        self.index = index
        """Index of its descriptor."""
        self.is_reply = head.code == Code.REPLY_REJECTED if head.returned and head.null else bool(name.queue)
        """True for a reply, received or returned."""
        self.replied = False
        self.offset = 0
        """Offset of bulk data in the segment. In the handler, `offset`, `va` and `size` are those of all data."""

    @property
    def came_back(self) -> bool:
        """True if the own NIC has returned the message, whose payload is in the block it was sent from."""
        return self.head.returned and not self.head.null

    @property
    def status(self) -> Code:
        """Reason of a returned message; OK for others."""
        return Code(self.head.code) if self.head.returned else Code.OK

    @property
    def opcode(self) -> str:
        """Kind of the message as it was sent."""
        kind = Kind.BULK if self.head.kind == Kind.PIECE else Kind(self.head.kind)
        return f"{'reply' if self.is_reply else 'request'} {kind.name.lower()}"

    @property
    def data(self) -> bytes:
        """Payload."""
        return self.endpoint.process.load_bytes(self.va, self.size) if self.size else b""

    async def reply(self, handler: int, *arguments: int) -> None:
        """Send a short reply to a request, once, in its handler (AM_Reply4, AM_Reply8). Raises Am2Error.

        Args:
            handler: Index of the handler at the requester.
            arguments: Up to 8 words.
        """
        await self._reply(Kind.SHORT, handler, arguments, b"")

    async def reply_i(self, handler: int, data: Data, *arguments: int) -> None:
        """Send a medium reply, with payload through the staging areas (AM_ReplyI4, AM_ReplyI8). Raises Am2Error.

        Args:
            handler: Index of the handler at the requester.
            data: Payload of at most one staging block.
            arguments: Up to 8 words.
        """
        await self._reply(Kind.MEDIUM, handler, arguments, data)

    async def reply_xfer(self, offset: int, handler: int, data: Data, *arguments: int) -> None:
        """Send a reply into the segment of the requester (AM_ReplyXfer4, AM_ReplyXfer8). Raises Am2Error.

        Args:
            offset: Offset in the requester's segment.
            handler: Index of the handler at the requester.
            data: Bytes of at most one staging block.
            arguments: Up to 8 words.
        """
        await self._reply(Kind.BULK, handler, arguments, data, offset)

    async def reply_xfer_async(self, offset: int, handler: int, data: Data, *arguments: int) -> bool:
        """Send a reply as `reply_xfer` does, without waiting (AM_ReplyXferAsync4, AM_ReplyXferAsync8).

        Returns False, and sends nothing, if there is no room. Raises Am2Error.
        """
        return await self._reply(Kind.BULK, handler, arguments, data, offset, wait=False)

    async def _reply(
        self, kind: Kind, handler: int, arguments: tuple[int, ...], data: Data, offset: int = 0, wait: bool = True
    ) -> bool:
        if self.head.returned or self.is_reply or self.replied:
            cause = "the request has its reply" if self.replied else "the message is a reply, or was returned"
            raise Am2Error(f"a reply to {self.source}", cause, "reply once, in the handler of a request")
        self.replied = await self.endpoint.reply(self, kind, handler, arguments, data, offset, wait)
        return self.replied
