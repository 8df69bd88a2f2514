"""Sending from hybrid queues: header and payload leave as two pieces of one packet, by two DMAs (paper 000, 4.2.2).

Between them the packet in the send engine is incomplete, so the link takes nothing else. An NI that waits for the first
DMA before it does anything else receives no packet meanwhile. If the destination NI does the same, both deadlock
(option `hybrid_wait`).
"""

from __future__ import annotations

from firmware.grim.nic.channels import Channel
from firmware.grim.nic.layout import ROUTE_BYTES
from firmware.grim.nic.queues.hybrid import HybridQueue
from firmware.grim.nic.transmitter import SEND, Transmitter
from pymodels.registers import Reg
from pymodels.trace import TraceEvent


class HybridTransmitter(Transmitter):
    """Transmitter that sends header and payload as two pieces of one packet."""

    _payload: tuple[int, int] | None = None
    """SRAM addresses of begin and end of the prepared message's payload, or None."""
    _second: tuple[int, int] | None = None
    """SRAM addresses of begin and end of the payload whose header is leaving, or None."""

    def prepare(self, channel: Channel, slot: int) -> None:
        """Prepare a message, and record the place of its payload for the second piece."""
        self._payload = None
        if isinstance(channel, HybridQueue) and channel.payload_size[slot]:
            at = channel.payload_base + channel.payload_offset[slot]
            self._payload = at, at + channel.payload_size[slot]
        super().prepare(channel, slot)

    def _start_prepared(self) -> None:
        if self._payload is None:
            super()._start_prepared()
            return
        assert self.prepared is not None
        at, align, limit, key, _, message = self.prepared
        self.prepared = None
        self._second, self._payload = self._payload, None
        self._start(at, align, limit, key, message, Reg.SML)
        self.nic.trace(TraceEvent.NIC_SEND_START, key, limit - at - ROUTE_BYTES, message=message)
        if self.ni.options.hybrid_wait:
            self.wait_for_link()

    async def sent(self) -> None:
        """Handle SEND_INT: start the payload after a header, or the next packet after a complete packet."""
        if self._second is None:
            await super().sent()
            return
        (at, limit), self._second = self._second, None
        self.nic.write(Reg.ISR, SEND)
        await self.nic.work("hybrid_payload")
        self._start(at, 0, limit, self.leaving[0], self._leaving_message)
        if not self.waiting:
            self.link_found()
