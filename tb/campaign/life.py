"""What lives when in a clean run: words of memory that change, packets on the links. Faults are drawn from it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pymodels.topology import End, Topology
from pymodels.trace import Part, TraceEvent, switch_port, unit
from tb.lab.cluster import RunningCluster

WORD = 8
"""Bytes of what is looked at as one."""
EVERY_US = 5
US = 1_000_000
MOST = 4000
"""Words that are kept of a memory, and packets of a port."""


@dataclass
class Life:
    """In plain values. Addresses are those of words of 8 bytes."""

    begun_ps: int = 0
    ended_ps: int = 0
    sram: list[list[tuple[int, int]]] = field(default_factory=list)
    """By node: words of the NIC's memory that changed while messages were under way, and when that was seen, in ps."""
    memory: list[list[tuple[int, int]]] = field(default_factory=list)
    """By node: the same of host memory."""
    packets: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """By port: when heads and tails of packets passed, in ps."""

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class Watcher:
    """Looks at the memories of a run from time to time."""

    def __init__(self, running: RunningCluster) -> None:
        self._running = running
        self.life = Life(begun_ps=running.kernel.now)
        self._before = self._snapshot()
        self._changed: list[list[tuple[int, int]]] = [[] for _ in self._before]

    def _snapshot(self) -> list[NDArray[np.uint64]]:
        found = [np.frombuffer(nic.sram, np.uint64) for nic in self._running.nics]
        for host in self._running.hosts:
            used = host.allocated
            found.append(np.frombuffer(host.memory[used.start : used.stop // WORD * WORD], np.uint64))
        return [one.copy() for one in found]

    async def watch(self) -> None:
        """Until the copy of the process ends."""
        while True:
            await self._running.kernel.sleep(EVERY_US * US, "the next look at the memories")
            self.look()

    def look(self) -> None:
        """Note what has changed since the last look."""
        now = self._snapshot()
        for changed, old, new in zip(self._changed, self._before, now, strict=True):
            words = np.flatnonzero(old[: len(new)] != new[: len(old)])
            changed += [(int(word) * WORD, self._running.kernel.now) for word in words]
        self._before = now

    def end(self, trace: NDArray[np.void], topology: Topology) -> Life:
        """What was seen. `trace`: of the messages, in time order, shape (n,)."""
        self.look()
        life, nodes = self.life, len(self._running.hosts)
        life.ended_ps = self._running.kernel.now
        thinned = [changed[:: len(changed) // MOST + 1] for changed in self._changed]
        life.sram, of_hosts = thinned[: len(self._running.nics)], thinned[len(self._running.nics) :]
        begins = [host.allocated.start for host in self._running.hosts]
        life.memory = [[(begins[n] + word, seen) for word, seen in of_hosts[n]] for n in range(nodes)]
        life.packets = {str(end): found for end in ports(topology) if (found := _packets(trace, topology, end))}
        return life


def ports(topology: Topology) -> list[End]:
    """Every port into which a cable leads, in one order."""
    return sorted(topology.peers, key=str)


def _packets(trace: NDArray[np.void], topology: Topology, end: End) -> list[tuple[int, int]]:
    """When packets came in at a port."""
    if topology.is_host(end.node):
        who, head, tail = unit(topology.hosts.index(end.node), Part.NET_RECV), TraceEvent.RX_HEAD, TraceEvent.RX_TAIL
        if not np.any((trace["unit"] == who) & (trace["event"] == head)):
            who = unit(topology.hosts.index(end.node), Part.LINK)
    else:
        names = [switch.name for switch in topology.switches]
        who = switch_port(names.index(end.node), end.port)
        head, tail = TraceEvent.SWITCH_HEAD, TraceEvent.SWITCH_TAIL
    own = trace[trace["unit"] == who]
    heads, tails = (own["time"][own["event"] == event].tolist() for event in (head, tail))
    return list(zip(heads, tails, strict=False))[:MOST]
