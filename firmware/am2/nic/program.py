"""NIC program: a polling loop over the driver's command, the timer, the port, and the send queues."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from firmware.am2.nic.channels import TIME, Channels, Timers
from firmware.am2.nic.endpoints import Endpoint, Endpoints, Sending
from firmware.am2.nic.incoming import Incoming
from firmware.am2.nic.layout import MOVING, NOT_YET, Word
from firmware.am2.nic.outgoing import Outgoing
from firmware.am2.nic.residents import Residents
from firmware.am2.nic.words import OWNED, Kind
from firmware.am2.options import Options
from firmware.common.nic import LedPackets
from firmware.verbs import Nic, PollLoop, Watch
from firmware.view import ClusterView
from pymodels.registers import Reg
from pymodels.waiting import Wait, Wanted

TURN_BYTES = 8192
"""Bytes for each unit of weight, after which a turn ends even with messages left (readings AM-C26)."""


class Program:
    """NIC program, with the callbacks of the packet port."""

    def __init__(self, nic: Nic, view: ClusterView, options: Options, port: LedPackets) -> None:
        self._nic, self._names, self._options = nic, view.names, options
        self._endpoints = Endpoints(nic, port)
        self._channels = Channels(options, len(view.names))
        self._timers = Timers(nic, options)
        self._outgoing = Outgoing(nic, view, options, port, self._endpoints, self._channels, self._timers)
        self._incoming = Incoming(nic, view, options, port, self._endpoints, self._channels, self._outgoing)
        total = options.channels * len(view.names)
        self._residents = Residents(nic, port, self._endpoints, self._timers, self._outgoing, self._incoming, total)
        self._turn_left: tuple[Endpoint, int, int] | None = None
        """Interrupted turn: endpoint, number of messages left, bytes left; or None."""
        self._services = [
            (Watch(Word.COMMAND, 0, "am2_look_command", MOVING - NOT_YET - 1), self._commanded),
            (Watch(Reg.ISR, 0, "am2_look_timer", TIME, register=True), self._ticked),
            *port.services(self),
        ]
        self._fixed = len(self._services)
        self._start: int | None = None
        """Step at which the loop continues, or None for the one after the last hit."""
        nic.waits.register(self._wants)

    async def run(self) -> None:
        """Run the polling loop, in which endpoints have turns in the order of the ring."""
        fixed, ring = self._fixed, self._endpoints.ring
        looks = [Watch(0, 0, "am2_look_queue", OWNED) for _ in range(2 * self._options.frames)]
        loop = self._nic.poll_loop([*(watch for watch, _ in self._services), *looks])
        while True:
            loop.first(fixed + 2 * len(ring))
            self._aim(loop, fixed)
            hit = await loop.run(self._start)
            self._start = None
            if hit < fixed:
                await self._services[hit][1]()
            else:
                endpoint = ring[(hit - fixed) // 2]
                await self._turn(endpoint, endpoint.weight, endpoint.weight * TURN_BYTES)

    def _aim(self, loop: PollLoop, fixed: int) -> None:
        """Set the address and value of each send queue's step: the next descriptor, replies before requests."""
        for number, endpoint in enumerate(self._endpoints.ring):
            for which, send in enumerate(reversed(endpoint.sends)):
                step = fixed + 2 * number + which
                loop.aim(step, endpoint.next(send))
                loop.expect(step, OWNED if send.held else 0)

    async def _turn(self, endpoint: Endpoint, left: int, most: int) -> None:
        """Send messages of an endpoint, replies first, until its limits or its queues are exhausted.

        If a message cannot be sent now, the rest of the turn is kept until a resource becomes free, and other endpoints
        may send meanwhile.
        """
        for send in reversed(endpoint.sends):
            while left and most > 0 and not send.held:
                await self._nic.caught_up()
                size = self._size(endpoint, send)
                if not await self._outgoing.take(endpoint, send):
                    break
                left, most = left - 1, most - size
        ring = self._endpoints.ring
        following = ring.index(endpoint) + 1
        self._start = self._fixed + 2 * following if following < len(ring) else 0
        mine = self._turn_left is None or self._turn_left[0] is endpoint
        if mine:
            waits = left and most > 0 and any(send.held for send in endpoint.sends)
            self._turn_left = (endpoint, left, most) if waits else None

    def _size(self, endpoint: Endpoint, send: Sending) -> int:
        """Return the payload size of the next message."""
        at = endpoint.next(send)
        return self._nic.load(at + 16) >> 16 if self._nic.load(at) >> 28 & 7 != Kind.SHORT else 0

    async def _then(self, step: Callable[[], Awaitable[None]]) -> None:
        """Run a handler that may free resources, then continue held queues."""
        await step()
        held = [send for endpoint in self._endpoints.ring for send in endpoint.sends if send.held]
        if held:
            await self._nic.work_on("am2_wake", len(held))
            for send in held:
                send.held = False
            if self._turn_left:
                await self._turn(*self._turn_left)

    # ---- what happens

    async def _commanded(self) -> None:
        """Handle a changed row."""
        nic = self._nic
        number = nic.load(Word.COMMAND) - 1
        await nic.work("am2_row")
        answer, gone = await self._residents.carry_out(number)
        if self._turn_left and self._turn_left[0] is gone:
            self._turn_left = None
        nic.store(Word.COMMAND, answer)

    async def _ticked(self) -> None:
        await self._then(self._outgoing.tick)

    async def fetched(self) -> None:
        """Handle the end of a fetch."""
        await self._outgoing.fetched()

    async def launched(self) -> None:
        """Handle a free port."""
        await self._then(self._outgoing.launched)

    async def arrived(self) -> None:
        """Handle a received packet."""
        await self._then(self._incoming.arrived)

    async def delivered(self) -> None:
        """Handle the end of a delivery."""
        await self._incoming.delivered()

    async def moved(self) -> None:
        """Handle the end of a frame's move. A loaded endpoint gets a turn before it can be evicted again."""
        endpoint = await self._residents.moved()
        self._nic.store(Word.COMMAND, 0)
        if endpoint:
            await self._turn(endpoint, endpoint.weight, endpoint.weight * TURN_BYTES)

    async def stored(self) -> None:
        """Do nothing: no stores are used."""

    # ---- reports

    def _wants(self) -> Iterator[Wait]:
        """Return the unacknowledged messages, for hang reports."""
        for flight in self._channels.flights():
            node = flight.node
            what = f"the acknowledgement of transmission {flight.sent} of endpoint {flight.endpoint.number}'s message"
            yield Wait(self._nic.who, Wanted(f"{what} {flight.number}", f"NIC {node}"))
