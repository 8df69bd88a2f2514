"""Activity of a clean run, from which faults are drawn: changing memory words and packets on links."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pymodels.topology import End, Topology
from pymodels.trace import Part, TraceEvent, switch_port, unit
from tb.lab.cluster import RunningCluster

WORD = 8
"""Bytes of a compared word."""
EVERY_US = 5
US = 1_000_000
MOST = 4000
"""Maximum number of words recorded for a memory, and of packets for a port."""


@dataclass
class Life:
    """Activity of a run in plain values. Addresses are those of words of 8 bytes."""

    begun_ps: int = 0
    ended_ps: int = 0
    sram: list[list[tuple[int, int]]] = field(default_factory=list)
    """NIC memory words by node that changed while messages were under way, each with the time of its
    observation in ps.
    """
    memory: list[list[tuple[int, int]]] = field(default_factory=list)
    """Host memory words by node that changed, each with the time of its observation in ps."""
    packets: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """Times of packet heads and tails by port, in ps."""

    def plain(self) -> dict[str, Any]:
        """Return the values for JSON."""
        return asdict(self)


class Watcher:
    """Periodic observer of the memories of a run."""

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
        """Compare the memories periodically until the process copy ends."""
        while True:
            await self._running.kernel.sleep(EVERY_US * US, "the next comparison of the memories")
            self.look()

    def look(self) -> None:
        """Record the words that changed since the last comparison."""
        now = self._snapshot()
        for changed, old, new in zip(self._changed, self._before, now, strict=True):
            words = np.flatnonzero(old[: len(new)] != new[: len(old)])
            changed += [(int(word) * WORD, self._running.kernel.now) for word in words]
        self._before = now

    def end(self, trace: NDArray[np.void], topology: Topology) -> Life:
        """Return the activity of the run. `trace` has the records of its messages in time order, shape (n,)."""
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
    """Return the ports at the ends of cables in a fixed order."""
    return sorted(topology.peers, key=str)


def _packets(trace: NDArray[np.void], topology: Topology, end: End) -> list[tuple[int, int]]:
    """Return the times of packet heads and tails at a port."""
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
