"""Received acknowledgements (readings C11).

An acknowledgement names its message and covers all earlier ones, whose own acknowledgements may be lost. RDMA reads are
acknowledged only by their data.
"""

from __future__ import annotations

from itertools import islice

from firmware.via.formats import Header, Kind, Status
from firmware.via.nic.breaking import Breaking
from firmware.via.nic.completions import Completions
from firmware.via.nic.connection import Connection
from firmware.via.nic.endpoint import Endpoint
from firmware.via.nic.ni import Ni
from pymodels.trace import TraceEvent

VERDICTS = {
    Kind.NO_DESCRIPTOR: Status.REMOTE_DESCRIPTOR,
    Kind.TOO_LONG: Status.REMOTE_DESCRIPTOR,
    Kind.LOST: Status.TRANSPORT_ERROR,
    Kind.NOT_ALLOWED: Status.RDMA_PROTECTION,
}
"""Status of the failed message for each kind of NACK."""


class AckReceiver:
    """Receiver of acknowledgements: completes messages, or breaks the connection."""

    def __init__(self, ni: Ni, completions: Completions, breaking: Breaking) -> None:
        self._nic, self._port = ni.nic, ni.port
        self._completions, self._breaking = completions, breaking

    async def received(self, endpoint: Endpoint, header: Header) -> None:
        """Handle the acknowledgement at the head of the port."""
        await self._nic.work("answer_seen")
        seen = TraceEvent.ACK_SEEN if header.kind == Kind.DONE else TraceEvent.NACK_SEEN
        blamed = self._blamed(endpoint.connection, header) if header.kind != Kind.DONE else header.sequence
        means = (one.message for one in endpoint.connection.unacknowledged if one.number == blamed)
        self._nic.trace(seen, self._port.head().header[0], header.source, message=next(means, 0))
        if header.kind != Kind.DONE:
            await self._breaking.break_up(endpoint, VERDICTS[Kind(header.kind)], blamed)
            return
        sent = endpoint.connection.unacknowledged
        numbers = [one.number for one in sent]
        if header.sequence in numbers:  # covers earlier ones: a target acknowledges nothing after a gap
            for one in islice(sent, numbers.index(header.sequence) + 1):
                one.over |= one.reading is None
        await self._completions.acknowledged(endpoint)

    @staticmethod
    def _blamed(connection: Connection, header: Header) -> int | None:
        """Return the number of the message that a NACK refers to, or None if it was never sent."""
        if header.kind != Kind.LOST or not header.last:
            return header.sequence
        numbers = [one.number for one in connection.unacknowledged]
        behind = numbers[numbers.index(header.sequence) + 1 :] if header.sequence in numbers else numbers
        return behind[0] if behind else None
