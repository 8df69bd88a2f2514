"""Receive side of the packet interface: RMP, RML, the syndrome, ORUN, backpressure (fact sheet 3.5).

A write of RML arms the engine. RMP advances by a word as words are stored. HEAD is set with the first word, RECV with
the tail, after which the engine is disarmed; a write of RML clears HEAD, RECV and BUFF. The CRC-8 syndrome follows the
last data byte (0: correct); ORUN encodes the number of unused bytes in the last word. If RML (exclusive) is reached
before the tail, BUFF is set and the rest of the packet waits for RMP and RML. Data that are not received stay in the
network.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from pymodels.machine.memory import Memory
from pymodels.machine.network import Flight
from pymodels.machine.world import World
from pymodels.messages import PLACE
from pymodels.registers import Isr
from pymodels.trace import Part, TraceEvent, unit

HEAD = 1 << Isr.HEAD
RECV = 1 << Isr.RECV
BUFF = 1 << Isr.BUFF
ORUN_SHIFT = int(Isr.ORUN1)
ORUN = 7 << ORUN_SHIFT


class NetReceive:
    """Receive engine of one NIC. `raise_isr(set, clear)` changes ISR."""

    def __init__(
        self, world: World, node: int, sram: Memory, raise_isr: Callable[[int, int], None], word: int = 8
    ) -> None:
        """Create a disarmed engine; `word` is the number of bytes of an SRAM word."""
        self._word = word
        self.pointer = 0
        self.limit = 0
        self.armed = False
        self.in_reset = False
        self.length = 0
        """Bytes of the last packet, including the syndrome (RECV_LENGTH)."""
        self.packets = 0
        self.crc_bad = 0
        self.lost = 0
        """Number of packets discarded in reset (RECV_LOST)."""
        self._sram = sram
        self._unit = unit(node, Part.NET_RECV)
        self._log = world.log
        self._messages = world.messages.sram(node)
        self._raise_isr = raise_isr
        self._backlog: deque[tuple[Flight, bytes, int, bool]] = deque()
        self._end = 0
        self._fill = 0
        self._bytes = 0
        self._open: Flight | None = None
        """Partly stored packet."""
        self._cut: Flight | None = None
        """Packet cut by reset, whose rest is discarded when it arrives."""

    def set_pointer(self, address: int) -> None:
        """Handle a write of RMP."""
        self.pointer = self._fill = address & -self._word

    def arm(self, limit: int) -> None:
        """Handle a write of RML."""
        if self.in_reset:
            return
        self.limit = limit
        self._end = limit + self._word - 1 & -self._word
        self._raise_isr(0, HEAD | RECV | BUFF)
        self._sram.check(self.pointer, max(0, self._end - self.pointer))
        self.armed = True
        while self.armed and self._backlog:
            flight, data, size, tail = self._backlog.popleft()
            self._store(flight, data, size, tail)

    def offer(self, flight: Flight, data: bytes, size: int, tail: bool) -> None:
        """Accept bytes from the network: store them, discard them in reset, or queue them."""
        if self.in_reset or flight is self._cut:
            self._absorb(flight, size, tail)
        elif self.armed:
            self._store(flight, data, size, tail)
        else:
            self._backlog.append((flight, data, size, tail))

    def _absorb(self, flight: Flight, size: int, tail: bool) -> None:
        """Discard bytes of a packet."""
        self.lost += tail
        self._cut = None if tail else flight
        flight.taken(size, tail)

    def absorb(self) -> None:
        """Enter reset: discard queued packets and the rest of a partly stored one."""
        self.in_reset, self.armed, self._bytes = True, False, 0
        self._cut = self._open or self._cut
        self._open = None
        while self._backlog:
            flight, _, size, tail = self._backlog.popleft()
            self._absorb(flight, size, tail)

    def _store(self, flight: Flight, data: bytes, size: int, tail: bool) -> None:
        body = data + bytes((flight.crc_error,)) if tail else data
        room = self._end - self._fill
        stored = body[:room] if room < len(body) else body
        first = self._bytes < self._word
        if stored:
            self._sram.write(self._fill, stored)
            self._sram.count("net receive", self._fill, len(stored))
        self._fill += len(stored)
        self._bytes += len(stored)
        whole = len(stored) == len(body)
        at = self._fill + (self._word - 1 if tail and whole else 0)
        self.pointer = at & -self._word
        if not whole:
            self._overrun(flight, body[room:], size, tail)
            return
        if first and (self._bytes >= self._word or tail):
            at = self._fill - self._bytes
            self._messages[at >> PLACE] = flight.message
            self._log.add(self._unit, TraceEvent.RX_HEAD, flight.key, at, 0, flight.message)
        if tail:
            self._finish(flight)
        elif first and self._bytes >= self._word:
            self._raise_isr(HEAD, 0)
        self._open = None if tail else flight
        flight.taken(size, tail)

    def _finish(self, flight: Flight) -> None:
        """Finish a packet whose tail is stored: set length, syndrome and RECV, and disarm."""
        self.length, self._bytes = self._bytes, 0
        self.packets += 1
        self.crc_bad += flight.crc_error != 0
        self.armed = False
        self._log.add(self._unit, TraceEvent.RX_TAIL, flight.key, self.length, flight.crc_error, flight.message)
        unused = self.pointer - self._fill
        self._raise_isr(HEAD | RECV | unused << ORUN_SHIFT, ORUN)

    def _overrun(self, flight: Flight, rest: bytes, size: int, tail: bool) -> None:
        """Set BUFF for a full buffer and queue the rest; a syndrome in the rest is appended again later."""
        self.armed = False
        self._backlog.appendleft((flight, rest[:-1] if tail else rest, size, tail))
        bits = BUFF | (HEAD if self._bytes >= self._word else 0)
        self._raise_isr(bits, 0)
