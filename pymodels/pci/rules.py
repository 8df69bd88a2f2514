"""Protocol checker for PCI 2.2: one sample of the wires per clock in, decoded transactions out; violations raise
ProtocolError.

The checker is written from the specification (chapter 3 and its appendix C), independent of RTL and simulator. Signals
are True when asserted, whatever their polarity on the wire.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from pymodels.pci.pci import Command, Phase, Termination, Transaction

DEVSEL_LIMIT = 5
"""Clock of a transaction (address phase = 1) by which DEVSEL# must be asserted: subtractive decoding."""
INITIAL_LIMIT = 16
"""Clock by which the target must answer the first data phase with TRDY# or STOP# (PCI 2.2, 3.5.1.1)."""
SUBSEQUENT_LIMIT = 8
"""Maximum clocks of each later data phase (3.5.1.2), and until IRDY# in every data phase (3.5.2)."""
RESERVED = {0x4, 0x5, 0x8, 0x9}
LONG = {
    Command.MEMORY_READ,
    Command.MEMORY_WRITE,
    Command.MEMORY_READ_MULTIPLE,
    Command.MEMORY_READ_LINE,
    Command.MEMORY_WRITE_AND_INVALIDATE,
}
"""Commands that may follow a dual address cycle (3.9)."""
LONG_BITS = 32
"""Address bits of each half of a 64-bit address."""


class ProtocolError(Exception):
    """Violation of a bus rule; the message contains rule and clock."""


@dataclass(slots=True)
class Sample:
    """Wires at one rising clock edge. Treat it as immutable; a frozen class takes three times as long to create."""

    ad: int = (1 << 64) - 1
    cbe: int = 0xFF
    par: int = 1
    par64: int = 1
    frame: bool = False
    irdy: bool = False
    trdy: bool = False
    devsel: bool = False
    stop: bool = False
    req64: bool = False
    ack64: bool = False
    gnt: int = 0
    """Grants, one bit for each agent."""
    req: int = 0
    """Requests, one bit for each agent."""
    conflict: bool = False

    @property
    def complete(self) -> bool:
        """True if a data phase ends at this edge."""
        return self.irdy and (self.trdy or self.stop)


@dataclass
class _Open:
    """Transaction in progress."""

    command: Command
    address: int
    ask64: bool
    master: int
    start: int
    clock: int = 1
    claimed: bool = False
    wide: bool = False
    aborted: bool = False
    phase_clock: int = 0
    dual: bool = False
    """True for a 64-bit address in two address phases; `clock` then counts from the second."""
    overtime: int = -1
    """Data phases with FRAME# since the latency timer has expired without GNT#; -1 before."""
    phases: list[Phase] = field(default_factory=list)


