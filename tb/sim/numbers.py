"""How clocks and cable directions of a topology are numbered.

Every component has its own clock, so that it can sleep alone: node n has the clocks 3n (NIC), 3n+1 (link) and 3n+2
(PCI), switch s the clock 3N+s. A cable direction has the number of the port at which it arrives: nodes first, then the
ports of each switch.
"""

from __future__ import annotations

from dataclasses import dataclass

from pymodels.topology import End, Topology

NIC, LINK, PCI = 0, 1, 2


@dataclass(frozen=True)
class Numbers:
    """Numbers of clocks and cable directions of a topology."""

    topology: Topology

    @property
    def nodes(self) -> int:
        """Number of hosts."""
        return len(self.topology.hosts)

    def clock(self, node: int, domain: int) -> int:
        """Clock of a node's domain: NIC, LINK or PCI."""
        return 3 * node + domain

    def switch_clock(self, switch: int) -> int:
        """Clock of a switch."""
        return 3 * self.nodes + switch

    @property
    def clocks(self) -> int:
        """Number of clocks."""
        return 3 * self.nodes + len(self.topology.switches)

    def first_cable(self, switch: int) -> int:
        """Number of the cable direction into port 0 of a switch; its other ports follow. A node's number is its own."""
        return self.nodes + sum(s.ports for s in self.topology.switches[:switch])

    def cable_into(self, end: End) -> int:
        """Number of the cable direction that arrives at a port."""
        if self.topology.is_host(end.node):
            return self.topology.hosts.index(end.node)
        names = [s.name for s in self.topology.switches]
        return self.first_cable(names.index(end.node)) + end.port

    def clock_of(self, end: End) -> int:
        """The clock that samples what arrives at a port."""
        if self.topology.is_host(end.node):
            return self.clock(self.topology.hosts.index(end.node), LINK)
        return self.switch_clock([s.name for s in self.topology.switches].index(end.node))
