"""Messages at their senders: calls of `send` and results of cards, until their acknowledgement is seen.

A card knows no keys: its results leave in their order, and the NIC's first look gives each its key.
"""

from __future__ import annotations

from collections import defaultdict, deque

from pymodels.formats.grim import HEADER_BYTES
from tb.report.life import Life, Piece
from tb.report.wire import Row


class Senders:
    """The messages of a run, and where each stands before it is on the wire."""

    def __init__(self) -> None:
        self.lives: list[Life] = []
        self._calls: dict[tuple[int, int], Life] = {}
        self._queued: dict[tuple[int, int], deque[Piece]] = defaultdict(deque)
        """By node and key: written by the host, not yet met by the NIC."""
        self._met: dict[tuple[int, int], deque[Piece]] = defaultdict(deque)
        """By node and key: met by the NIC, not yet acknowledged."""
        self._started: dict[int, Piece] = {}
        self._results: dict[int, deque[Life]] = defaultdict(deque)
        """By node: results of its card that the NIC has not met."""

    def _call(self, row: Row, node: int) -> Piece | None:
        """A message begins; it has no piece yet."""
        life = Life(len(self.lives) + 1, node, row[4], row[0])
        self.lives.append(life)
        self._calls[node, row[5]] = life
        return None

    def _return(self, row: Row, node: int) -> Piece | None:
        life = self._calls.get((node, row[5]))
        if life is not None:
            life.returned = row[0]
        return None

    def _written(self, row: Row, node: int) -> Piece | None:
        life = self._calls.get((node, row[5]))
        if life is None:
            return None
        piece = Piece(life, row[3], row[4])
        life.pieces.append(piece)
        self._queued[node, row[3]].append(piece)
        return piece

    def _pointer(self, row: Row, node: int) -> Piece | None:
        return _newest(self._queued.get((node, row[3]))) or _newest(self._met.get((node, row[3])))

    def _noticed(self, row: Row, node: int) -> Piece | None:
        queue = self._queued.get((node, row[3]))
        if queue:
            piece = queue.popleft()
        elif self._results[node]:
            life = self._results[node].popleft()
            piece = Piece(life, row[3], 0)
            life.pieces.append(piece)
        else:
            return None
        self._met[node, row[3]].append(piece)
        return piece

    def _at_sender(self, row: Row, node: int) -> Piece | None:
        return _newest(self._met.get((node, row[3])))

    def _send_start(self, row: Row, node: int) -> Piece | None:
        piece = self._at_sender(row, node)
        if piece is not None:
            self._started[node] = piece
            if piece.life.from_card:
                piece.size, piece.life.size = row[4], row[4] - HEADER_BYTES
        return piece

    def _acknowledged(self, row: Row, node: int) -> Piece | None:
        queue = self._met.get((node, row[3]))
        return queue.popleft() if queue else None

    def _result(self, row: Row, node: int) -> None:
        """A card has written a result for its NIC: a message begins."""
        life = Life(len(self.lives) + 1, node, 0, row[0], from_card=True)
        self.lives.append(life)
        self._results[node].append(life)


def _newest(queue: deque[Piece] | None) -> Piece | None:
    return queue[-1] if queue else None
