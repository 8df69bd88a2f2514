"""Follows messages at their receivers: from the packet in the NIC's memory to the handler, and the answer to
the sender.

Every record has the number of its message (`tb.report.numbers`), and most have the key of the piece. A host whose NIC
leaves no records knows no number: it takes messages by key, or in the order of their arrival. So does an FPGA card in
a trace without its numbers.
"""

from __future__ import annotations

from collections import defaultdict, deque

from firmware.shown import Shown
from pymodels.trace import TraceEvent
from tb.report.life import REPLY, Piece
from tb.report.senders import Senders
from tb.report.wire import Row


class Receivers(Senders):
    """Messages of a run, with the state of each after it has left the wire."""

    def __init__(self, shown: Shown) -> None:
        super().__init__(shown)
        self.piece_of: dict[int, Piece] = {}
        """Pieces by `id` of the packet that carries them; packets live as long as `wire.packets`."""
        self._due: dict[tuple[int, int, int], deque[str]] = defaultdict(deque)
        """Kinds of answers that a node has to send, by node, number of the message, and key of the answer."""
        self._ordered: dict[tuple[int, int], deque[tuple[Piece, str, int]]] = defaultdict(deque)
        """Host DMA blocks that a NIC has ordered for a message and that have not begun: piece, kind, bytes (negative:
        to the host).
        """
        self._moving: dict[tuple[int, int], tuple[Piece, str, int]] = {}
        self._waiting: dict[tuple[int, int], list[Piece]] = defaultdict(list)
        """Pieces at a node whose taker leaves no number, by node and key."""
        self._in_order: dict[int, deque[Piece]] = defaultdict(deque)
        """Pieces at such nodes in the order of their arrival."""
        self._seen: dict[tuple[int, int], Piece] = {}
        """Piece that such a taker took last, by node and key."""

    # ---- its NIC

    def _finished(self, row: Row, node: int) -> Piece | None:
        piece = self._piece(row, node)
        if piece is not None and node != piece.life.node:
            piece.done = row[0]
        return piece

    def _complete(self, row: Row, node: int) -> Piece | None:
        piece = self._piece(row, node)
        if piece is not None and piece.life.posted:
            piece.done = row[0]
        return piece

    def _received(self, row: Row, node: int) -> Piece | None:
        """Find the piece that the firmware examines now. A packet that carries an answer belongs to no piece.

        A message that came over no wire is a multicast of the NIC's own host.
        """
        piece = self._piece(row, node)
        if piece is None or (node == piece.life.node and row[4] != node):
            return None
        piece.life.target = node
        return piece

    def _accepted(self, row: Row, node: int) -> Piece | None:
        piece = self._piece(row, node)
        if piece is not None and row[5] == 0:
            self._waiting[node, row[3]].append(piece)
        return piece

    def _answered(self, row: Row, node: int) -> Piece | None:
        kind = "ACK" if row[2] == TraceEvent.ACK_SENT else "NACK"
        self._due[node, row[6], row[3]].append(kind)
        return self._some_piece(row, node)

    def _some_piece(self, row: Row, node: int) -> Piece | None:
        """Return the piece of the record's message that has its key, or the last one: the key may be another one's."""
        piece, life = self._piece(row, node), self._by_message.get(row[6])
        return piece if piece is not None or life is None or not life.pieces else life.pieces[-1]

    def _dma_ordered(self, row: Row, node: int) -> Piece | None:
        """Note the DMA that the NIC has ordered: to the host at the receiver, from the host at the sender."""
        piece = self._piece(row, node)
        if piece is None:
            return None
        if node != piece.life.node or piece.first(TraceEvent.NIC_RECV_START) is not None:
            self._ordered[node, row[6]].append((piece, "message", -row[4]))
            if row[5]:
                self._ordered[node, row[6]].append((piece, "pointer", -row[5]))
            return piece
        self._ordered[node, row[6]].append((piece, "fetch", row[4]))
        if piece.life.kind == REPLY and not piece.life.posted:
            for life in (piece.life, piece.life.cause):
                if life is not None:
                    life.size += row[4]
        return piece

    def _dma_start(self, row: Row, node: int) -> Piece | None:
        """Find the piece of a DMA block that begins: of the blocks ordered for its message the first of this size, or
        a part of one that is scattered over pages.
        """
        queue, size = self._ordered[node, row[6]], row[5]
        index = next((index for index, entry in enumerate(queue) if entry[2] == size), None)
        if index is not None:
            piece, kind, _ = queue[index]
            del queue[index]
        else:
            index = next(
                (i for i, entry in enumerate(queue) if entry[2] * size > 0 and abs(entry[2]) > abs(size)), None
            )
            if index is None:
                return None
            piece, kind, left = queue[index]
            queue[index] = piece, kind, left - size
        self._moving[node, row[4]] = piece, kind, row[0]
        return piece

    def _dma_done(self, row: Row, node: int) -> Piece | None:
        piece, kind, start = self._moving.pop((node, row[4]), (None, "", 0))
        if piece is not None:
            piece.dma.append((kind, start, row[0]))
        return piece

    # ---- the host or the card that takes it

    def _taken(self, row: Row, node: int) -> Piece | None:
        """Return the piece that a host polls, copies or handles. Without a key, a poll takes the first piece without
        one; other events belong to the piece polled last.
        """
        life = self._by_message.get(row[6])
        if life is None:
            return self._taken_in_order(row, node)
        if row[3] or not life.pieces:
            piece = self._piece(row, node)
        elif row[2] != TraceEvent.POLL_HIT:
            piece = next((piece for piece in reversed(life.pieces) if piece.first(TraceEvent.POLL_HIT)), None)
        else:
            untaken = (piece for piece in life.pieces if piece.first(TraceEvent.POLL_HIT) is None)
            piece = next(untaken, life.pieces[-1])
        if self._in_order[node] and self._in_order[node][0] is piece:
            self._in_order[node].popleft()
        return piece

    def _taken_in_order(self, row: Row, node: int) -> Piece | None:
        """Return the piece that a host takes whose NIC has left no number: by its key, or in the order of arrival."""
        if row[2] != TraceEvent.POLL_HIT:
            return self._seen.get((node, row[3]))
        piece = self._next_of(node, row[3], row[5])
        if piece is not None:
            self._seen[node, row[3]] = piece
        return piece

    def _next_of(self, node: int, key: int, source: int) -> Piece | None:
        """Remove and return the oldest piece of a key, if possible from this source; without a key the oldest."""
        in_order = self._in_order[node]
        if not key:
            return in_order.popleft() if in_order else None
        same = self._waiting.get((node, key))
        if not same:
            return None
        piece = next((piece for piece in same if piece.life.node == source), same[0])
        same.remove(piece)
        return piece

    def _poll_hit(self, row: Row, node: int) -> Piece | None:
        piece = self._taken(row, node)
        if piece is not None and not row[3]:
            piece.done = row[0]
        return piece

    def _handler(self, row: Row, node: int) -> Piece | None:
        piece = self._taken(row, node)
        if piece is not None and row[2] == TraceEvent.HANDLER_START:
            piece.life.handled, piece.life.handler = row[0], row[4]
        elif piece is not None:
            piece.life.ended = row[0]
        return piece

    def _card_takes(self, row: Row, node: int) -> Piece | None:
        waiting, piece = self._waiting.get((node, row[3]), []), self._piece(row, node)
        if piece is None and not waiting:
            return None
        if piece in waiting:
            waiting.remove(piece)
        piece = self._seen[node, row[3]] = piece or waiting.pop(0)
        piece.life.handled, piece.life.to_card = row[0], True
        return piece

    def _card_gives(self, row: Row, node: int) -> Piece | None:
        """End the message that the circuit has processed, and begin the message of its result."""
        result = self._result(row, node)
        piece = self._seen.pop((node, row[3]), None)
        if piece is not None:
            piece.life.ended, piece.life.result = row[0], result
            result.through = piece.life
        return piece
