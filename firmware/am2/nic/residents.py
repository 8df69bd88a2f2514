"""Residence of frames in the NIC's memory: requested by the driver's rows, carried out by DMA.

A frame is evicted when no descriptor or DMA refers to it: the endpoint sends and accepts no more, its messages in
flight are acknowledged, and incoming payload is in its staging blocks. Messages without a channel wait meanwhile. The
NIC's state of an endpoint outside of the frame stays.
"""

from __future__ import annotations

from firmware.am2.nic.channels import Timers
from firmware.am2.nic.endpoints import Endpoint, Endpoints
from firmware.am2.nic.incoming import Incoming
from firmware.am2.nic.layout import ABSENT, FRAME, MOVING, NOT_YET
from firmware.am2.nic.outgoing import Outgoing
from firmware.am2.nic.words import OWNED
from firmware.common.nic import LedPackets
from firmware.verbs import Nic


class Residents:
    """Resident endpoints of one NIC."""

    def __init__(
        self,
        nic: Nic,
        port: LedPackets,
        endpoints: Endpoints,
        timers: Timers,
        outgoing: Outgoing,
        incoming: Incoming,
        channels: int,
    ) -> None:
        """Create the object; `channels` is the number of channels to all nodes."""
        self._nic, self._port, self._endpoints, self._timers = nic, port, endpoints, timers
        self._outgoing, self._incoming, self._channels = outgoing, incoming, channels
        self._moving: Endpoint | None = None
        self._target = 0
        """SRAM address that the frame is loaded to, or 0 during an eviction."""

    async def carry_out(self, number: int) -> tuple[int, Endpoint | None]:
        """Carry out a changed row. Return the reply to the driver, and an endpoint that has no more turns."""
        endpoint, wanted = self._endpoints.read(number)
        if not wanted:
            return self._abandon(number, endpoint), endpoint
        assert endpoint is not None
        if wanted == ABSENT and endpoint.frame:
            return await self._leave(endpoint), endpoint
        if wanted != ABSENT and endpoint.leaving:
            await self._nic.work("am2_stay")
            endpoint.leaving = False
            await self._resume(endpoint)
        elif wanted != ABSENT and not endpoint.frame:
            self._moving, self._target = endpoint, wanted
            await self._port.bring(wanted, endpoint.image, FRAME)
            return MOVING, None
        return 0, None

    def _abandon(self, number: int, endpoint: Endpoint | None) -> int:
        """Abandon the messages of a freed endpoint."""
        if endpoint is not None:
            self._outgoing.forget(endpoint)
            if endpoint in self._endpoints.ring:
                self._endpoints.ring.remove(endpoint)
        return NOT_YET if self._incoming.fills(number) else 0

    async def _leave(self, endpoint: Endpoint) -> int:
        """Evict the endpoint's frame, unless a DMA or descriptor still refers to it."""
        if not endpoint.leaving:
            await self._nic.work("am2_leave")
            endpoint.leaving = True
            self._endpoints.ring.remove(endpoint)
            self._timers.pause(self._outgoing.aside(endpoint))
            for send in endpoint.sends:
                send.held = False
        await self._nic.work("am2_quiet_look", self._channels)
        if self._outgoing.flying(endpoint) or self._incoming.fills(endpoint.number):
            return NOT_YET
        self._moving, self._target = endpoint, 0
        await self._port.take(endpoint.frame, endpoint.image, FRAME)
        return MOVING

    async def _resume(self, endpoint: Endpoint) -> None:
        """Give a resident endpoint turns, and resume its waiting messages."""
        endpoint.asked = False
        self._endpoints.ring.append(endpoint)
        for flight in list(self._outgoing.aside(endpoint)):
            await self._outgoing.resume(flight)

    async def moved(self) -> Endpoint | None:
        """Handle the end of a frame's move. Return the loaded endpoint, or None after an eviction."""
        endpoint, self._moving = self._moving, None
        assert endpoint is not None
        if self._target:
            await self._nic.work("am2_loaded")
            endpoint.frame = self._target
            await self._resume(endpoint)
            return endpoint
        await self._nic.work("am2_left")
        waits = self._outgoing.aside(endpoint) or any(
            self._nic.load(endpoint.next(send)) & OWNED for send in endpoint.sends
        )
        endpoint.frame, endpoint.leaving, endpoint.asked = 0, False, False
        if waits:
            await self._endpoints.request_frame(endpoint)
        return None
