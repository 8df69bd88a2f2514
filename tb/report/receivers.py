"""Follows messages at their receivers: from the packet in the NIC's memory to the handler, and the answer to
the sender.

Messages seen by a NIC are found by packet and source. Messages taken by a host are found by key and source, or by their
order in a queue of descriptors. Messages that a NIC makes for others (replies and copies) are messages of their own
(`tb.report.senders`).
"""

from __future__ import annotations

from collections import defaultdict, deque

from firmware.shown import Shown
from pymodels.trace import ACCEPT_IN_NIC, TraceEvent
from tb.report.life import MULTICAST, READ, Piece
from tb.report.senders import Senders
from tb.report.wire import Packet, Row

UNSEEN = 64
"""Most packets remembered per node as unseen: a layer whose firmware does not record when it examines packets
leaves all of them unseen.
"""


class Receivers(Senders):
    """Messages of a run, with the state of each after it has left the wire."""

    def __init__(self, shown: Shown) -> None:
        super().__init__(shown)
        self.piece_of: dict[int, Piece] = {}
        """Pieces by `id` of the packet that carries them; packets live as long as `wire.packets`."""
        self._due: dict[int, deque[tuple[str, int, Piece]]] = defaultdict(deque)
        """Answers that a node has to send: kind, key, piece."""
        self._stored: dict[int, deque[Packet]] = defaultdict(lambda: deque(maxlen=UNSEEN))
        """Packets in a node's SRAM that its firmware has not yet examined."""
        self._there: dict[tuple[int, int], Piece] = {}
        """Piece that arrived last, by receiving node and key."""
        self._current: dict[int, Piece] = {}
        """Piece that a node's firmware is processing: examined, not yet ordered to the host."""
        self._finishing: dict[int, deque[Piece]] = defaultdict(deque)
        """Pieces on their way to the host."""
        self._from: dict[tuple[int, int, int], Piece] = {}
        """Piece that arrived last, by receiving node, key and source."""
        self._looked: dict[int, tuple[Packet | None, Piece | None]] = {}
        """Packet and piece that a node's firmware has examined last."""
        self._fetching: dict[int, Piece] = {}
        """Reply that a node has begun and whose data are fetched next."""
        self._unanswered: dict[tuple[int, int], deque[Piece]] = defaultdict(lambda: deque(maxlen=UNSEEN))
        """Descriptors that have arrived and are not yet answered, by the sender's node and queue."""
        self._ordered: dict[int, deque[tuple[Piece, str, int]]] = defaultdict(deque)
        """Host DMA blocks that a NIC has ordered and that have not begun: piece, kind, bytes (negative: to
        the host).
        """
        self._moving: dict[tuple[int, int], tuple[Piece, str, int]] = {}
        self._waiting: dict[tuple[int, int], list[Piece]] = defaultdict(list)
        """Pieces accepted for a host that has not yet polled them, by node and key."""
        self._in_queue: dict[tuple[int, int], deque[Piece]] = defaultdict(deque)
        """Pieces accepted for a host that has not yet polled them, by node and queue: descriptors, and all pieces at
        nodes whose firmware leaves no records.
        """
        self._seen: dict[tuple[int, int], Piece] = {}
        """Piece that the host took last, by node and key."""

    # ---- its NIC

    def _at_receiver(self, row: Row, node: int) -> Piece | None:
        piece = self._current.get(node)
        return piece if piece is not None and piece.key == row[3] else self._there.get((node, row[3]))

    def _finished(self, row: Row, node: int) -> Piece | None:
        if row[6]:
            return self._at_sender(row, node)
        queue = self._finishing[node]
        piece = next((piece for piece in queue if piece.key == row[3]), None)
        if piece is not None:
            queue.remove(piece)
            piece.done = row[0]
        return piece

    def _complete(self, row: Row, node: int) -> Piece | None:
        piece = self._at_receiver(row, node)
        if piece is not None and piece.life.posted:
            piece.done = row[0]
            self._unanswered[piece.life.node, piece.queue].append(piece)
        return piece

    def _received(self, row: Row, node: int) -> Piece | None:
        """Find the oldest packet of this key and source, which the firmware examines now.

        A packet that carries an answer belongs to no piece. A message that came over no wire is a multicast of the
        NIC's own host.
        """
        stored = self._stored[node]
        packet = next((packet for packet in stored if (packet.key, packet.source) == (row[3], row[4])), None)
        if packet is not None:
            while stored.popleft() is not packet:
                pass
            piece = self.piece_of.get(id(packet))
        elif (piece := self._at_sender(row, node)) is not None:
            piece.life.target = node
            self._there[node, row[3]] = self._from[node, row[3], node] = piece
        else:
            return None
        self._looked[node] = packet, piece
        if piece is not None:
            self._current[node] = piece
        return piece

    def _accepted(self, row: Row, node: int) -> Piece | None:
        piece = self._from.get((node, row[3], row[4]))
        if piece is not None and row[5] == 0:
            self._waiting[node, row[3]].append(piece)
        elif piece is not None and row[5] != ACCEPT_IN_NIC:
            self._in_queue[node, row[5] - 1].append(piece)
        return piece

    def _answered(self, row: Row, node: int) -> Piece | None:
        kind = "ACK" if row[2] == TraceEvent.ACK_SENT else "NACK"
        if not row[5]:
            piece = self._from.get((node, row[3], row[4]))
        elif kind == "NACK":
            _, piece = self._looked.get(node, (None, None))
        else:
            unanswered = self._unanswered[row[4], row[5]]
            piece = unanswered.popleft() if unanswered else None
        if piece is not None:
            self._due[node].append((kind, row[3], piece))
        return piece

    def _dma_ordered(self, row: Row, node: int) -> Piece | None:
        """Note the DMA that the NIC has ordered.

        A piece that the firmware has examined goes to the host whole. Any other piece is still arriving, or is fetched
        in order to be sent.
        """
        piece = self._fetching.pop(node, None)
        if piece is not None and piece.key == row[3]:
            for life in (piece.life, piece.life.cause):
                if life is not None:
                    life.size += row[4]
            self._ordered[node].append((piece, "fetch", row[4]))
            return piece
        if row[6]:
            return self._at_sender(row, node)
        piece = self._current.get(node)
        if piece is None or piece.key != row[3]:
            unseen = next((packet for packet in self._stored[node] if packet.key == row[3]), None)
            piece = self._there.get((node, row[3])) if unseen is None else self.piece_of.get(id(unseen))
        if piece is None:
            return None
        for kind, size in (("message", row[4]), ("pointer", row[5])):
            if size:
                self._ordered[node].append((piece, kind, -size))
        if piece is self._current.get(node):
            del self._current[node]
            self._finishing[node].append(piece)
        return piece

    def _dma_start(self, row: Row, node: int) -> Piece | None:
        """Match a DMA block that begins: the first one ordered of this size, or a part of one that is
        scattered over pages.
        """
        queue, size = self._ordered[node], row[5]
        index = next((index for index, entry in enumerate(queue) if entry[2] == size), None)
        if index is not None:
            piece, kind, _ = queue[index]
            for _ in range(index + 1):
                queue.popleft()
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

    def _poll_hit(self, row: Row, node: int) -> Piece | None:
        if not row[3]:
            return self._taken_from_queue(row, node)
        same = self._waiting.get((node, row[3]))
        if not same:
            return None
        piece = next((piece for piece in same if piece.life.node == row[5]), same[0])
        same.remove(piece)
        self._seen[node, row[3]] = piece
        return piece

    def _taken_from_queue(self, row: Row, node: int) -> Piece | None:
        """Take the oldest message of a queue for the host."""
        queue = self._in_queue.get((node, row[4]))
        if not queue:
            return None
        piece = self._seen[node, 0] = queue.popleft()
        piece.done = row[0]
        return piece

    def _copied(self, row: Row, node: int) -> Piece | None:
        """Find the piece of this key that the host took last: it is copied further."""
        return self._seen.get((node, row[3]))

    def _handler(self, row: Row, node: int) -> Piece | None:
        piece = self._seen.get((node, row[3]))
        if piece is not None and row[2] == TraceEvent.HANDLER_START:
            piece.life.handled, piece.life.handler = row[0], row[4]
        elif piece is not None:
            piece.life.ended = row[0]
        return piece

    def _card_takes(self, row: Row, node: int) -> Piece | None:
        waiting = self._waiting.get((node, row[3]))
        if not waiting:
            return None
        piece = self._seen[node, row[3]] = waiting.pop(0)
        piece.life.handled, piece.life.to_card = row[0], True
        return piece

    def _card_gives(self, row: Row, node: int) -> Piece | None:
        """End the message that the circuit has processed, and begin the message of its result."""
        self._result(row, node)
        piece = self._seen.get((node, row[3]))
        if piece is not None:
            piece.life.ended = row[0]
        return piece

    # ---- replies and copies

    def _reply(self, row: Row, node: int) -> Piece | None:
        """Begin the reply to a remote read that the NIC has decoded."""
        read = self._from.get((node, row[4], row[5]))
        if read is None:
            return None
        if self._current.get(node) is read:
            del self._current[node]
        read.life.kind = read.life.kind or READ
        piece = self._make(read, row, node, row[5])
        if not piece.life.posted:
            self._fetching[node] = piece
        return piece

    def _copy(self, row: Row, node: int) -> Piece | None:
        """Begin the copy that the NIC has made of its current message for a child."""
        _, copied = self._looked.get(node, (None, None))
        if copied is None or copied.key != row[4]:
            return None
        copied.life.kind = copied.life.kind or MULTICAST
        return self._make(copied, row, node, row[5])
