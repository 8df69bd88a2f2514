"""Driver of the FIFO card with cells: a message is split into cells of 44 bytes and reassembled by the receiver."""

from __future__ import annotations

from firmware.nics.fifo.cells import MOST, PART, CellPort, key
from firmware.verbs import Host
from firmware.view import ClusterView
from pymodels.nics.fifo.registers import Size
from pymodels.trace import TraceEvent

__all__ = ["MOST", "Cells"]


class Cells:
    """Driver of one host (cells). One task may send and one may receive concurrently."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.view = host, view
        self.partners = sorted(vnn for vnn in view.routes if vnn != view.me)
        self._port = CellPort(host, view.me, view.routes)
        self._coming: dict[int, bytearray] = {}

    async def start(self) -> None:
        """Select the card's form and load the route of each destination's circuit. Call first."""
        await self._port.start()

    async def arrived(self) -> int:
        """Return the number of cells that have arrived and are not yet received."""
        return await self._port.there()

    async def send(self, destination: int, payload: bytes) -> None:
        """Send a message, waiting while the FIFO is full.

        Args:
            destination: VNN of another node.
            payload: up to `MOST` bytes.

        Raises:
            ValueError: an invalid destination or size.
        """
        if destination not in self.partners or len(payload) > MOST:
            raise ValueError(f"destination {destination} (of {self.partners}) or payload ({len(payload)} of {MOST} B)")
        message = self.host.message()
        self.host.trace(TraceEvent.SEND_CALL, 0, len(payload), message=message)
        for at in range(0, max(len(payload), 1), PART):
            while not await self._port.room():
                pass
            header = await self._port.put(destination, payload, at, message)
            self.host.trace(TraceEvent.PAYLOAD_WRITTEN, header, Size.CELL, message=message)

    async def receive(self) -> tuple[int, bytes]:
        """Wait for the next complete message. Return source node and payload."""
        while True:
            while not await self._port.there():
                pass
            cell = await self._port.look()
            trace = key(cell.source, self.view.me, cell.number)
            message = self._port.message
            self.host.trace(TraceEvent.POLL_HIT, trace, 0, cell.source, message=message)
            self._coming.setdefault(cell.source, bytearray()).extend(await self._port.take(cell))
            if cell.left <= PART:
                self.host.trace(TraceEvent.HANDLER_START, trace, 0, cell.source, message=message)
                return cell.source, bytes(self._coming.pop(cell.source))
