"""The packet interface, receiving side: RMP, RML, the syndrome, ORUN, back-pressure (fact sheet 3.5).

Writing RML arms the engine. RMP advances by a word as words are stored; HEAD comes with the first word, RECV with the
tail, after which the engine is disarmed; writing RML clears HEAD, RECV and BUFF. The CRC-8 syndrome stands right
behind the last data byte (0: good); ORUN tells the unused bytes of the last word. RML (exclusive) reached before the
tail: BUFF, and the rest waits for RMP and RML. What is not taken stays in the network.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from pymodels.machine.memory import Memory
from pymodels.machine.network import Flight
from pymodels.machine.world import World
from pymodels.registers import Isr
from pymodels.trace import Part, TraceEvent, unit

HEAD = 1 << Isr.HEAD
RECV = 1 << Isr.RECV
BUFF = 1 << Isr.BUFF
ORUN_SHIFT = int(Isr.ORUN1)
ORUN = 7 << ORUN_SHIFT


class NetReceive:
    """One NIC's receive engine. `raise_isr(set, clear)` changes ISR."""

    def __init__(
        self, world: World, node: int, sram: Memory, raise_isr: Callable[[int, int], None], word: int = 8
    ) -> None:
        """`word`: bytes of a word of SRAM."""
        self._word = word
        self.pointer = 0
        self.limit = 0
        self.armed = False
        self.in_reset = False
        self.length = 0
        """Bytes of the last packet, syndrome included (RECV_LENGTH)."""
        self.packets = 0
        self.crc_bad = 0
        self.lost = 0
        """Packets absorbed in reset (RECV_LOST)."""
        self._sram = sram
        self._unit = unit(node, Part.NET_RECV)
        self._log = world.log
        self._raise_isr = raise_isr
        self._backlog: deque[tuple[Flight, bytes, int, bool]] = deque()
        self._end = 0
        self._fill = 0
        self._bytes = 0
        self._open: Flight | None = None
        """The packet that is stored in part."""
        self._cut: Flight | None = None
        """The packet that reset has cut: its rest is absorbed whenever it comes."""

    def set_pointer(self, address: int) -> None:
        """A write of RMP."""
        self.pointer = self._fill = address & -self._word

    def arm(self, limit: int) -> None:
        """A write of RML."""
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
        """Bytes from the network: stored now, absorbed in reset, or kept waiting."""
        if self.in_reset or flight is self._cut:
            self._absorb(flight, size, tail)
        elif self.armed:
            self._store(flight, data, size, tail)
        else:
            self._backlog.append((flight, data, size, tail))

    def _absorb(self, flight: Flight, size: int, tail: bool) -> None:
        """Bytes of a packet that is discarded."""
        self.lost += tail
        self._cut = None if tail else flight
        flight.taken(size, tail)

    def absorb(self) -> None:
        """Into reset: whatever waits is lost, and what has come in part."""
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
            self._log.add(self._unit, TraceEvent.RX_HEAD, flight.key, self._fill - self._bytes)
        if tail:
            self._finish(flight)
        elif first and self._bytes >= self._word:
            self._raise_isr(HEAD, 0)
        self._open = None if tail else flight
        flight.taken(size, tail)

    def _finish(self, flight: Flight) -> None:
        """The tail is stored: length, syndrome, RECV; disarmed."""
        self.length, self._bytes = self._bytes, 0
        self.packets += 1
        self.crc_bad += flight.crc_error != 0
        self.armed = False
        self._log.add(self._unit, TraceEvent.RX_TAIL, flight.key, self.length, flight.crc_error)
        unused = self.pointer - self._fill
        self._raise_isr(HEAD | RECV | unused << ORUN_SHIFT, ORUN)

    def _overrun(self, flight: Flight, rest: bytes, size: int, tail: bool) -> None:
        """The buffer is full: BUFF; the rest waits (the syndrome, if it is among it, will be appended again)."""
        self.armed = False
        self._backlog.appendleft((flight, rest[:-1] if tail else rest, size, tail))
        bits = BUFF | (HEAD if self._bytes >= self._word else 0)
        self._raise_isr(bits, 0)
