"""Fault injection: memories, variables and CPU from Python, everything else in the doorway, each at its time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from pymodels.trace import Part, unit
from tb.bind.host import RtlHost
from tb.lab.cluster import RunningCluster
from tb.lab.variables import variables
from tb.plan.faults import Fault

US = 1_000_000
STRIKES = {
    "dma_read": 1,
    "dma_write": 2,
    "store": 3,
    "lost_store": 4,
    "register_write": 5,
    "register_read": 6,
    "lost_interrupt": 7,
}
"""Fault codes of the doorway (hdl/sim/doorway/doorway.h)."""
ALL = 1
"""Bit mask of an event that is lost as a whole."""


class Injector:
    """Injector of the faults of one run."""

    def __init__(self, running: RunningCluster) -> None:
        self._running = running
        self.told: list[str] = []
        """Descriptions of the flipped bits."""

    def inject(self, faults: Sequence[Fault]) -> None:
        """Schedule faults. Link invariants that they explain do not fail the run.

        Raises SanlabError for a fault before the present time.
        """
        for fault in faults:
            self._running.check_future(f"{fault.kind} at {fault.place}", fault.at_ps)
            if fault.kind == "power":
                self._power(fault)
                continue
            self._running.invariants.faults_expected = True
            if fault.kind in STRIKES:
                self._strike(fault)
            elif fault.kind in ("flip", "drop", "stick"):
                end = fault.at_ps + max(fault.for_ps, self._running.plan.profile.integer("clock.link_ps"))
                into = self._running.plan.cluster.topology.port(fault.place)
                self._running.fault(into, fault.kind, fault.at_ps / US, end / US, fault.number)
            else:
                act: Callable[[Fault], None] = getattr(self, f"_{fault.kind}")
                self._running.kernel.at(fault.at_ps, partial(act, fault))

    def _power(self, fault: Fault) -> None:
        """Schedule the power loss of a card, and the return of its power."""
        running, node = self._running, self._node(fault)
        running.invariants.power_lost = True
        running.power(node, fault.number, on=True)  # raises the input `faults` of the cluster before its first fault
        running.kernel.at(fault.at_ps, partial(running.power, node, fault.number, on=False))
        if fault.for_ps:
            running.kernel.at(fault.at_ps + fault.for_ps, partial(running.power, node, fault.number, on=True))

    def _node(self, fault: Fault) -> int:
        return self._running.plan.cluster.names.index(fault.place)

    def _strike(self, fault: Fault) -> None:
        node, code = self._node(fault), STRIKES[fault.kind]
        if fault.kind.startswith("dma"):
            place = 2 * node
        else:
            place = unit(node, Part.NIC_CPU if fault.kind.startswith("register") else Part.HOST_CPU)
        bits = ALL if fault.kind.startswith("lost") else 1 << fault.number
        if self._running.doorway.lib.dw_strike_add(code, place, fault.at_ps, bits):
            raise ValueError(f"too many faults: {fault}")

    def _sram(self, fault: Fault) -> None:
        nic = self._running.nics[self._node(fault)]
        nic.sram[fault.number] ^= 1 << fault.bit
        self._running.doorway.lib.dw_touch(nic.unit)

    def _memory(self, fault: Fault) -> None:
        host = self._running.hosts[self._node(fault)]
        host.store_bytes(fault.number, bytes([host.memory[fault.number] ^ 1 << fault.bit]))

    def _instruction(self, fault: Fault) -> None:
        """Flip a bit of an executed instruction; effective when the processor fetches the word again."""
        core = self._running.cores.get(self._node(fault))
        executed: Sequence[int] = [] if core is None else core.counts[:, 0].nonzero()[0].tolist()
        if core is None or not executed:
            return
        at = core.program.base + 4 * executed[fault.number % len(executed)]
        sram = self._running.nics[self._node(fault)].sram
        before = int.from_bytes(sram[at : at + 4], "big")
        sram[at + 3 - fault.bit // 8] ^= 1 << fault.bit % 8
        self._running.doorway.lib.dw_touch(self._running.nics[self._node(fault)].unit)
        self.told.append(f"{core.program.symbol(at)}: {before:#010x} -> {before ^ 1 << fault.bit:#010x}")

    def _variable(self, fault: Fault) -> None:
        found = variables(self._running.nics[self._node(fault)].programs)
        if found:
            one = found[fault.number % len(found)]
            before = one.value
            one.flip(fault.bit)
            self.told.append(f"{one.name}: {before:#x} -> {one.value:#x}")

    def _late(self, fault: Fault) -> None:
        self._running.delay(self._running.plan.cluster.topology.port(fault.place), fault.number)

    def _reset(self, fault: Fault) -> None:
        node = self._node(fault)
        self._running.kernel.spawn(self._running.hold(node), f"reset of NIC {node}")

    def _stop(self, fault: Fault) -> None:
        host = self._running.hosts[self._node(fault)]
        self._running.kernel.spawn(_take(host), f"{host.who}: stop")


async def _take(host: RtlHost) -> None:
    """Occupy the CPU forever."""
    await host.cpu.take()
    await host.event("the stopped CPU").wait()
