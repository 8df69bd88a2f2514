"""Stop-and-wait channels between two NICs, and the timers of what is in flight on them (readings AM-C22, C23).

A channel carries one message at a time, with a sequence number of 8 bits. Requests and replies have channels of their
own, so that requests without an answer cannot hold replies up. All timers run equally long, so they end in the order in
which they were set: a list, of which only the first is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from firmware.am2.nic.endpoints import Endpoint, Sending
from firmware.am2.nic.words import Code
from firmware.am2.options import Options
from firmware.verbs import Nic
from pymodels.registers import Isr, Reg

TIME = 1 << Isr.TIME0
TICKS_PER_US = 2
"""RTC and the timers count half microseconds (fact sheet 3.1)."""
HALF, WORD = 1 << 31, 0xFFFFFFFF
SEQUENCES = 256


@dataclass(eq=False)
class Channel:
    """As its sender keeps it."""

    node: int
    number: int
    sequence: int = 0
    flight: Flight | None = None


@dataclass(eq=False)
class Flight:
    """A message that was taken and is not done with: where its words stand, and what of them was checked."""

    endpoint: Endpoint
    send: Sending
    number: int
    """Of the descriptor, counted from the start."""
    name: int
    node: int
    arguments: int
    size: int
    """Bytes of payload."""
    block: int
    channel: Channel | None = None
    """None: it waits at its endpoint."""
    sent: int = 0
    """Transmissions."""
    code: Code = Code.OK
    """Why it is to be returned."""
    over: bool = False
    """It is done with: copies that wait for the send engine do not leave."""


@dataclass
class Heard:
    """A channel as its receiver keeps it."""

    sequence: int = 0
    code: Code = Code.OK
    """How the last message was answered."""
    pending: bool = False
    """It is not yet."""


class Channels:
    """Of one NIC, to all nodes and from them."""

    def __init__(self, options: Options, nodes: int) -> None:
        count = options.channels
        half = max(count // 2, 1)
        ranges = (range(half), range(half, count) if count > 1 else range(1))
        self._out = [[[Channel(node, number) for number in one] for one in ranges] for node in range(nodes)]
        if count == 1:
            for both in self._out:
                both[1] = both[0]
        self._in = [[Heard() for _ in range(count)] for _ in range(nodes)]
        self._count = count

    def free(self, node: int, queue: int) -> Channel | None:
        """A channel to a node that has nothing in flight. `queue`: 0 for requests, 1 for replies."""
        return next((one for one in self._out[node][queue] if one.flight is None), None)

    def out(self, node: int, queue: int, number: int) -> Channel | None:
        """A channel by its number, if there is one."""
        return next((one for one in self._out[node][queue] if one.number == number), None)

    def heard(self, node: int, number: int) -> Heard | None:
        """A channel from a node, if there is one."""
        return self._in[node][number] if number < self._count else None

    def flights(self) -> list[Flight]:
        """All that is in flight."""
        channels = {id(one): one for node in self._out for both in node for one in both}
        return [one.flight for one in channels.values() if one.flight]


class Timers:
    """Of one NIC."""

    def __init__(self, nic: Nic, options: Options) -> None:
        self._nic, self._ticks = nic, options.timeout_us * TICKS_PER_US
        self._due: dict[Flight, int] = {}
        """When, in the order of the times."""

    async def start(self, flight: Flight) -> None:
        """The time-out of a message begins."""
        nic = self._nic
        now = await nic.read(Reg.RTC)
        await nic.work_on("am2_timer")
        if not self._due:
            nic.write(Reg.IT0, self._ticks)
        self._due[flight] = now + self._ticks & WORD

    def pause(self, flights: Iterable[Flight]) -> None:
        """Messages that wait at an endpoint which leaves: they go on when it is back."""
        for flight in flights:
            self._due.pop(flight, None)

    def stop(self, flight: Flight) -> None:
        """It is answered. The hardware's timer goes on: what it finds then decides."""
        self._due.pop(flight, None)

    async def over(self) -> list[Flight]:
        """TIME0: the messages whose time-out is over; the timer is set to the next one."""
        nic, over = self._nic, list[Flight]()
        nic.write(Reg.ISR, TIME)
        now = await nic.read(Reg.RTC)
        while self._due:
            flight, due = next(iter(self._due.items()))
            if (now - due & WORD) >= HALF:
                nic.write(Reg.IT0, due - now & WORD)
                break
            del self._due[flight]
            over.append(flight)
        await nic.work("am2_timer_look", len(over) + 1)
        return over
