"""Receive side: packets into the pages of the VI's receive descriptor, or into registered memory (paper 001, 3.2.2).

Descriptors were cached in the NIC's memory when they were posted. Nothing is copied, and packets wait only if the cache
is empty.
"""

from __future__ import annotations

from firmware.via.formats import Header, Kind, Reliability, Status, parse
from firmware.via.nic.ack_receiver import AckReceiver
from firmware.via.nic.ack_sender import AckSender
from firmware.via.nic.breaking import Breaking
from firmware.via.nic.completions import Completions
from firmware.via.nic.delivery import Delivery
from firmware.via.nic.endpoint import Endpoint
from firmware.via.nic.incoming import Incoming, IncomingWrite
from firmware.via.nic.layout import Counter, State
from firmware.via.nic.ni import Ni
from firmware.via.nic.rdma_reads import RdmaReads
from firmware.via.nic.rdma_writes import RdmaWrites
from firmware.via.nic.receive_descriptors import ReceiveDescriptors
from firmware.via.nic.refill import Refill
from pymodels.trace import TraceEvent

REMOTE = (Kind.ADDRESS, Kind.RDMA, Kind.READ, Kind.DATA)
"""Kinds of packets that need no receive descriptor."""
WRITTEN = (Kind.ADDRESS, Kind.RDMA, Kind.DATA)
"""Kinds of packets that need not wait for earlier RDMA writes: ordered with them, or independent of them."""


