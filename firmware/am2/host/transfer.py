"""Bulk data that is longer than a staging block, cut into pieces: each a message of its own, with its own credit.

What is sent goes piece by piece; the last one, which names the handler, leaves when all others are answered, and so
when all of it is in the segment. What is got is asked for piece by piece; the handler runs behind the last answer. So
nobody has to know of a transfer but who has begun it. A piece that comes back ends it: no handler runs.
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
"""Transfers have numbers of 8 bits, from 1 on."""


class Piece(NamedTuple):
    """One message of a transfer."""

    offset: int
    """In the segment of the other endpoint."""
    words: tuple[int, ...]
    data: memoryview | bytes
    size: int


class Transfer:
    """One that has begun. Its memory may be changed when it is over."""

    def __init__(
        self, where: EndpointName, tag: int, handler: int, words: Sequence[int], pieces: Sequence[Piece]
    ) -> None:
        self.where, self.tag, self.handler, self.words = where, tag, handler, tuple(words)
        self.pieces = deque(pieces)
        self.got: list[tuple[int, int]] = []
        """Places in the own segment that answers may fill: offset, bytes."""
        self.begin = self.size = 0
        """Of the own segment: where all that is got stands, and its bytes."""
        self.out = 0
        """Pieces that are not answered."""
        self.failed = False
        """One of them came back."""

    @property
    def over(self) -> bool:
        """Nothing of it is to be sent or answered."""
        return not self.out and (self.failed or not self.pieces)


class Put(Transfer):
    """Data to another segment."""

    def __init__(
        self, where: EndpointName, tag: int, handler: int, words: Sequence[int], pieces: Sequence[Piece]
    ) -> None:
        super().__init__(where, tag, handler, words, pieces)
        self._count = len(pieces)

    def head(self, number: int) -> Head | None:
        """Of the next piece; None: it must wait."""
        left = len(self.pieces)
        if left > 1:
            return Head(Kind.PIECE, 0, int(left == self._count), transfer=number)
        return None if self.out else Head(Kind.BULK, len(self.words), self.handler, transfer=number * (self._count > 1))


class Get(Transfer):
    """Data from another segment."""

    def __init__(
        self,
        where: EndpointName,
        tag: int,
        handler: int,
        words: Sequence[int],
        pieces: Sequence[Piece],
        got: Sequence[tuple[int, int]],
    ) -> None:
        """`got`: places of the own segment that they come to, one behind the other."""
        super().__init__(where, tag, handler, words, pieces)
        self.got = list(got)
        self.begin, self.size = got[0][0], sum(size for _, size in got)

    def head(self, number: int) -> Head | None:
        """Of the next piece."""
        return Head(Kind.GET, 2, 0, transfer=number)


def cut(size: int, most: int) -> list[tuple[int, int]]:
    """Begin and bytes of each piece; of nothing, one that is empty."""
    return [(at, min(most, size - at)) for at in range(0, size, most)] or [(0, 0)]


class Transfers:
    """Of one endpoint."""

    def __init__(self, frame: Frame, send: SendQueue, allowed: Credits) -> None:
        self._frame, self._send, self._credits = frame, send, allowed
        self._live: dict[int, Transfer] = {}
        self._last = 0
        self.starved = False
        """One waits for a descriptor or a staging block."""

    def begin(self, transfer: Transfer) -> bool:
        """One more; False: too many are under way."""
        if len(self._live) + 1 >= NUMBERS:
            return False
        while not self._last or self._last in self._live:
            self._last = (self._last + 1) % NUMBERS
        self._live[self._last] = transfer
        return True

    async def advance(self) -> None:
        """Send what can be sent now."""
        self.starved = False
        for number, transfer in list(self._live.items()):
            while transfer.pieces and not transfer.failed and await self._sent(number, transfer):
                pass
            if transfer.over:
                self._live.pop(number, None)

    async def _sent(self, number: int, transfer: Transfer) -> bool:
        """Send the next piece, if it can go."""
        head, send, piece = transfer.head(number), self._send, transfer.pieces[0]  # type: ignore[attr-defined]
        if head is None or not self._credits.free(transfer.where):
            return False
        if lacks(send, piece.data):
            await self._frame.look_freed(send)
            if not transfer.pieces or transfer.pieces[0] is not piece or not self._credits.free(transfer.where):
                return False  # another thread has sent it, or what it needs
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
        """The transfer of an answer or of a piece that came back."""
        transfer = self._live.get(number) if number else None
        return transfer if transfer is not None and transfer.where == where and transfer.out else None

    def answered(self, transfer: Transfer | None) -> None:
        """A piece is; None: it was none."""
        if transfer is not None:
            transfer.out -= 1

    def came_back(self, token: Token) -> None:
        """A message came back: if it is a piece and not the last, the transfer has failed."""
        transfer = None if token.head.kind == Kind.BULK else self.find(token.head.transfer, token.source)
        if transfer is not None:
            transfer.out -= 1
            transfer.failed = True

    @property
    def left(self) -> int:
        """Pieces that have not left."""
        return sum(len(one.pieces) for one in self._live.values() if not one.failed)


def lacks(send: SendQueue, data: Sequence[int]) -> bool:
    """No descriptor, or no staging block, is known to be free."""
    return send.full or (bool(data) and send.block() is None)