class BusRules:
    """Checker of one bus, clock by clock.

    Args:
        initial_limit: Clocks that a target has for its first data phase (a host bridge may take 32).
        timers: Latency timer of each master in clocks; masters without one are not checked.
    """

    def __init__(self, initial_limit: int = INITIAL_LIMIT, timers: Mapping[int, int] = MappingProxyType({})) -> None:
        self.clock = 0
        self._initial_limit = initial_limit
        self._timers = timers
        self._last = Sample()
        self._open: _Open | None = None
        self._first: Sample | None = None  # address phase of a dual address cycle, until the second one
        self._parity: tuple[int, int | None] | None = None
        self._rest: tuple[int, list[bool]] | None = None

    @property
    def idle(self) -> bool:
        """True if there is no transaction on the bus."""
        return self._open is None and self._first is None

    def step(self, s: Sample) -> Transaction | None:
        """Check the sample of the next clock edge and return the transaction that ends with it. Raises
        ProtocolError.
        """
        self.clock += 1
        self._need(not s.conflict, "two agents drive one wire")
        self._need(s.gnt & (s.gnt - 1) == 0, "more than one GNT#")
        self._check_parity(s)
        self._check_rest(s)
        done = None
        if self._first is not None:
            self._second(s, self._first)
        elif self._open is None:
            self._outside(s)
        else:
            done = self._inside(s, self._open)
        self._last = s
        return done

    def _need(self, good: bool, rule: str) -> None:
        if not good:
            o = self._open
            where = f", {o.command.name} {o.address:#010x} clock {o.clock}" if o else ""
            raise ProtocolError(f"clock {self.clock}{where}: {rule}")

    # ---- wires that follow the transaction by a clock or two ----
    def _check_parity(self, s: Sample) -> None:
        if self._parity is not None:
            low, high = self._parity
            self._need(s.par == low, "PAR is wrong")
            self._need(high is None or s.par64 == high, "PAR64 is wrong")
        self._parity = None

    def _expect_parity(self, s: Sample, wide: bool) -> None:
        low = (s.ad & 0xFFFF_FFFF).bit_count() + (s.cbe & 0xF).bit_count()
        high = (s.ad >> 32).bit_count() + (s.cbe >> 4).bit_count()
        self._parity = (low & 1, high & 1 if wide else None)

    def _check_rest(self, s: Sample) -> None:
        """Check that a master stopped by the target releases REQ# on the idle clock and on the clock before or after
        it.
        """
        if self._rest is None:
            return
        master, seen = self._rest
        seen.append(bool(s.req >> master & 1))
        if len(seen) == 3:
            before, idle, after = seen
            self._need(not idle and not (before and after), "REQ# kept after the target stopped the transaction")
            self._rest = None

    # ---- address phase ----
    def _outside(self, s: Sample) -> None:
        self._need(not s.irdy, "IRDY# without a transaction")
        self._need(not (s.trdy or s.devsel or s.stop or s.ack64), "target drives without a transaction")
        self._need(s.req64 <= s.frame, "REQ64# without FRAME#")
        if not s.frame:
            return
        self._need(not self._last.frame and not self._last.irdy, "FRAME# while the bus was not idle")
        self._need(self._last.gnt != 0, "FRAME# without GNT#")
        code = s.cbe & 0xF
        self._need(code not in RESERVED, f"reserved command {code:#x}")
        address = s.ad & 0xFFFF_FFFF
        self._need(not (s.req64 and address & 4), "REQ64# with AD[2] set")
        if code == Command.DUAL_ADDRESS_CYCLE:
            self._first = replace(s, gnt=self._last.gnt)
            self._expect_parity(s, s.req64)
            return
        master = self._last.gnt.bit_length() - 1
        self._open = _Open(Command(code), address, s.req64, master, self.clock)
        self._expect_parity(s, s.req64)

    def _second(self, s: Sample, first: Sample) -> None:
        """Check the second address phase of a dual address cycle (3.9), which begins the transaction."""
        self._first = None
        self._need(s.frame and not s.irdy, "IRDY#, or no FRAME#, in the second address phase")
        self._need(not (s.trdy or s.devsel or s.stop or s.ack64), "target drives in the second address phase")
        self._need(s.req64 == first.req64, "REQ64# changed between the address phases")
        code, high = s.cbe & 0xF, s.ad & 0xFFFF_FFFF
        self._need(code in LONG, f"command {code:#x} after a dual address cycle")
        self._need(high != 0, "dual address cycle for an address below 4 GiB")
        if first.req64:
            self._need(first.cbe >> 4 == code and s.cbe >> 4 == code, "C/BE[7:4]# differs from the command")
            self._need(first.ad >> LONG_BITS == s.ad >> LONG_BITS == high, "AD[63:32] differs from the upper address")
        address = high << LONG_BITS | first.ad & 0xFFFF_FFFF
        master = first.gnt.bit_length() - 1
        self._open = _Open(Command(code), address, first.req64, master, self.clock - 1, dual=True)
        self._expect_parity(s, first.req64)

    # ---- data phases ----
    def _inside(self, s: Sample, o: _Open) -> Transaction | None:
        o.clock += 1
        if o.master in self._timers:
            self._check_timer(s, o, self._timers[o.master])
        if self._goes_on(s, o):
            self._expect_parity(s, o.wide)
            self._take(s, o)
            return None
        if not o.claimed and not s.irdy and not s.frame and o.clock > 2 and self._last.irdy:
            self._need(o.clock > DEVSEL_LIMIT, "master gave up before the DEVSEL# time-out")
            return self._finish(o, Termination.MASTER_ABORT, s)
        self._check_select(s, o)
        self._check_hold(s, o)
        self._check_stop(s, o)
        self._check_latency(s, o)
        if (s.irdy and o.command.writes) or (s.trdy and not o.command.writes):
            self._expect_parity(s, o.wide)
        if not s.complete:
            return None
        if s.trdy:
            self._take(s, o)
        o.phase_clock = 0
        if s.frame:
            return None
        return self._finish(o, self._termination(s, o), s)

    def _goes_on(self, s: Sample, o: _Open) -> bool:
        """Return True if a data phase has the controls of the previous one, for which they have been checked."""
        p = self._last
        return (
            s.trdy
            and s.irdy
            and bool(o.phases)
            and (s.frame, s.devsel, s.req64, s.ack64) == (p.frame, p.devsel, p.req64, p.ack64)
            and p.irdy
            and p.trdy
            and s.frame
            and not (s.stop or p.stop)
        )

    def _check_select(self, s: Sample, o: _Open) -> None:
        if s.devsel and not o.claimed:
            self._need(o.clock <= DEVSEL_LIMIT, "DEVSEL# too late")
            o.claimed, o.wide = True, s.ack64
        self._need(o.claimed or not (s.trdy or s.stop), "TRDY# or STOP# without DEVSEL#")
        self._need(s.devsel or not s.trdy, "TRDY# without DEVSEL#")
        if o.claimed and not s.devsel:
            self._need(s.stop and self._last.devsel | o.aborted, "DEVSEL# dropped without target abort")
            o.aborted = True
        self._need(not s.ack64 or o.ask64, "ACK64# without REQ64#")
        self._need(not s.devsel or s.ack64 == o.wide, "ACK64# does not go with DEVSEL#")
        self._need(s.req64 == (s.frame and o.ask64), "REQ64# does not go with FRAME#")
        self._need(o.clock > 2 or o.command.writes or not s.trdy, "TRDY# in the turn-around clock of a read")
        self._need(o.claimed or o.clock <= DEVSEL_LIMIT + 2, "no master abort after the DEVSEL# time-out")

    def _check_hold(self, s: Sample, o: _Open) -> None:
        p = self._last
        self._need(p.frame or not s.frame, "FRAME# asserted again within a transaction")
        self._need(s.irdy or s.frame, "FRAME# released without IRDY#")
        if o.clock == 2 or p.complete:
            return
        enables = 0xFF if o.wide else 0xF  # valid in the whole data phase, whatever IRDY# is (3.3.1)
        self._need((s.cbe ^ p.cbe) & enables == 0, "C/BE# changed within a data phase")
        if p.irdy:
            self._need(s.irdy, "IRDY# dropped within a data phase")
            self._need(s.frame == p.frame or not o.claimed or o.aborted, "FRAME# changed within a data phase")
            same = s.ad == p.ad if o.wide else (s.ad ^ p.ad) & 0xFFFF_FFFF == 0
            self._need(not o.command.writes or same, "write data changed within a data phase")
        if p.trdy or p.stop:
            self._need((s.trdy, s.stop) == (p.trdy, p.stop), "TRDY# or STOP# changed within a data phase")

    def _check_stop(self, s: Sample, o: _Open) -> None:
        p = self._last
        if o.clock == 2 or not p.stop:
            return
        self._need(s.stop, "STOP# dropped before the end of the transaction")
        if p.irdy or s.irdy:
            self._need(not s.frame, "FRAME# kept after STOP#")
        if p.complete:
            self._need(not s.trdy, "TRDY# kept after a data phase with STOP#")

    def _check_latency(self, s: Sample, o: _Open) -> None:
        o.phase_clock += 1
        first = o.phase_clock == o.clock - 1
        self._need(s.irdy or o.phase_clock < SUBSEQUENT_LIMIT, "IRDY# later than 8 clocks")
        if o.claimed and not (s.trdy or s.stop):
            if first:
                self._need(
                    o.clock + o.dual < self._initial_limit, f"first data phase later than {self._initial_limit} clocks"
                )
            else:
                self._need(o.phase_clock < SUBSEQUENT_LIMIT, "data phase later than 8 clocks")

    def _check_timer(self, s: Sample, o: _Open, timer: int) -> None:
        """Check that a master without GNT# ends its transaction when its latency timer has expired (3.5.4).

        The data phase in progress may still have FRAME#; the next one is the last. A memory write and invalidate may
        reach the end of its line.
        """
        if o.overtime >= 0:
            o.overtime += s.complete and s.frame
            allowed = o.overtime <= 1 or o.command is Command.MEMORY_WRITE_AND_INVALIDATE
            self._need(allowed, "transaction continues after the latency timer without GNT#")
        elif o.clock + o.dual > timer + 1 and not s.gnt >> o.master & 1:
            o.overtime = 0

    def _take(self, s: Sample, o: _Open) -> None:
        width = 8 if o.wide else 4
        address = (o.address & -width) + width * len(o.phases)
        mask = (1 << 8 * width) - 1
        o.phases.append(Phase(address, s.ad & mask, ~s.cbe & (1 << width) - 1))

    def _termination(self, s: Sample, o: _Open) -> Termination:
        if o.aborted:
            return Termination.TARGET_ABORT
        if not o.claimed:
            return Termination.MASTER_ABORT
        if s.stop:
            return Termination.DISCONNECT if o.phases else Termination.RETRY
        return Termination.COMPLETION

    def _finish(self, o: _Open, end: Termination, s: Sample) -> Transaction:
        self._open = None
        if s.stop:
            self._rest = (o.master, [bool(s.req >> o.master & 1)])
        return Transaction(o.command, o.address, o.wide, o.master, tuple(o.phases), end, o.start, o.clock + o.dual)