class Receiver:
    """Receiver of packets from the port."""

    def __init__(
        self,
        ni: Ni,
        acks: AckSender,
        ack_receiver: AckReceiver,
        completions: Completions,
        breaking: Breaking,
        refill: Refill,
        receives: ReceiveDescriptors,
        delivery: Delivery,
        writes: RdmaWrites,
        reads: RdmaReads,
    ) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._acks, self._ack_receiver, self._completions, self._breaking = acks, ack_receiver, completions, breaking
        self._refill, self._receives, self._delivery = refill, receives, delivery
        self._writes, self._reads = writes, reads
        self._header_uncharged = False
        """True until the header of the present packet, except its VI, has been charged for."""

    async def arrived(self) -> None:
        """Handle the packet at the head of the port."""
        packet = self._port.head()
        self._nic.trace(TraceEvent.NIC_RECV_START, packet.header[0], packet.source, message=packet.message)
        if not packet.good:
            await self._nic.work("receive_refused")
            self._ni.count(Counter.BAD_CRC)
        else:
            await self._good(parse(*packet.header))
        await self._port.drop()

    @property
    def _message(self) -> int:
        """Number in the trace of the message of the packet at the head of the port."""
        return self._port.head().message

    async def _good(self, header: Header) -> None:
        """Handle a valid packet."""
        endpoint = self._ni.endpoints[header.vi] if header.vi < len(self._ni.endpoints) else None
        self._header_uncharged = endpoint is not None and endpoint.user
        known = endpoint is not None and (not header.vi or self._connected(endpoint, header))
        if not (self._header_uncharged and header.first and header.kind == Kind.SEND):
            await self._charge_header()
        if endpoint is None or not known:
            await self._nic.work("receive_refused")
            self._ni.count(Counter.NOT_CONNECTED)
        elif header.kind >= Kind.DONE:
            await self._ack_receiver.received(endpoint, header)
        elif not header.vi or await self._in_order(endpoint, header):
            await self._piece(endpoint, header)
        if self._header_uncharged:
            await self._charge_header()

    async def _charge_header(self) -> None:
        """Charge for reading the header. For a message to a user's VI, this overlaps the fetch of the descriptor."""
        await self._nic.work_on("user_receive" if self._header_uncharged else "receive_packet")
        self._header_uncharged = False

    @staticmethod
    def _connected(endpoint: Endpoint, header: Header) -> bool:
        connected, its = endpoint.state() is State.CONNECTED, endpoint.connection
        return connected and (its.node, its.number) == (header.source, header.connection)

    async def _in_order(self, endpoint: Endpoint, header: Header) -> bool:
        """Return True if no packet is missing before this one.

        After a gap an unreliable VI continues with the next message.
        """
        connection = endpoint.connection
        if connection.is_late(header):
            self._ni.count(Counter.PASSED)
            return False
        number, whole = connection.arriving_number, connection.whole
        if connection.record(header):
            return True
        self._ni.count(Counter.LOST)
        if connection.reliable:
            await self._breaking.refuse(endpoint, Kind.LOST, number, self._message, whole)
            return False
        await self._abandon_message(endpoint)
        return header.first

    async def _abandon_message(self, endpoint: Endpoint) -> None:
        """Handle the loss of a message's rest. Its descriptor serves the next message, or fails if partly used."""
        connection = endpoint.connection
        message, connection.receiving, connection.writing = connection.receiving, None, None
        if message is not None and not message.rewind():
            await self._breaking.end(endpoint, message, 0, Status.PARTIAL_ERROR)

    async def _piece(self, endpoint: Endpoint, header: Header) -> None:
        """Handle a packet of a message, in order."""
        connection = endpoint.connection
        if header.first:  # the sender has abandoned the rest of an incomplete message
            await self._abandon_message(endpoint)
        if connection.awaits_writes and header.kind not in WRITTEN and not await self._writes_settled(endpoint):
            return
        if header.kind in REMOTE:
            await self._remote(endpoint, header)
            return
        if header.first:
            connection.receiving = await self._begin(endpoint, header)
        elif connection.writing is not None:
            connection.receiving = await self._end_writing(endpoint, connection.writing, header)
        message = connection.receiving
        if message is None:
            return  # rest of a message without a descriptor
        if header.kind == Kind.IMMEDIATE:
            message.immediate, _ = await self._port.inline()
        elif (wrong := await self._delivery.deliver(message)) is not None:
            await self._failed(endpoint, message, wrong, header)
            return
        if header.last:
            await self._end(endpoint, message, header)

    async def _writes_settled(self, endpoint: Endpoint) -> bool:
        """Wait for earlier RDMA writes. Return False if one of them has broken the connection."""
        connection = endpoint.connection
        connection.awaits_writes = False
        await self._nic.work("behind_write")
        await self._writes.settle()
        return endpoint.connected(connection)

    async def _remote(self, endpoint: Endpoint, header: Header) -> None:
        """Handle a packet of an RDMA write or read."""
        await self._nic.caught_up()
        if header.kind == Kind.READ:
            await self._reads.handle_request(endpoint, header.number)
        elif header.kind == Kind.DATA:
            await self._reads.data(endpoint, header)
        else:
            await self._write(endpoint, header)

    async def _write(self, endpoint: Endpoint, header: Header) -> None:
        """Handle a packet of an RDMA write."""
        connection = endpoint.connection
        if header.kind == Kind.ADDRESS:
            await self._nic.work("write_begin")
            connection.writing = IncomingWrite(*await self._port.inline())
            return
        writing = connection.writing
        if writing is None:
            return  # rest of a write that was rejected, or whose first packet was lost
        if not await self._writes.piece(endpoint, writing, self._port.head().size, header):
            connection.writing = None
            self._ni.count(Counter.NOT_ALLOWED)
            if connection.reliable:
                await self._breaking.refuse(endpoint, Kind.NOT_ALLOWED, header.number, self._message)
        elif header.last:
            connection.writing = None
            self._nic.trace(
                TraceEvent.NIC_RECV_DONE, self._port.head().header[0], writing.length, message=self._message
            )
            if not self._writes.confirms:
                await self._acknowledge(endpoint, header.number)

    async def _end_writing(self, endpoint: Endpoint, writing: IncomingWrite, header: Header) -> Incoming | None:
        """Return the receive descriptor for the immediate data of an RDMA write, or None if the write was rejected."""
        endpoint.connection.writing = None
        message = None if writing.refused else await self._begin(endpoint, header)
        if message is not None:
            message.length, message.operation = writing.length, Status.WRITE
        return message

    async def _begin(self, endpoint: Endpoint, header: Header) -> Incoming | None:
        """Return the receive descriptor of a new message, or None if there is none."""
        message = await self._receives.next(endpoint, self._charge_header if self._header_uncharged else None)
        if message is None:
            await self._nic.work("receive_refused")
            self._ni.count(Counter.NO_DESCRIPTOR)
            if endpoint.connection.reliable:
                await self._breaking.refuse(endpoint, Kind.NO_DESCRIPTOR, header.number, self._message)
        return message

    async def _failed(self, endpoint: Endpoint, message: Incoming, wrong: Status, header: Header) -> None:
        """Handle a message that does not fit its descriptor, or whose memory may not be written."""
        endpoint.connection.receiving = None
        await self._breaking.end(endpoint, message, message.length, wrong)
        if endpoint.connection.reliable:
            await self._breaking.refuse(endpoint, Kind.TOO_LONG, header.number, self._message)

    async def _end(self, endpoint: Endpoint, message: Incoming, header: Header) -> None:
        """Complete a message."""
        endpoint.connection.receiving = None
        key = self._port.head().header[0]
        self._nic.trace(TraceEvent.NIC_ACCEPT, key, header.source, endpoint.number + 1, message=self._message)
        self._nic.put_message(message.descriptor, self._message, in_host=True)
        await self._completions.receive(
            endpoint, message.descriptor, message.length, message.operation, message.immediate, number=self._message
        )
        await self._nic.work_on("user_received" if endpoint.user else "receive_end")
        await message.finish()
        self._nic.trace(TraceEvent.NIC_RECV_DONE, key, message.length, message=self._message)
        await self._acknowledge(endpoint, header.number)
        await self._refill.look(endpoint.receives.cache)

    async def _acknowledge(self, endpoint: Endpoint, number: int) -> None:
        """Acknowledge a complete message according to the reliability level of its connection."""
        connection = endpoint.connection
        if connection.reliability == Reliability.DELIVERY:
            await self._acks.send(connection, Kind.DONE, number, self._message)
        elif connection.reliability == Reliability.RECEPTION:
            await self._acks.send_stored(endpoint, number, self._message)
