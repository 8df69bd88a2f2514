"""Stop-and-wait channels between two NICs, and the retransmission timers (readings AM-C22, C23).

A channel carries one message at a time, with a sequence number of 8 bits. Requests and replies have separate channels,
so that unanswered requests cannot block replies. All timers have the same length, so they expire in the order of their
starts, and only the first of the list is checked.
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
"""Ticks of RTC and the timers in a microsecond (fact sheet 3.1)."""
HALF, WORD = 1 << 31, 0xFFFFFFFF
SEQUENCES = 256


@dataclass(eq=False)
class Channel:
    """Channel at its sender."""

    node: int
    number: int
    sequence: int = 0
    flight: Flight | None = None


@dataclass(eq=False)
class Flight:
    """Message that was taken from its queue and is not finished, with the checked contents of its descriptor."""

    endpoint: Endpoint
    send: Sending
    number: int
    """Number of the descriptor, since the start."""
    name: int
    node: int
    arguments: int
    size: int
    """Payload in bytes."""
    block: int
    channel: Channel | None = None
    """Channel, or None while the message waits at its endpoint."""
    sent: int = 0
    """Number of transmissions."""
    code: Code = Code.OK
    """Reason if the message is to be returned."""
    over: bool = False
    """True if the message is finished: queued copies are not sent."""
    message: int = 0
    """Number of the message in the trace."""


@dataclass
class ReceiverChannel:
    """Channel at its receiver."""

    sequence: int = 0
    code: Code = Code.OK
    """Reply to the last message."""
    pending: bool = False
    """True if the last message has no reply yet."""


class Channels:
    """Channels of one NIC, to and from all nodes."""

    def __init__(self, options: Options, nodes: int) -> None:
        count = options.channels
        half = max(count // 2, 1)
        ranges = (range(half), range(half, count) if count > 1 else range(1))
        self._out = [[[Channel(node, number) for number in one] for one in ranges] for node in range(nodes)]
        if count == 1:
            for both in self._out:
                both[1] = both[0]
        self._in = [[ReceiverChannel() for _ in range(count)] for _ in range(nodes)]
        self._count = count

    def free(self, node: int, queue: int) -> Channel | None:
        """Return a free channel to a node, or None. `queue` is 0 for requests, 1 for replies."""
        return next((one for one in self._out[node][queue] if one.flight is None), None)

    def out(self, node: int, queue: int, number: int) -> Channel | None:
        """Return an outgoing channel by its number, or None."""
        return next((one for one in self._out[node][queue] if one.number == number), None)

    def heard(self, node: int, number: int) -> ReceiverChannel | None:
        """Return an incoming channel by its number, or None."""
        return self._in[node][number] if number < self._count else None

    def flights(self) -> list[Flight]:
        """Return all messages in flight."""
        channels = {id(one): one for node in self._out for both in node for one in both}
        return [one.flight for one in channels.values() if one.flight]


class Timers:
    """Timers of one NIC."""

    def __init__(self, nic: Nic, options: Options) -> None:
        self._nic, self._ticks = nic, options.timeout_us * TICKS_PER_US
        self._due: dict[Flight, int] = {}
        """Expiry time of each message, in order."""

    async def start(self, flight: Flight) -> None:
        """Start the time-out of a message."""
        nic = self._nic
        now = await nic.read(Reg.RTC)
        await nic.work_on("am2_timer")
        if not self._due:
            nic.write(Reg.IT0, self._ticks)
        self._due[flight] = now + self._ticks & WORD

    def pause(self, flights: Iterable[Flight]) -> None:
        """Stop the time-outs of messages that wait at an evicted endpoint until it is loaded again."""
        for flight in flights:
            self._due.pop(flight, None)

    def stop(self, flight: Flight) -> None:
        """Stop the time-out of an acknowledged message. The hardware timer continues until the next check."""
        self._due.pop(flight, None)

    async def over(self) -> list[Flight]:
        """Handle TIME0: return the messages whose time-out has expired, and set the timer for the next one."""
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
