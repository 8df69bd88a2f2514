"""Messages at their senders: how they begin, and where each stands until its acknowledgement is seen.

A host calls `send`, a card writes a result, a NIC makes a message for another one: the reply to a remote read, the copy
of a multicast. The NIC's records are matched to a message in different ways: by the key that the host has predicted; by
the order of a card's results; by the address of a descriptor.
"""

from __future__ import annotations

from collections import defaultdict, deque

from firmware.shown import Shown
from pymodels.trace import TraceEvent
from tb.report.life import COPY, REPLY, Life, Piece
from tb.report.wire import Row


class Senders:
    """The messages of a run, and where each stands before it is on the wire."""

    def __init__(self, shown: Shown) -> None:
        self.shown = shown
        self.lives: list[Life] = []
        self._calls: dict[tuple[int, int], Life] = {}
        self._queued: dict[tuple[int, int], deque[Piece]] = defaultdict(deque)
        """By node and key: written by the host, not yet met by the NIC."""
        self._met: dict[tuple[int, int], deque[Piece]] = defaultdict(deque)
        """By node and key: met by the NIC, not yet acknowledged."""
        self._started: dict[int, Piece] = {}
        self._results: dict[int, deque[Life]] = defaultdict(deque)
        """By node: results of its card that the NIC has not met."""
        self._posted: dict[tuple[int, int], Piece] = {}
        """By node and address: descriptors that the NIC has not read."""
        self._unread: dict[int, Row] = {}
        """By node: the record of a descriptor that the NIC has met, and reads."""
        self._made: dict[tuple[int, int, int], Life] = {}
        """By number of the cause, node that makes it, and node it is for."""

    def _begin(self, node: int, size: int, sent: int) -> Life:
        life = Life(len(self.lives) + 1, node, size, sent, shown=self.shown)
        self.lives.append(life)
        return life

    # ---- a host

    def _call(self, row: Row, node: int) -> Piece | None:
        """A message begins; it has no piece yet."""
        self._calls[node, row[5]] = self._begin(node, row[4], row[0])
        return None

    def _return(self, row: Row, node: int) -> Piece | None:
        life = self._calls.get((node, row[5]))
        if life is None:
            return None
        life.returned = row[0]
        return life.pieces[0] if life.posted else None

    def _written(self, row: Row, node: int) -> Piece | None:
        life = self._calls.get((node, row[5]))
        if life is None:
            return None
        piece = Piece(life, row[3], row[4], list(life.before))
        life.pieces.append(piece)
        self._queued[node, row[3]].append(piece)
        return piece

    def _trapped(self, row: Row, node: int) -> Piece | None:
        """The kernel has the message, of which no piece is written yet."""
        life = self._calls.get((node, row[5]))
        if life is not None:
            life.before.append(row)
        return None

    def _pointer(self, row: Row, node: int) -> Piece | None:
        return _newest(self._queued.get((node, row[3]))) or _newest(self._met.get((node, row[3])))

    def _post(self, row: Row, node: int) -> Piece | None:
        """The message is a descriptor. It gets its key when the NIC reads it."""
        life = self._calls.get((node, row[5]))
        if life is None:
            return None
        life.posted = True
        piece = self._posted[node, row[4]] = Piece(life, 0, life.size)
        life.pieces.append(piece)
        return piece

    # ---- its NIC

    def _noticed(self, row: Row, node: int) -> Piece | None:
        queue = self._queued.get((node, row[3]))
        if queue:
            piece = queue.popleft()
        elif self._results[node]:
            life = self._results[node].popleft()
            piece = Piece(life, row[3], 0)
            life.pieces.append(piece)
        else:
            self._unread[node] = row
            return None
        self._met[node, row[3]].append(piece)
        return piece

    def _descriptor(self, row: Row, node: int) -> Piece | None:
        """The NIC has read a descriptor: what it asks for, and that the record before was its own."""
        piece, met = self._posted.pop((node, row[4]), None), self._unread.pop(node, None)
        if piece is None:
            return None
        piece.key = row[3]
        piece.queue, piece.life.kind = self.shown.descriptor(row[5])
        if met is not None:
            piece.marks.append(met)
        self._met[node, row[3]].append(piece)
        return piece

    def _at_sender(self, row: Row, node: int) -> Piece | None:
        return _newest(self._met.get((node, row[3])))

    def _send_start(self, row: Row, node: int) -> Piece | None:
        piece = self._at_sender(row, node)
        if piece is not None:
            self._started[node] = piece
            if piece.life.from_card:
                piece.size, piece.life.size = row[4], row[4] - self.shown.header_bytes
        return piece

    def _acknowledged(self, row: Row, node: int) -> Piece | None:
        queue = self._met.get((node, row[3]))
        return queue.popleft() if queue else None

    # ---- what no host has sent

    def _result(self, row: Row, node: int) -> None:
        """A card has written a result for its NIC: a message begins."""
        life = self._begin(node, 0, row[0])
        life.from_card = True
        self._results[node].append(life)

    def _make(self, cause: Piece, row: Row, node: int, to: int) -> Piece:
        """A NIC makes a message for another one, or a further piece of it for a further piece."""
        place = cause.life.number, node, to
        life = self._made.get(place)
        if life is None:
            life = self._made[place] = self._begin(node, 0, row[0])
            life.cause, life.kind = cause.life, REPLY if row[2] == TraceEvent.NIC_REPLY else COPY
            life.posted = cause.life.posted
            life.size = cause.life.size if life.kind == COPY or life.posted else 0
            cause.life.made.append(life)
        piece = Piece(life, row[3], 0)
        life.pieces.append(piece)
        self._met[node, row[3]].append(piece)
        cause.marks.append(row)
        cause.done = row[0]
        return piece


def _newest(queue: deque[Piece] | None) -> Piece | None:
    return queue[-1] if queue else None
