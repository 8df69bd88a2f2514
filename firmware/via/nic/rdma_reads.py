"""RDMA reads (optional in the specification): a request, and the data as a message back.

    initiator ── ADDRESS, READ (bytes) ──> target    the descriptor waits, as those of unacknowledged sends do
              <── DATA, DATA, ... ────────           between two messages of the target, without its process

Packets of a reliable connection keep their order, so data belong to the oldest pending read. Sends complete in the
order of their posting: an acknowledged send waits for the data of an older read.
"""

from __future__ import annotations

from firmware.via import formats as via
from firmware.via.formats import Header, Status
from firmware.via.nic.breaking import Breaking
from firmware.via.nic.completions import Completions
from firmware.via.nic.delivery import Delivery
from firmware.via.nic.descriptors import Refused, Work
from firmware.via.nic.endpoint import Endpoint
from firmware.via.nic.incoming import IncomingWrite
from firmware.via.nic.layout import RDMA_READ, Counter, Kind, Region
from firmware.via.nic.ni import Ni
from firmware.via.nic.outgoing import Outgoing
from firmware.via.nic.scatter_gather import SegmentPages, Span
from firmware.via.nic.sending import Sender
from firmware.via.nic.translation import Frames, Translator
from pymodels.trace import CAUSE_SHIFT, TraceEvent


class RdmaReads:
    """RDMA reads, at initiator and target."""

    def __init__(
        self,
        ni: Ni,
        completions: Completions,
        breaking: Breaking,
        delivery: Delivery,
        sender: Sender,
        table: Frames,
    ) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._completions, self._breaking, self._delivery = completions, breaking, delivery
        self._sender, self._translator = sender, Translator(ni, table)

    async def handle_request(self, endpoint: Endpoint, number: int) -> None:
        """Handle a read request: send the data, or break the (reliable) connection."""
        connection = endpoint.connection
        writing, connection.writing = connection.writing, None
        assert writing is not None  # a gap before this packet has broken the connection
        await self._nic.work("read_asked")
        size, _ = await self._port.inline()
        if not await self._allowed(endpoint, writing, size):
            self._ni.count(Counter.NOT_ALLOWED)
            await self._breaking.refuse(endpoint, via.Kind.NOT_ALLOWED, number, self._port.head().message)
            return
        parts = [Span(writing.va, writing.handle, size)] if size else []
        pages = SegmentPages(self._ni, self._translator, parts, endpoint.tag(), endpoint.number)
        work = Work(Kind.READ, endpoint.number, 0, size, pages)
        its = self._ni.number()
        key = self._ni.key(connection, its)
        message = self._nic.message()
        head = self._port.head()
        cause = connection.node | head.message << CAUSE_SHIFT
        self._nic.trace(TraceEvent.NIC_REPLY, key, head.header[0], cause, message=message)
        answer = Outgoing(endpoint, connection, work, None, its, key, via.Kind.DATA, asked=number, message=message)
        answer.cause = head.message
        if not size:
            answer.before.append((via.Kind.DATA, b""))
        await self._sender.respond(answer)

    async def _allowed(self, endpoint: Endpoint, writing: IncomingWrite, size: int) -> bool:
        """Return True if the range is registered for RDMA reads under the VI's tag."""
        if writing.va & 3 and self._nic.word_bytes == 4:  # a LANai 4 moves whole words
            return False
        try:
            region = await self._translator.find(endpoint.number, writing.va, writing.handle, size, endpoint.tag())
        except Refused:
            return False
        return bool(self._nic.load(region + Region.FLAGS) & endpoint.connection.rights & RDMA_READ)

    async def data(self, endpoint: Endpoint, header: Header) -> None:
        """Deliver a packet of data to the pages of the oldest pending read. Errors are reported at the last packet."""
        await self._nic.work("read_data")
        sent = endpoint.connection.unacknowledged
        waiting = next(one for one in sent if one.reading is not None and not one.over)
        assert waiting.reading is not None
        if not waiting.operation & Status.ERRORS:
            waiting.operation |= await self._delivery.deliver(waiting.reading) or Status(0)
        if header.last:
            waiting.over = True
            head = self._port.head()
            self._nic.trace(TraceEvent.NIC_RECV_DONE, head.header[0], head.size, message=head.message)
            await self._completions.acknowledged(endpoint)
