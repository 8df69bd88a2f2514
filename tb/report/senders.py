"""Follows messages at their senders: from their start to the acknowledgement that their sender has seen.

A message begins at a host that calls `send`, at a card that writes a result, or at a NIC that makes a message for
another one: the reply to a remote read, the copy of a multicast. The NIC's records are matched to a message in
different ways: by the key that the host has predicted; by the order of a card's results; by the address of a
descriptor.
"""

from __future__ import annotations

from collections import defaultdict, deque

from firmware.shown import Shown
from pymodels.trace import TraceEvent
from tb.report.life import COPY, REPLY, Life, Piece
from tb.report.wire import Row


class Senders:
    """Messages of a run, with the state of each before it is on the wire."""

    def __init__(self, shown: Shown) -> None:
        self.shown = shown
        self.lives: list[Life] = []
        self._calls: dict[tuple[int, int], Life] = {}
        self._queued: dict[tuple[int, int], deque[Piece]] = defaultdict(deque)
        """Pieces that the host has written and the NIC has not yet noticed, by node and key."""
        self._met: dict[tuple[int, int], deque[Piece]] = defaultdict(deque)
        """Pieces that the NIC has noticed and that are not yet acknowledged, by node and key."""
        self._started: dict[int, Piece] = {}
        self._results: dict[int, deque[Life]] = defaultdict(deque)
        """Results of a node's card that its NIC has not yet noticed."""
        self._posted: dict[tuple[int, int], Piece] = {}
        """Descriptors that the NIC has not yet read, by node and address."""
        self._unread: dict[int, Row] = {}
        """Record of the descriptor that a node's NIC has noticed and is reading."""
        self._made: dict[tuple[int, int, int], Life] = {}
        """Messages made by NICs, by number of the causing message, node of the NIC, and destination node."""

    def _begin(self, node: int, size: int, sent: int) -> Life:
        life = Life(len(self.lives) + 1, node, size, sent, shown=self.shown)
        self.lives.append(life)
        return life

    # ---- a host

    def _call(self, row: Row, node: int) -> Piece | None:
        """Begin a message, which has no piece yet."""
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
        """Note that the kernel has the message; no piece of it is written yet."""
        life = self._calls.get((node, row[5]))
        if life is not None:
            life.before.append(row)
        return None

    def _pointer(self, row: Row, node: int) -> Piece | None:
        return _newest(self._queued.get((node, row[3]))) or _newest(self._met.get((node, row[3])))

    def _post(self, row: Row, node: int) -> Piece | None:
        """Note that the message is a descriptor, which gets its key when the NIC reads it."""
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
        """Take the descriptor that the NIC has read: its key, queue and operation. The NIC_NOTICED record before it
        belongs to the same message.
        """
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

    # ---- messages that no host has sent

    def _result(self, row: Row, node: int) -> None:
        """Begin a message: a card has written a result for its NIC."""
        life = self._begin(node, 0, row[0])
        life.from_card = True
        self._results[node].append(life)

    def _make(self, cause: Piece, row: Row, node: int, to: int) -> Piece:
        """Begin a message that a NIC makes for another one, or add a piece to it for a further piece of the
        other one.
        """
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
