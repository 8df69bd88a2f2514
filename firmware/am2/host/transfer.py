"""Bulk data longer than a staging block, cut into pieces: each is a message with its own credit.

Sending: the last piece, which names the handler, is sent when all others are answered and so are in the segment.
Getting: pieces are requested one by one, and the handler runs after the last answer. Only the initiator keeps the state
of a transfer. A returned piece ends the transfer without its handler.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from firmware.am2.host.credits import Credits, SendQueue
from firmware.am2.host.frame import Frame
from firmware.am2.host.message import EndpointName, Token
from firmware.am2.nic.words import Head, Kind

NUMBERS = 256
"""Range of the 8-bit transfer numbers, which start at 1."""


class Piece(NamedTuple):
    """Message of a transfer."""

    offset: int
    """Offset in the segment of the other endpoint."""
    words: tuple[int, ...]
    data: memoryview | bytes
    size: int


class Transfer:
    """Transfer in progress. Its memory may be changed once it is over."""

    def __init__(
        self, where: EndpointName, tag: int, handler: int, words: Sequence[int], pieces: Sequence[Piece]
    ) -> None:
        self.where, self.tag, self.handler, self.words = where, tag, handler, tuple(words)
        self.pieces = deque(pieces)
        self.got: list[tuple[int, int]] = []
        """Offset and size of the places in the own segment that answers may fill."""
        self.begin = self.size = 0
        """Offset and size of the whole range in the own segment."""
        self.out = 0
        """Number of unanswered pieces."""
        self.failed = False
        """True if a piece was returned."""

    @property
    def over(self) -> bool:
        """True if no piece is left to be sent or answered."""
        return not self.out and (self.failed or not self.pieces)


class Put(Transfer):
    """Transfer into another endpoint's segment."""

    def __init__(
        self, where: EndpointName, tag: int, handler: int, words: Sequence[int], pieces: Sequence[Piece]
    ) -> None:
        super().__init__(where, tag, handler, words, pieces)
        self._count = len(pieces)

    def head(self, number: int) -> Head | None:
        """Return the head of the next piece, or None if it must wait."""
        left = len(self.pieces)
        if left > 1:
            return Head(Kind.PIECE, 0, int(left == self._count), transfer=number)
        return None if self.out else Head(Kind.BULK, len(self.words), self.handler, transfer=number * (self._count > 1))


class Get(Transfer):
    """Transfer from another endpoint's segment."""

    def __init__(
        self,
        where: EndpointName,
        tag: int,
        handler: int,
        words: Sequence[int],
        pieces: Sequence[Piece],
        got: Sequence[tuple[int, int]],
    ) -> None:
        """Create the transfer; `got` are the consecutive places in the own segment."""
        super().__init__(where, tag, handler, words, pieces)
        self.got = list(got)
        self.begin, self.size = got[0][0], sum(size for _, size in got)

    def head(self, number: int) -> Head | None:
        """Return the head of the next piece."""
        return Head(Kind.GET, 2, 0, transfer=number)


def cut(size: int, most: int) -> list[tuple[int, int]]:
    """Return offset and size of each piece; a single empty piece for 0 bytes."""
    return [(at, min(most, size - at)) for at in range(0, size, most)] or [(0, 0)]


class Transfers:
    """Transfers of one endpoint."""

    def __init__(self, frame: Frame, send: SendQueue, allowed: Credits) -> None:
        self._frame, self._send, self._credits = frame, send, allowed
        self._live: dict[int, Transfer] = {}
        self._last = 0
        self.starved = False
        """True if a transfer waits for a descriptor or a staging block."""

    def begin(self, transfer: Transfer) -> bool:
        """Add a transfer. Return False if too many are in progress."""
        if len(self._live) + 1 >= NUMBERS:
            return False
        while not self._last or self._last in self._live:
            self._last = (self._last + 1) % NUMBERS
        self._live[self._last] = transfer
        return True

    async def advance(self) -> None:
        """Send all pieces that can be sent now."""
        self.starved = False
        for number, transfer in list(self._live.items()):
            while transfer.pieces and not transfer.failed and await self._sent(number, transfer):
                pass
            if transfer.over:
                self._live.pop(number, None)

    async def _sent(self, number: int, transfer: Transfer) -> bool:
        """Send the next piece of a transfer. Return False if it must wait."""
        head, send, piece = transfer.head(number), self._send, transfer.pieces[0]  # type: ignore[attr-defined]
        if head is None or not self._credits.free(transfer.where):
            return False
        if lacks(send, piece.data):
            await self._frame.look_freed(send)
            if not transfer.pieces or transfer.pieces[0] is not piece or not self._credits.free(transfer.where):
                return False  # another thread has sent the piece, or used its resources
        if lacks(send, piece.data):
            self.starved = True
            return False
        transfer.pieces.popleft()
        self._credits.take(transfer.where)
        last = head.kind == Kind.BULK
        transfer.out += not last
        words = transfer.words if last else piece.words
        await self._frame.post(send, "am2_request", head, transfer.where, transfer.tag, words, piece.data, piece.offset)
        return True

    def find(self, number: int, where: EndpointName) -> Transfer | None:
        """Return the transfer of an answer or a returned piece, or None."""
        transfer = self._live.get(number) if number else None
        return transfer if transfer is not None and transfer.where == where and transfer.out else None

    def answered(self, transfer: Transfer | None) -> None:
        """Count an answer. None is ignored."""
        if transfer is not None:
            transfer.out -= 1

    def came_back(self, token: Token) -> None:
        """Handle a returned message: a piece other than the last fails its transfer."""
        transfer = None if token.head.kind == Kind.BULK else self.find(token.head.transfer, token.source)
        if transfer is not None:
            transfer.out -= 1
            transfer.failed = True

    @property
    def left(self) -> int:
        """Number of pieces that have not been sent."""
        return sum(len(one.pieces) for one in self._live.values() if not one.failed)


def lacks(send: SendQueue, data: Sequence[int]) -> bool:
    """Return True if no descriptor, or no staging block for `data`, is known to be free."""
    return send.full or (bool(data) and send.block() is None)
