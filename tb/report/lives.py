"""Follows every message of a run by its trace records in order, from `send` to the end of the handler.

A message is a `send` on a host, a result of its FPGA card, or one that a NIC makes for another message: the reply to a
remote read, the copy of a multicast. The part of it that one packet carries is a piece (a segment of a long message). A
piece is found at its sender by its key, in the order of the queue (`tb.report.senders`); on the wire by the order of
packets (`tb.report.wire`); at its receiver by packet and source (`tb.report.receivers`).

The analysis belongs to no message layer: it follows every layer whose software leaves the records of `pymodels.trace`.
A layer that leaves fewer records has shorter lives. At nodes whose firmware leaves no records, messages are identified
by the key that the host has written and by the order of arrival.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from firmware.stack import shown_together
from pymodels.trace import PARTS_PER_NODE, SWITCH_BASE, Part, TraceEvent
from tb.report.life import Piece
from tb.report.receivers import Receivers
from tb.report.recorded import Legend, Recorded
from tb.report.wire import Packet, Row, Wire, rows


class Lives(Receivers):
    """Follows the messages of a run; takes its records one by one, in time order."""

    def __init__(self, legend: Legend) -> None:
        super().__init__(shown_together(legend.layers))
        self.wire = Wire(legend)
        self._leaving: dict[int, Packet] = {}
        none = all(one.event != TraceEvent.NIC_NOTICED for one in self.shown.stages)
        self._silent = frozenset(range(len(legend.hosts)) if none else legend.executing)
        self._take: dict[int, Callable[[Row, int], Piece | None]] = {
            TraceEvent.SEND_CALL: self._call,
            TraceEvent.SEND_RETURN: self._return,
            TraceEvent.PAYLOAD_WRITTEN: self._written,
            TraceEvent.POINTER_WRITTEN: self._at_sender,
            TraceEvent.POSTED: self._post,
            TraceEvent.NIC_NOTICED: self._noticed,
            TraceEvent.NIC_DESCRIPTOR: self._descriptor,
            TraceEvent.NIC_SEND_START: self._send_start,
            TraceEvent.NIC_SEND_DONE: self._send_done,
            TraceEvent.RESEND: self._at_sender,
            TraceEvent.ROLLBACK: self._at_sender,
            TraceEvent.NACK_SEEN: self._at_sender,
            TraceEvent.ACK_SEEN: self._at_sender,
            TraceEvent.NIC_RECV_START: self._received,
            TraceEvent.NIC_ACCEPT: self._accepted,
            TraceEvent.NIC_DMA_START: self._dma_ordered,
            TraceEvent.NIC_DMA_DONE: self._finished,
            TraceEvent.NIC_RECV_DONE: self._complete,
            TraceEvent.NIC_REPLY: self._reply,
            TraceEvent.NIC_COPY: self._copy,
            TraceEvent.NIC_DROPPED: self._at_receiver,
            TraceEvent.ACK_SENT: self._answered,
            TraceEvent.NACK_SENT: self._answered,
            TraceEvent.DMA_START: self._dma_start,
            TraceEvent.DMA_DONE: self._dma_done,
            TraceEvent.TRAPPED: self._trapped,
            TraceEvent.IN_KERNEL: self._copied,
            TraceEvent.IN_PROCESS: self._copied,
            TraceEvent.POLL_HIT: self._poll_hit,
            TraceEvent.HANDLER_START: self._handler,
            TraceEvent.HANDLER_END: self._handler,
            TraceEvent.CARD_TAKE: self._card_takes,
            TraceEvent.CARD_GIVE: self._card_gives,
        }

    def take(self, row: Row) -> None:
        """Take the next record."""
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
            piece = self._started.get(packet.source)
            if piece is not None and piece.key == packet.key:
                del self._started[packet.source]
            else:
                piece = self._untold(packet) if packet.source in self._silent else self._posted_as(packet)
            if piece is not None:
                piece.packets.append(packet)
                self.piece_of[id(packet)] = piece
            else:
                self._answer(packet)
        if packet.target is not None and packet.stored == row[0] and event == TraceEvent.RX_TAIL:
            self._stored[packet.target].append(packet)
            if packet.target in self._silent and not packet.syndrome and id(packet) in self.piece_of:
                self._accepted_untold(self.piece_of[id(packet)], packet)
        carried = self.piece_of.get(id(packet))
        if carried is not None and event == TraceEvent.RX_HEAD and packet.target is not None:
            carried.life.target = packet.target
            self._there[packet.target, packet.key] = carried
            self._from[packet.target, packet.key, packet.source] = carried
        return carried

    def _untold(self, packet: Packet) -> Piece | None:
        """Take the oldest piece that the host has written under a packet's key, for firmware that leaves no records."""
        queue = self._written_by.get((packet.source, packet.key))
        return queue.popleft() if queue else None

    def _accepted_untold(self, piece: Piece, packet: Packet) -> None:
        """Accept a packet for the host, at firmware that leaves no records: the host takes it by its key, or
        in order.
        """
        assert packet.target is not None
        self._in_queue[packet.target, 0].append(piece)
        self._waiting[packet.target, packet.key].append(piece)

    def _posted_as(self, packet: Packet) -> Piece | None:
        """Find the one descriptor of a packet's key. The packet may begin before the firmware's record of it."""
        return self._descriptors.get((packet.source, packet.key))

    def _answer(self, packet: Packet) -> None:
        """Match a control message that begins to leave with the answer that is due."""
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


WIRE = (Part.NET_SEND, Part.NET_RECV, Part.LINK)


def lives_of(recorded: Recorded) -> Lives:
    """Follow all messages of a run."""
    return Lives(recorded.legend).take_all(rows(recorded.trace))
