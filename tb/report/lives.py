"""Follows every message of a run by its trace records in order, from `send` to the end of the handler.

A message is a `send` on a host, a result of its FPGA card, or one that a NIC makes for another message: the reply to a
remote read, the copy of a multicast. The part of it that one packet carries is a piece (a segment of a long message).
Records have the number of their message (`tb.report.numbers`), and the key of the piece.

The analysis belongs to no message layer: it follows every layer whose software leaves the records of `pymodels.trace`.
A layer that leaves fewer records has shorter lives. Behind a NIC without records, such as one that executes firmware in
C, a host may not know the number. It then takes messages by key, or in the order of their arrival.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from firmware.stack import shown_together
from pymodels.trace import PARTS_PER_NODE, SWITCH_BASE, Part, TraceEvent
from tb.report.life import Piece
from tb.report.numbers import Numbers
from tb.report.receivers import Receivers
from tb.report.recorded import Legend, Recorded
from tb.report.wire import Packet, Row, rows


class Lives(Receivers):
    """Follows the messages of a run; takes its records one by one, in time order."""

    def __init__(self, legend: Legend) -> None:
        super().__init__(shown_together(legend.layers))
        self._numbers = Numbers(legend)
        self.wire = self._numbers.wire
        self._leaving: dict[int, Packet] = {}
        none = all(one.event != TraceEvent.NIC_NOTICED for one in self.shown.stages)
        self._silent = frozenset(range(len(legend.hosts)) if none else legend.executing)
        """Nodes whose firmware leaves no records."""
        self._take: dict[int, Callable[[Row, int], Piece | None]] = {
            TraceEvent.SEND_CALL: self._call,
            TraceEvent.SEND_RETURN: self._return,
            TraceEvent.PAYLOAD_WRITTEN: self._written,
            TraceEvent.POINTER_WRITTEN: self._piece,
            TraceEvent.POSTED: self._post,
            TraceEvent.NIC_NOTICED: self._noticed,
            TraceEvent.NIC_DESCRIPTOR: self._descriptor,
            TraceEvent.NIC_SEND_START: self._send_start,
            TraceEvent.NIC_SEND_DONE: self._send_done,
            TraceEvent.RESEND: self._piece,
            TraceEvent.ROLLBACK: self._piece,
            TraceEvent.NACK_SEEN: self._piece,
            TraceEvent.ACK_SEEN: self._piece,
            TraceEvent.NIC_RECV_START: self._received,
            TraceEvent.NIC_ACCEPT: self._accepted,
            TraceEvent.NIC_DMA_START: self._dma_ordered,
            TraceEvent.NIC_DMA_DONE: self._finished,
            TraceEvent.NIC_RECV_DONE: self._complete,
            TraceEvent.NIC_REPLY: self._make,
            TraceEvent.NIC_COPY: self._make,
            TraceEvent.NIC_DROPPED: self._piece,
            TraceEvent.ACK_SENT: self._answered,
            TraceEvent.NACK_SENT: self._answered,
            TraceEvent.DMA_START: self._dma_start,
            TraceEvent.DMA_DONE: self._dma_done,
            TraceEvent.TRAPPED: self._trapped,
            TraceEvent.IN_KERNEL: self._taken,
            TraceEvent.IN_PROCESS: self._taken,
            TraceEvent.POLL_HIT: self._poll_hit,
            TraceEvent.HANDLER_START: self._handler,
            TraceEvent.HANDLER_END: self._handler,
            TraceEvent.CARD_TAKE: self._card_takes,
            TraceEvent.CARD_GIVE: self._card_gives,
        }

    def take(self, row: Row) -> None:
        """Take the next record."""
        row, packet = self._numbers.take(row)
        unit = row[1]
        if packet is not None:
            piece = self._carried(packet, row)
        elif unit >= SWITCH_BASE or unit % PARTS_PER_NODE in WIRE:
            return
        else:
            call = self._take.get(row[2])
            piece = call(row, unit // PARTS_PER_NODE) if call is not None else None
        if piece is not None:
            piece.marks.append(row)

    def take_all(self, records: Iterable[Row]) -> Lives:
        """Take all of these records, and return itself."""
        for row in records:
            self.take(row)
        return self

    # ---- the wire

    def _carried(self, packet: Packet, row: Row) -> Piece | None:
        """Find the piece that a packet carries; None for a control message."""
        event = row[2]
        if event == TraceEvent.TX_START:
            self._leaving[packet.source] = packet
            self._leaves(packet)
        carried = self.piece_of.get(id(packet))
        if carried is None or packet.target is None:
            return carried
        if event == TraceEvent.RX_HEAD:
            carried.life.target = packet.target
        elif event == TraceEvent.RX_TAIL and packet.stored == row[0] and packet.target in self._silent:
            self._arrived_untold(carried, packet)
        return carried

    def _leaves(self, packet: Packet) -> None:
        """Find the piece of a packet that begins to leave, or the piece that it answers.

        Packets of a message leave its own node. Those that leave another node answer it.
        """
        life = self._by_message.get(packet.message)
        if life is None:
            self._leaves_untold(packet)
            return
        key = packet.message, packet.key
        piece = next((piece for piece in reversed(life.pieces) if piece.key == packet.key), None)
        due = self._due.get((packet.source, *key))
        if packet.source != life.node or due:
            if life.pieces:
                (piece or life.pieces[-1]).answers.append((due.popleft() if due else "NACK", packet))
            return
        if life.posted and life.pieces:
            piece = life.pieces[0]
        elif piece is None:  # no record has named it: it goes before a piece that has one
            piece = Piece(life, packet.key, 0)
            life.pieces.insert(max(len(life.pieces) - 1, 0), piece)
        piece.packets.append(packet)
        self.piece_of[id(packet)] = piece

    def _leaves_untold(self, packet: Packet) -> None:
        """Take the oldest piece that the host has written under a packet's key, for hardware that records no number,
        such as a board's.
        """
        queue = self._written_by.get((packet.source, packet.key), deque())
        while queue and queue[0].packets:
            queue.popleft()
        if queue:
            piece = queue.popleft()
            piece.packets.append(packet)
            self.piece_of[id(packet)] = piece

    def _arrived_untold(self, piece: Piece, packet: Packet) -> None:
        """Accept a packet for the host, at firmware that leaves no records: the host takes it by its key, or
        in order.
        """
        assert packet.target is not None
        if not packet.syndrome:
            self._in_order[packet.target].append(piece)
            self._waiting[packet.target, packet.key].append(piece)

    # ---- the sender

    def _send_done(self, row: Row, node: int) -> Piece | None:
        packet = self._leaving.get(node)
        return None if packet is None else self.piece_of.get(id(packet))


WIRE = (Part.NET_SEND, Part.NET_RECV, Part.LINK)


def lives_of(recorded: Recorded) -> Lives:
    """Follow all messages of a run."""
    return Lives(recorded.legend).take_all(rows(recorded.trace))
