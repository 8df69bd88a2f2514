"""Monitor of a PCI bus: decoded transactions, and the rules of PCI 2.2."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pymodels.pci.pci import Transaction
from pymodels.pci.rules import INITIAL_LIMIT, BusRules, ProtocolError, Sample
from tb.agents.bus import PassiveMonitor

from .bus import PciBus
from .pins import BusSample


class AgentRules(BusRules):
    """Rules of the bus that may allow Fast Back-to-Back.

    Args:
        initial_limit: Clocks that a target has for its first data phase.
        fast: Allow the address phase of a transaction right after the last data phase of a write.
        timers: Latency timer of each master in clocks.
    """

    def __init__(self, initial_limit: int, fast: bool, timers: Mapping[int, int]) -> None:
        super().__init__(initial_limit, timers)
        self._fast = fast
        self._wrote = False

    def step(self, s: Sample) -> Transaction | None:
        """Check the sample of the next clock edge. Raises ProtocolError."""
        if self._fast and self._wrote and s.frame:
            self._last = replace(self._last, irdy=False)
        done = super().step(s)
        self._wrote = done is not None and done.command.writes
        return done


class PciMonitor(PassiveMonitor):
    """Monitor of all transactions on a bus, with callbacks and scoreboards as cocotb-bus has them.

    Args:
        bus: Bus in any form, also with resolved wires.
        clock: PCI clock.
        reset: Reset, or None.
        callback: Function called with each finished Transaction.
        strict: True: a violation raises ProtocolError and fails the test. False: it is added to `violations`, and the
            monitor continues on the next idle bus.
        initial_limit: Clocks that a target has for its first data phase; a host bridge may take 32.
        fast_back_to_back: Allow transactions without an idle clock after a write.
        latency_timers: Latency timer in clocks by number of the master; masters without one are not checked.
        reset_active_level: Level of the reset while it is asserted.

    Attributes:
        transactions: Finished transactions, oldest first.
        violations: Texts of the violations.
        perr: Clock edges with PERR# asserted.
        serr: Clock edges with SERR# asserted.
    """

    def __init__(
        self,
        bus: PciBus,
        clock: Any,
        reset: Any = None,
        callback: Callable[[Transaction], None] | None = None,
        *,
        strict: bool = True,
        initial_limit: int = INITIAL_LIMIT,
        fast_back_to_back: bool = False,
        latency_timers: Mapping[int, int] | None = None,
        reset_active_level: bool = True,
    ) -> None:
        super().__init__(callback)
        self.bus = bus
        self.transactions: list[Transaction] = []
        self.violations: list[str] = []
        self.perr: list[int] = []
        self.serr: list[int] = []
        self._strict, self._limit, self._fast = strict, initial_limit, fast_back_to_back
        self._timers = dict(latency_timers or {})
        self._restart()
        bus.hooks.append(self._step)
        bus.resets.append(self._restart)
        bus.start(clock, reset, reset_active_level)

    def _restart(self) -> None:
        """Forget the transaction in progress."""
        self._rules, self._lost = AgentRules(self._limit, self._fast, self._timers), False

    def _step(self, sample: BusSample) -> None:
        if sample.perr:
            self.perr.append(self.bus.clocks)
        if sample.serr:
            self.serr.append(self.bus.clocks)
        self._lost = self._lost and not self.bus.idle
        if self._lost:
            return
        try:
            done = self._rules.step(sample)
        except ProtocolError as error:
            if self._strict:
                raise
            self.violations.append(str(error))
            self._restart()
            self._lost = True
            return
        if done is not None:
            self.transactions.append(done)
            self._recv(done)
