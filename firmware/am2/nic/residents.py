"""Which endpoints have their frames in the NIC's memory: the driver's rows say it, and the NIC moves them by DMA.

A frame leaves when nothing points into it: the endpoint sends and takes no more, its messages under way are answered,
and payload that comes is in its staging blocks. Messages without a channel wait at their endpoint meanwhile. What the
NIC knows of an endpoint beside its frame stays.
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
    """Of one NIC."""

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
        """`channels`: to all nodes."""
        self._nic, self._port, self._endpoints, self._timers = nic, port, endpoints, timers
        self._outgoing, self._incoming, self._channels = outgoing, incoming, channels
        self._moving: Endpoint | None = None
        self._target = 0
        """Where its frame comes to; 0: it leaves."""

    async def obey(self, number: int) -> tuple[int, Endpoint | None]:
        """A row has changed: the answer to the driver; an endpoint whose turns are over."""
        endpoint, wanted = self._endpoints.read(number)
        if not wanted:
            return self._gone(number, endpoint), endpoint
        assert endpoint is not None
        if wanted == ABSENT and endpoint.frame:
            return await self._leave(endpoint), endpoint
        if wanted != ABSENT and endpoint.leaving:
            await self._nic.work("am2_stay")
            endpoint.leaving = False
            await self._goes_on(endpoint)
        elif wanted != ABSENT and not endpoint.frame:
            self._moving, self._target = endpoint, wanted
            await self._port.bring(wanted, endpoint.image, FRAME)
            return MOVING, None
        return 0, None

    def _gone(self, number: int, endpoint: Endpoint | None) -> int:
        """There is no such endpoint any more: what it has in flight is done with."""
        if endpoint is not None:
            self._outgoing.forget(endpoint)
            if endpoint in self._endpoints.ring:
                self._endpoints.ring.remove(endpoint)
        return NOT_YET if self._incoming.fills(number) else 0

    async def _leave(self, endpoint: Endpoint) -> int:
        """Its frame is to leave; it does if nothing points into it."""
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

    async def _goes_on(self, endpoint: Endpoint) -> None:
        """It is there: it has turns again, and what waits at it goes on."""
        endpoint.asked = False
        self._endpoints.ring.append(endpoint)
        for flight in list(self._outgoing.aside(endpoint)):
            await self._outgoing.resume(flight)

    async def moved(self) -> Endpoint | None:
        """From the port: the frame is where it is to be. The endpoint that has come."""
        endpoint, self._moving = self._moving, None
        assert endpoint is not None
        if self._target:
            await self._nic.work("am2_loaded")
            endpoint.frame = self._target
            await self._goes_on(endpoint)
            return endpoint
        await self._nic.work("am2_left")
        waits = self._outgoing.aside(endpoint) or any(
            self._nic.load(endpoint.next(send)) & OWNED for send in endpoint.sends
        )
        endpoint.frame, endpoint.leaving, endpoint.asked = 0, False, False
        if waits:
            await self._endpoints.ask(endpoint)
        return None
