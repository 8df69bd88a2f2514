"""Monitor of a PCI bus of a running cluster: decodes transactions and checks them against PCI 2.2."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pymodels.pci.pci import Transaction
from pymodels.pci.rules import BusRules, ProtocolError, Sample
from tb.monitors.sampled import SampledMonitor
from tb.monitors.samples import SampleStore

PAR, PAR64, FRAME, IRDY, TRDY, DEVSEL, STOP, REQ64, ACK64 = range(8, 17)
CONFLICT, GNT, REQ = 23, 32, 48
"""Bits of the upper word of a sample (hdl/sim/cluster/sim_segment.sv); C/BE# is below, AD is the lower word."""
AGENTS = 0xFFFF
"""Mask of GNT# and REQ#, one bit for each agent."""
QUIET = sum(1 << bit for bit in (FRAME, IRDY, TRDY, DEVSEL, STOP, REQ64, ACK64))
"""Wires that are high on an idle bus."""
SETTLING = 3
"""Idle clocks after a transaction that are checked one by one."""


@lru_cache(1 << 12)
def sample_of(low: int, high: int) -> Sample:
    """Return the sample of a bus in 128 wires."""
    up = ~high
    return Sample(
        ad=low,
        cbe=high & 0xFF,
        par=high >> PAR & 1,
        par64=high >> PAR64 & 1,
        frame=bool(up >> FRAME & 1),
        irdy=bool(up >> IRDY & 1),
        trdy=bool(up >> TRDY & 1),
        devsel=bool(up >> DEVSEL & 1),
        stop=bool(up >> STOP & 1),
        req64=bool(up >> REQ64 & 1),
        ack64=bool(up >> ACK64 & 1),
        gnt=up >> GNT & AGENTS,
        req=up >> REQ & AGENTS,
        conflict=bool(high >> CONFLICT & 1),
    )


class PciBusMonitor(SampledMonitor[Transaction]):
    """Monitor of the PCI bus of a host. `Transaction.start` counts clocks of the bus from time 0."""

    def __init__(self, name: str, unit: int, period: int, store: SampleStore, timers: Mapping[int, int]) -> None:
        """Create the monitor; `timers` are the latency timers of the masters in clocks."""
        super().__init__(name, unit, period, store)
        self._timers = timers
        self._rules = BusRules(timers=timers)
        self._lost = True  # until the bus is idle: the monitor may begin within a transaction

    def row(self, transaction: Transaction) -> dict[str, Any]:
        """Return the cells of a transaction."""
        moved = bytes(value for _, value in transaction.bytes_moved())
        return {
            "start_ps": transaction.start * self.period,
            "end_ps": transaction.last * self.period,
            "command": transaction.command.name.lower().replace("_", " "),
            "master": transaction.master,
            "address": transaction.address,
            "bytes": len(moved),
            "data": moved,
            "phases": len(transaction.phases),
            "wait_clocks": transaction.wait_clocks,
            "end": transaction.end.value,
        }

    def _clock(self, low: int, high: int, edge: int, count: int) -> None:
        quiet = high & QUIET == QUIET
        if self._lost:
            if not quiet:
                return
            self._rules, self._lost = BusRules(timers=self._timers), False
        sample, rules = sample_of(low, high), self._rules
        rules.clock = edge - 1
        try:
            for _ in range(min(count, SETTLING) if quiet and rules.idle else count):
                if done := rules.step(sample):
                    self._finished(done)
        except ProtocolError as error:
            self._violated(rules.clock, str(error))
            self._lost = True
