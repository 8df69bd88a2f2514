"""Follows messages at their senders: from their start to the acknowledgement that their sender has seen.

A message begins at a host that calls `send`, at a card that writes a result, or at a NIC. The NIC makes replies to
remote reads and copies of multicasts. Every record has the number of its message (`tb.report.numbers`). Results of a
card get numbers when the NIC notices them, in the order of the results.
"""

from __future__ import annotations

from collections import defaultdict, deque

from firmware.shown import Shown
from pymodels.trace import CAUSE_SHIFT, TraceEvent
from tb.report.life import COPY, MULTICAST, READ, REPLY, Life, Piece
from tb.report.wire import Row

NODE = (1 << CAUSE_SHIFT) - 1


class Senders:
    """Messages of a run, with the state of each before it is on the wire."""

    def __init__(self, shown: Shown) -> None:
        self.shown = shown
        self.lives: list[Life] = []
        self._by_message: dict[int, Life] = {}
        """Messages by their number in the trace."""
        self._silent: frozenset[int] = frozenset()
        """Nodes whose firmware leaves no records."""
        self._written_by: dict[tuple[int, int], deque[Piece]] = defaultdict(deque)
        """Pieces written at silent nodes whose packets have not begun, by node and key."""
        self._results: dict[int, deque[Life]] = defaultdict(deque)
        """Results of a node's card without numbers that its NIC has not yet noticed."""
        self._unread: dict[int, Row] = {}
        """Record of the descriptor that a node's NIC has noticed and is reading."""
        self._made: dict[tuple[int, int, int], Life] = {}
        """Messages made by NICs, by number of the causing message, node of the NIC, and destination node."""

    def _begin(self, node: int, size: int, row: Row) -> Life:
        life = Life(len(self.lives) + 1, node, size, row[0], shown=self.shown)
        self.lives.append(life)
        if row[6]:
            self._by_message[row[6]] = life
        return life

    def _piece(self, row: Row, _node: int) -> Piece | None:
        """Return the piece of the record's message that has its key; of a descriptor, the only one."""
        life = self._by_message.get(row[6])
        if life is None:
            return None
        if life.posted and life.pieces:
            return life.pieces[0]
        return next((piece for piece in reversed(life.pieces) if piece.key == row[3]), None)

    # ---- a host

    def _call(self, row: Row, node: int) -> None:
        """Begin a message, which has no piece yet."""
        self._begin(node, row[4], row)

    def _return(self, row: Row, node: int) -> Piece | None:
        life = self._by_message.get(row[6])
        if life is None:
            return None
        life.returned = row[0]
        return life.pieces[0] if life.posted else None

    def _written(self, row: Row, node: int) -> Piece | None:
        life = self._by_message.get(row[6])
        if life is None:
            return None
        piece = Piece(life, row[3], row[4], list(life.before))
        life.pieces.append(piece)
        if node in self._silent:
            self._written_by[node, row[3]].append(piece)
        return piece

    def _trapped(self, row: Row, node: int) -> None:
        """Note that the kernel has the message; no piece of it is written yet."""
        life = self._by_message.get(row[6])
        if life is not None:
            life.before.append(row)

    def _post(self, row: Row, node: int) -> Piece | None:
        """Note that the message is a descriptor, which gets its key when the NIC reads it."""
        life = self._by_message.get(row[6])
        if life is None:
            return None
        life.posted = True
        piece = Piece(life, 0, life.size)
        life.pieces.append(piece)
        return piece

    # ---- its NIC

    def _noticed(self, row: Row, node: int) -> Piece | None:
        life = self._by_message.get(row[6])
        if life is not None and life.from_card and not life.pieces:
            return self._first_piece(life, row[3])
        if life is not None:
            return self._piece(row, node) or self._keyed(life, row[3])
        if not self._results[node]:
            self._unread[node] = row
            return None
        life = self._by_message[row[6]] = self._results[node].popleft()
        return self._first_piece(life, row[3])

    @staticmethod
    def _first_piece(life: Life, key: int) -> Piece:
        """Begin the only piece of a card's result."""
        piece = Piece(life, key, 0)
        life.pieces.append(piece)
        return piece

    @staticmethod
    def _keyed(life: Life, key: int) -> Piece | None:
        """Return the oldest piece that the NIC has not noticed, with its key: the host has expected another one."""
        piece = next((piece for piece in life.pieces if piece.first(TraceEvent.NIC_NOTICED) is None), None)
        if piece is not None:
            piece.key = key
        return piece

    def _descriptor(self, row: Row, node: int) -> Piece | None:
        """Take the descriptor that the NIC has read: its key, queue and operation. The NIC_NOTICED record before it
        belongs to the same message.
        """
        piece, met = self._piece(row, node), self._unread.pop(node, None)
        if piece is None:
            return None
        piece.key = row[3]
        piece.queue, piece.life.kind = self.shown.descriptor(row[5])
        if met is not None:
            piece.marks.append(met)
        return piece

    def _send_start(self, row: Row, node: int) -> Piece | None:
        piece = self._piece(row, node)
        if piece is not None and piece.life.from_card:
            piece.size, piece.life.size = row[4], row[4] - self.shown.header_bytes
        return piece

    # ---- messages that no host has sent

    def _result(self, row: Row, node: int) -> Life:
        """Begin a message: a card has written a result for its NIC."""
        life = self._begin(node, 0, row)
        life.from_card = True
        if not row[6]:
            self._results[node].append(life)
        return life

    def _make(self, row: Row, node: int) -> Piece | None:
        """Begin a message that a NIC makes for another one, or add a piece to it for a further piece of the
        other one.
        """
        cause = self._cause(row, node)
        if cause is None:
            return None
        kind, of_cause = (REPLY, READ) if row[2] == TraceEvent.NIC_REPLY else (COPY, MULTICAST)
        cause.life.kind = cause.life.kind or of_cause
        place = cause.life.number, node, row[5] & NODE
        life = self._made.get(place)
        if life is None:
            life = self._made[place] = self._begin(node, 0, row)
            life.cause, life.kind = cause.life, kind
            life.posted = cause.life.posted
            life.size = cause.life.size if life.kind == COPY or life.posted else 0
            cause.life.made.append(life)
        self._by_message[row[6]] = life
        piece = Piece(life, row[3], 0)
        life.pieces.append(piece)
        cause.marks.append(row)
        cause.done = row[0]
        return piece

    def _cause(self, row: Row, node: int) -> Piece | None:
        """Return the piece for which a NIC makes a message."""
        return self._piece((*row[:3], row[4], row[4], row[5], row[5] >> CAUSE_SHIFT), node)
