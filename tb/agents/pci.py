"""PCI bus monitor on cocotb-bus: checks the bus against PCI 2.2 and delivers decoded transactions.

The monitor samples the resolved wires at each clock edge and applies pymodels/pci/rules.py. A violation raises
ProtocolError and so fails the test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from cocotb.triggers import RisingEdge

from pymodels.pci.pci import Transaction
from pymodels.pci.rules import INITIAL_LIMIT, BusRules, Sample
from tb.agents.bus import Monitor

VECTORS = ("ad", "cbe", "par", "par64", "req_n", "gnt_n", "conflict")
CONTROLS = ("frame", "irdy", "trdy", "devsel", "stop", "req64", "ack64")


class PciMonitor(Monitor):
    """Monitor of the PCI wires `<name>_ad`, `<name>_frame_n`, ... of an entity.

    Args:
        entity: Handle with the wires.
        name: Prefix of the wires.
        clock: PCI clock.
        reset: Synchronous reset, active high; nothing is checked while it is asserted.
        initial_limit: Maximum latency of a target's first data phase, in clocks.
        callback: Function called with each finished Transaction; without it, transactions only collect in
            `transactions`.
    """

    _signals: ClassVar[list[str]] = [*VECTORS, *(f"{name}_n" for name in CONTROLS)]

    def __init__(
        self,
        entity: Any,
        name: str,
        clock: Any,
        reset: Any,
        initial_limit: int = INITIAL_LIMIT,
        callback: Callable[[Transaction], None] | None = None,
    ) -> None:
        self.rules = BusRules(initial_limit)
        self.transactions: list[Transaction] = []
        """Finished transactions, oldest first."""
        self._agents = len(getattr(entity, f"{name}_gnt_n"))
        self._held = reset
        super().__init__(entity, name, clock)
        if callback is not None:
            self.add_callback(callback)

    async def _monitor_recv(self) -> None:
        edge = RisingEdge(self.clock)
        while True:
            await edge
            if int(self._held.value):
                continue
            done = self.rules.step(self._sample())
            if done is not None:
                self.transactions.append(done)
                self._recv(done)

    def _sample(self) -> Sample:
        bus = self.bus
        mask = (1 << self._agents) - 1
        controls = {name: not int(getattr(bus, f"{name}_n").value) for name in CONTROLS}
        return Sample(
            ad=int(bus.ad.value),
            cbe=int(bus.cbe.value),
            par=int(bus.par.value),
            par64=int(bus.par64.value),
            gnt=~int(bus.gnt_n.value) & mask,
            req=~int(bus.req_n.value) & mask,
            conflict=bool(int(bus.conflict.value)),
            **controls,
        )
