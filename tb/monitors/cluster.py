"""Monitors of a running cluster by name: `paris.pci` is the PCI bus of the host paris."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from pymodels.cards import DOORBELLS
from pymodels.config.model import CARDS
from pymodels.errors import SanlabError, nearest
from pymodels.trace import Part, switch_port, unit
from tb.build.numbers import FAR, NIC, Numbers
from tb.monitors.link import LinkPortMonitor
from tb.monitors.monitor import Monitor
from tb.monitors.pci import PciBusMonitor
from tb.monitors.samples import SampleStore
from tb.monitors.sram import SramMonitor
from tb.monitors.table import FILE, write_transactions
from tb.monitors.transfers import DoorbellMonitor, HostDmaMonitor
from tb.plan.monitors import MONITORS, monitor_kinds
from tb.plan.request import Plan
from tb.sim.doorway import Doorway

FAULTY = "link", "sram"
"""Kinds whose violations are explained by injected faults: those of links, and resets of NICs."""
Maker = Callable[[], Monitor[Any]]


class Monitors:
    """Monitors of one running cluster, each created when it is first used. Iteration yields the created ones."""

    def __init__(self, doorway: Doorway, plan: Plan, numbers: Numbers) -> None:
        kinds = monitor_kinds(str(plan.options[MONITORS]))
        self._period: Callable[[int], int] = doorway.lib.dw_period
        self._profile = plan.profile
        self._numbers = numbers
        self._store = SampleStore(doorway)
        self._created: dict[str, Monitor[Any]] = {}
        places = {"pci": self._buses(), "sram": self._srams(plan.in_c), "link": self._ports()}
        self._makers = {**{kind: dict(found) for kind, found in places.items()}, **self._transfers()}
        """Functions that create a monitor, by kind and name."""
        for kind in kinds:
            for name in self._makers[kind]:
                self.monitor(name)

    def __iter__(self) -> Iterator[Monitor[Any]]:
        return iter(self._created.values())

    def monitor(self, name: str) -> Monitor[Any]:
        """Return a monitor by its name. Raises SanlabError for an unknown name."""
        if name not in self._created:
            makers = {known: make for kind in self._makers.values() for known, make in kind.items()}
            if name not in makers:
                raise SanlabError(f"monitor {name!r}", "unknown name", nearest(name, makers))
            self._created[name] = makers[name]()
        return self._created[name]

    def violations(self, now: int, complete: bool, faults: bool) -> dict[str, tuple[list[str], int]]:
        """Decode the samples up to the end of the run; return the violations of rules by monitor.

        Args:
            now: End of the run in ps.
            complete: True if nothing may be unfinished then.
            faults: True if faults are injected, which explain violations on links and in SRAMs.

        Returns:
            Descriptions of unexplained violations, and the number of explained ones.
        """
        found: dict[str, tuple[list[str], int]] = {}
        for one in self:
            one.finish(now, complete)
            lines = [f"{one}: {each.rule} at {each.time / 1e6:.3f} us" for each in one.violations]
            explained = faults and any(one.name in self._makers[kind] for kind in FAULTY)
            found[f"rules of {one}"] = ([], len(lines)) if explained else (lines, 0)
        return found

    def leave_behind(self, folder: Path) -> None:
        """Write the transactions into the folder of the run. Raises ResultsError if the disk is full."""
        write_transactions(self, folder / FILE)

    def _buses(self) -> Iterator[tuple[str, Maker]]:
        keys = ["bridge.latency_timer", *["pci.latency_timer"] * (1 + len(CARDS))]  # by agent: the bridge, the slots
        timers = {agent: timer for agent, key in enumerate(keys) if (timer := self._profile.integer(key))}
        for node, host in enumerate(self._numbers.topology.hosts):
            name, period = f"{host}.pci", self._period(self._numbers.bus_clock(node))
            yield name, partial(PciBusMonitor, name, unit(node, Part.PCI), period, self._store, timers)
            if self._numbers.further(node).bridge:
                name, period = f"{host}.pci1", self._period(self._numbers.clock(node, FAR))
                agents = 1 + len(CARDS)  # the bridge, which has the latency timer of a card, and the cards
                far = dict.fromkeys(range(agents), timer) if (timer := self._profile.integer(keys[1])) else {}
                yield name, partial(PciBusMonitor, name, unit(node, Part.PCI_FAR), period, self._store, far)

    def _srams(self, executed: Collection[int]) -> Iterator[tuple[str, Maker]]:
        """Yield the monitors of SRAMs; the processors of the nodes `executed` execute machine code."""
        profile, ports = self._profile, self._profile.nic.sram_ports
        if ports is None:
            return
        accesses, width = profile.integer("sram.accesses"), profile.integer("sram.width")
        for node, host in enumerate(self._numbers.topology.hosts):
            name, period = f"{host}.sram", self._period(self._numbers.clock(node, NIC))
            place = name, unit(node, Part.SRAM), period, self._store
            yield name, partial(SramMonitor, *place, ports, accesses, width, node in executed)

    def _transfers(self) -> dict[str, dict[str, Maker]]:
        hosts, profile = self._numbers.topology.hosts, self._profile
        limits = profile.integer("pci.latency_timer"), profile.integer("pci.max_burst")
        belled = hosts if profile.card.has_doorbells else []
        return {
            "dma": {f"{host}.dma": partial(self._dma, host, *limits) for host in hosts},
            "doorbell": {f"{host}.doorbell": partial(self._doorbell, host) for host in belled},
        }

    def _dma(self, host: str, timer: int, burst: int) -> HostDmaMonitor:
        return HostDmaMonitor(f"{host}.dma", self._bus(host), timer, burst)

    def _doorbell(self, host: str) -> DoorbellMonitor:
        return DoorbellMonitor(f"{host}.doorbell", self._bus(host), DOORBELLS)

    def _bus(self, host: str) -> PciBusMonitor:
        bus = self.monitor(f"{host}.pci")
        assert isinstance(bus, PciBusMonitor)
        return bus

    def _ports(self) -> Iterator[tuple[str, Maker]]:
        room = self._profile.integer("link.slack") - self._profile.integer("link.stop_mark")
        topology = self._numbers.topology
        switches = [switch.name for switch in topology.switches]
        for end in topology.peers:
            if topology.is_host(end.node):
                name, number = f"{end.node}.link", unit(topology.hosts.index(end.node), Part.LINK)
            else:
                name, number = str(end), switch_port(switches.index(end.node), end.port)
            period = self._period(self._numbers.clock_of(end))
            yield name, partial(LinkPortMonitor, name, number, period, self._store, room)
