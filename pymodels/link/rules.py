"""Decoder and protocol checker of a link port: characters in both directions in, packets out.

The rules follow from fact sheet 1.2 and 1.3, independent of RTL and simulator: STOP must end the stream before the
head-room above the STOP mark is full, every packet ends with GAP, and only known control characters occur.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pymodels.link.characters import DATA, RECEIVED, Symbol
from pymodels.link.crc8 import crc8
from pymodels.link.packet import ROUTE_FLAG

SHORTEST = 5
"""Bytes of the shortest packet without its route: type and CRC-8."""


@dataclass(frozen=True)
class LinkPacket:
    """Packet that has arrived at a port. Clocks are those of the port's characters, counted from time 0; comparisons
    ignore them.
    """

    wire: bytes
    """Route, type, payload and CRC-8."""
    start: int = field(default=0, compare=False)
    """Clock of the first character."""
    end: int = field(default=0, compare=False)
    """Clock of the GAP."""
    stopped: int = field(default=0, compare=False)
    """Clocks between them in which the receiver's STOP was in force."""
    gap: int = field(default=-1, compare=False)
    """Clocks from the GAP of the previous packet to the first character; -1 for the first packet."""

    @property
    def route_bytes(self) -> int:
        """Number of route bytes: the first bytes with the top bit."""
        return next((at for at, byte in enumerate(self.wire) if not byte & ROUTE_FLAG), len(self.wire))

    @property
    def kind(self) -> int:
        """Four bytes after the route: the type of a Myrinet packet."""
        return int.from_bytes(self.wire[self.route_bytes :][:4], "big")

    @property
    def syndrome(self) -> int:
        """CRC-8 over the whole packet: 0 if it is correct."""
        return crc8(self.wire)

    @property
    def idle(self) -> int:
        """Clocks between first character and GAP without a character of the packet."""
        return self.end - self.start - len(self.wire)


class LinkRules:
    """Checker of one port, character by character.

    Args:
        head_room: Maximum number of characters that arrive while the port's STOP is in force.
        violated: Function that is called with the clock and the description of each violation.
        check_crc: True: a packet with a wrong CRC-8, or without room for type and CRC-8, is a violation.
    """

    def __init__(self, head_room: int, violated: Callable[[int, str], None], check_crc: bool = True) -> None:
        self._head_room = head_room
        self._violated = violated
        self._check_crc = check_crc
        self._packet = bytearray()
        self._start = 0
        self._stopped = 0
        self._last_gap: int | None = None
        self._stop: int | None = None  # clock of the STOP in force
        self._under_stop = 0

    def step(self, clock: int, rx: int, tx: int) -> LinkPacket | None:
        """Take the characters of a clock, and return the packet that ends with it. Clocks without characters may be
        left out.
        """
        done = self._arrived(clock, rx) if rx else None
        symbol = RECEIVED.get(tx)
        if symbol is Symbol.STOP and self._stop is None:
            self._stop, self._under_stop = clock, 0
        elif symbol is Symbol.GO and self._stop is not None:
            self._stopped += self._lasted(clock)
            self._stop = None
        return done

    def data(self, clock: int, data: bytes) -> None:
        """Take data characters of successive clocks, from `clock` on, in which nothing leaves."""
        if not self._packet:
            self._start, self._stopped = clock, 0
        self._packet += data
        if self._stop is not None:
            self._count(clock, len(data))

    def end(self, clock: int) -> None:
        """Report a packet that has not ended."""
        if self._packet:
            self._violated(clock, f"packet of {len(self._packet)} bytes without GAP")

    def _arrived(self, clock: int, rx: int) -> LinkPacket | None:
        if rx & DATA:
            self.data(clock, bytes((rx & 0xFF,)))
        elif rx not in RECEIVED:
            self._violated(clock, f"illegal control character {rx:#04x}")
        elif rx == Symbol.GAP and self._packet:
            if self._stop is not None:
                self._count(clock, 1)
            return self._ended(clock)
        return None

    def _count(self, clock: int, characters: int) -> None:
        """Count characters under STOP, the first of them at `clock`."""
        free = self._head_room - self._under_stop
        self._under_stop += characters
        if 0 <= free < characters:
            self._violated(clock + free, f"more than {self._head_room} characters under STOP")

    def _lasted(self, clock: int) -> int:
        """Return the clocks up to now in which the STOP in force has held up the packet."""
        return clock - max(self._stop, self._start) if self._packet and self._stop is not None else 0

    def _ended(self, clock: int) -> LinkPacket:
        gap = -1 if self._last_gap is None else self._start - self._last_gap
        done = LinkPacket(bytes(self._packet), self._start, clock, self._stopped + self._lasted(clock), gap)
        self._packet.clear()
        self._last_gap = clock
        if self._check_crc and len(done.wire) - done.route_bytes < SHORTEST:
            self._violated(clock, f"packet of {len(done.wire)} bytes ends within type and CRC-8")
        elif self._check_crc and done.syndrome:
            self._violated(clock, f"CRC-8 is wrong, syndrome {done.syndrome:#04x}")
        return done
