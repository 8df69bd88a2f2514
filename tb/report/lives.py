"""The life of every message of a run: its trace records in order, from `send` to the end of the handler.

A message is a `send` on a host, or a result of its FPGA card; what one packet carries of it is a piece (a segment of a
long message). A piece is found at its sender by its key, in the order of the queue (`tb.report.senders`); on the wire
by the order of packets (`tb.report.wire`); at its receiver by packet and source. Nothing here belongs to one message
layer: a layer whose software leaves the records of `pymodels.trace` is understood, one that leaves fewer has shorter
lives.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable

from pymodels.trace import PARTS_PER_NODE, SWITCH_BASE, Part, TraceEvent
from tb.report.life import Piece
from tb.report.recorded import Legend, Recorded
from tb.report.senders import Senders
from tb.report.wire import Packet, Row, Wire, rows


class Lives(Senders):
    """Takes the records of a run one by one, in time order, and tells the lives of its messages."""

    def __init__(self, legend: Legend) -> None:
        super().__init__()
        self.wire = Wire(legend)
        self.piece_of: dict[int, Piece] = {}
        """By `id` of a packet that carries a piece; packets live as long as `wire.packets`."""
        self._leaving: dict[int, Packet] = {}
        self._due: dict[int, deque[tuple[str, int, Piece]]] = defaultdict(deque)
        """Answers that a node owes."""
        self._stored: dict[int, deque[Packet]] = defaultdict(lambda: deque(maxlen=UNSEEN))
        """Packets in a node's SRAM at which its firmware has not looked yet."""
        self._there: dict[tuple[int, int], Piece] = {}
        """By receiving node and key: the piece that arrived last."""
        self._current: dict[int, Piece] = {}
        """What a node's firmware deals with: looked at, not yet on its way to the host."""
        self._finishing: dict[int, deque[Piece]] = defaultdict(deque)
        """On its way to the host."""
        self._from: dict[tuple[int, int, int], Piece] = {}
        """By receiving node, key and source."""
        self._ordered: dict[int, deque[tuple[Piece, str, int]]] = defaultdict(deque)
        """Host DMA blocks that a NIC has ordered: piece, kind, bytes."""
        self._moving: dict[tuple[int, int], tuple[Piece, str, int]] = {}
        self._waiting: dict[int, list[Piece]] = defaultdict(list)
        """Accepted for a host that has not looked yet."""
        self._seen: dict[tuple[int, int], Piece] = {}
        """By node and key: what the host took last."""
        self._take: dict[int, Callable[[Row, int], Piece | None]] = {
            TraceEvent.SEND_CALL: self._call,
            TraceEvent.SEND_RETURN: self._return,
            TraceEvent.PAYLOAD_WRITTEN: self._written,
            TraceEvent.POINTER_WRITTEN: self._pointer,
            TraceEvent.NIC_NOTICED: self._noticed,
            TraceEvent.NIC_SEND_START: self._send_start,
            TraceEvent.NIC_SEND_DONE: self._send_done,
            TraceEvent.RESEND: self._at_sender,
            TraceEvent.ROLLBACK: self._at_sender,
            TraceEvent.NACK_SEEN: self._at_sender,
            TraceEvent.ACK_SEEN: self._acknowledged,
            TraceEvent.NIC_RECV_START: self._received,
            TraceEvent.NIC_ACCEPT: self._accepted,
            TraceEvent.NIC_DMA_START: self._dma_ordered,
            TraceEvent.NIC_DMA_DONE: self._finished,
            TraceEvent.NIC_RECV_DONE: self._at_receiver,
            TraceEvent.NIC_DROPPED: self._at_receiver,
            TraceEvent.ACK_SENT: self._answered,
            TraceEvent.NACK_SENT: self._answered,
            TraceEvent.DMA_START: self._dma_start,
            TraceEvent.DMA_DONE: self._dma_done,
            TraceEvent.POLL_HIT: self._poll_hit,
            TraceEvent.HANDLER_START: self._handler,
            TraceEvent.HANDLER_END: self._handler,
            TraceEvent.CARD_TAKE: self._card_takes,
            TraceEvent.CARD_GIVE: self._card_gives,
        }

    def take(self, row: Row) -> None:
        """The next record."""
        unit = row[1]
        if unit >= SWITCH_BASE or unit % PARTS_PER_NODE in WIRE:
            packet = self.wire.take(row)
            piece = None if packet is None else self._carried(packet, row)
        else:
            call = self._take.get(row[2])
            piece = call(row, unit // PARTS_PER_NODE) if call is not None else None
        if piece is not None:
            piece.marks.append(row)

    def take_all(self, records: Iterable[Row]) -> Lives:
        """All of these records; itself."""
        for row in records:
            self.take(row)
        return self

    # ---- the wire

    def _carried(self, packet: Packet, row: Row) -> Piece | None:
        """The piece that a packet carries; None for a control message."""
        event = row[2]
        if event == TraceEvent.TX_START:
            self._leaving[packet.source] = packet
            piece = self._started.get(packet.source)
            if piece is not None and piece.key == packet.key:
                del self._started[packet.source]
                piece.packets.append(packet)
                self.piece_of[id(packet)] = piece
            else:
                self._answer(packet)
        if packet.target is not None and packet.stored == row[0] and event == TraceEvent.RX_TAIL:
            self._stored[packet.target].append(packet)
        carried = self.piece_of.get(id(packet))
        if carried is not None and event == TraceEvent.RX_HEAD and packet.target is not None:
            carried.life.target = packet.target
            self._there[packet.target, packet.key] = carried
            self._from[packet.target, packet.key, packet.source] = carried
        return carried

    def _answer(self, packet: Packet) -> None:
        """A control message begins to leave: which answer it is."""
        due = self._due[packet.source]
        for entry in due:
            kind, key, piece = entry
            if key == packet.key:
                piece.answers.append((kind, packet))
                due.remove(entry)
                return

    # ---- the sender

    def _send_done(self, row: Row, node: int) -> Piece | None:
        packet = self._leaving.get(node)
        return None if packet is None else self.piece_of.get(id(packet))

    # ---- the receiver

    def _at_receiver(self, row: Row, node: int) -> Piece | None:
        piece = self._current.get(node)
        return piece if piece is not None and piece.key == row[3] else self._there.get((node, row[3]))

    def _finished(self, row: Row, node: int) -> Piece | None:
        queue = self._finishing[node]
        piece = next((piece for piece in queue if piece.key == row[3]), None)
        if piece is not None:
            queue.remove(piece)
        return piece

    def _received(self, row: Row, node: int) -> Piece | None:
        """The firmware looks at the oldest packet of this key and source; it may carry an answer, which is no piece."""
        stored = self._stored[node]
        packet = next((packet for packet in stored if (packet.key, packet.source) == (row[3], row[4])), None)
        if packet is None:
            return None
        while stored.popleft() is not packet:
            pass
        piece = self.piece_of.get(id(packet))
        if piece is not None:
            self._current[node] = piece
        return piece

    def _accepted(self, row: Row, node: int) -> Piece | None:
        piece = self._from.get((node, row[3], row[4]))
        if piece is not None:
            self._waiting[node].append(piece)
        return piece

    def _answered(self, row: Row, node: int) -> Piece | None:
        piece = self._from.get((node, row[3], row[4]))
        if piece is not None:
            self._due[node].append(("ACK" if row[2] == TraceEvent.ACK_SENT else "NACK", row[3], piece))
        return piece

    def _dma_ordered(self, row: Row, node: int) -> Piece | None:
        """What the firmware has looked at goes to the host whole, with the queue's pointer; else it still arrives."""
        piece = self._current.get(node)
        if piece is None or piece.key != row[3]:
            unseen = next((packet for packet in self._stored[node] if packet.key == row[3]), None)
            piece = self._there.get((node, row[3])) if unseen is None else self.piece_of.get(id(unseen))
        if piece is None:
            return None
        if row[4]:
            self._ordered[node].append((piece, "message", row[4]))
        if piece is self._current.get(node):
            del self._current[node]
            self._ordered[node].append((piece, "pointer", 4))
            self._finishing[node].append(piece)
        return piece

    def _dma_start(self, row: Row, node: int) -> Piece | None:
        queue = self._ordered[node]
        for index, entry in enumerate(queue):
            if entry[2] == -row[5]:
                for _ in range(index + 1):
                    queue.popleft()
                self._moving[node, row[4]] = (entry[0], entry[1], row[0])
                return entry[0]
        return None

    def _dma_done(self, row: Row, node: int) -> Piece | None:
        piece, kind, start = self._moving.pop((node, row[4]), (None, "", 0))
        if piece is not None:
            piece.dma.append((kind, start, row[0]))
        return piece

    # ---- what takes it

    def _poll_hit(self, row: Row, node: int) -> Piece | None:
        waiting = self._waiting[node]
        same = [piece for piece in waiting if piece.key == row[3]]
        if not same:
            return None
        piece = next((piece for piece in same if piece.life.node == row[5]), same[0])
        waiting.remove(piece)
        self._seen[node, row[3]] = piece
        return piece

    def _handler(self, row: Row, node: int) -> Piece | None:
        piece = self._seen.get((node, row[3]))
        if piece is not None and row[2] == TraceEvent.HANDLER_START:
            piece.life.handled, piece.life.handler = row[0], row[4]
        elif piece is not None:
            piece.life.ended = row[0]
        return piece

    def _card_takes(self, row: Row, node: int) -> Piece | None:
        piece = next((piece for piece in self._waiting[node] if piece.key == row[3]), None)
        if piece is not None:
            self._waiting[node].remove(piece)
            self._seen[node, row[3]] = piece
            piece.life.handled, piece.life.to_card = row[0], True
        return piece

    def _card_gives(self, row: Row, node: int) -> Piece | None:
        """The circuit is done with one message, and another begins."""
        self._result(row, node)
        piece = self._seen.get((node, row[3]))
        if piece is not None:
            piece.life.ended = row[0]
        return piece


UNSEEN = 64
"""A layer whose firmware does not tell when it looks at packets leaves them all unseen: no more are remembered."""
WIRE = (Part.NET_SEND, Part.NET_RECV, Part.LINK)


def lives_of(recorded: Recorded) -> Lives:
    """The lives of all messages of a run."""
    return Lives(recorded.legend).take_all(rows(recorded.trace))
