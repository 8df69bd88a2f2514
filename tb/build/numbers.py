"""Numbers of the clocks and cable directions of a topology.

Each component has its own clocks, which are gated separately. A node has three (NIC, link, PCI), a fourth (fabric) with
an FPGA card, and a fifth (that card's bus) behind a bridge. The clocks of the switches follow, one each. A cable
direction has the number of the port at which it arrives: nodes first, then the ports of each switch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pymodels.config.model import FPGA_CARD, FRAME_CARD, IO_CARD, Cluster
from pymodels.hardware.discover import nic_kind
from pymodels.profiles import DEFAULT_KIND, Profile
from pymodels.topology import End, Topology

NIC, LINK, PCI, FABRIC, FAR = 0, 1, 2, 3, 4
CARD_MEMORIES = 2048
"""Memory number of the FPGA card's SRAM or the I/O card's local memory in node 0; its frame buffer has the next number.
Node n adds 2n to both.
"""


class Further(NamedTuple):
    """Cards of a node in addition to its NIC."""

    fpga: bool = False
    """True with an FPGA card."""
    frame: bool = False
    """True with a frame buffer."""
    bridge: bool = False
    """True if these cards are behind a bridge, on a PCI bus of their own."""
    io: bool = False
    """True with an I/O card, which has no clock of its own and is never behind a bridge."""

    @property
    def domains(self) -> tuple[str, ...]:
        """Names of the node's clock domains in the order of their numbers."""
        return "NIC", "link", "PCI", *("FPGA",) * self.fpga, *("PCI behind the bridge",) * self.bridge

    @property
    def clocks(self) -> int:
        """Number of clocks of the node."""
        return len(self.domains)


@dataclass(frozen=True)
class Numbers:
    """Numbers of the clocks and cable directions of a topology."""

    topology: Topology
    cards: tuple[frozenset[str], ...] = ()
    """Cards of each host in addition to its NIC; empty: no host has any."""
    nic: str = DEFAULT_KIND
    """NIC kind of all hosts."""
    bridge: bool = False
    """True if FPGA cards are behind a bridge."""
    core: bool = False
    """True if NICs have a core that can execute machine code."""
    monitored: bool = False
    """True if buses and links have monitors."""

    @staticmethod
    def from_cluster(cluster: Cluster, profile: Profile, core: bool = False, monitored: bool = False) -> Numbers:
        """Return the numbers of a cluster whose hosts have the NICs and buses of a profile, with or without cores and
        monitors.
        """
        cards = tuple(frozenset(host.cards) for host in cluster.hosts)
        return Numbers(cluster.topology, cards, profile.kind, profile.flag("fpga.bridge"), core, monitored)

    def has(self, node: int, card: str) -> bool:
        """Return True if a host has a card."""
        return bool(self.cards) and card in self.cards[node]

    def further(self, node: int) -> Further:
        """Return the cards of a node in addition to its NIC."""
        fpga = self.has(node, FPGA_CARD)
        return Further(fpga, self.has(node, FRAME_CARD), fpga and self.bridge, self.has(node, IO_CARD))

    @property
    def nodes(self) -> int:
        """Number of hosts."""
        return len(self.topology.hosts)

    def bus_clock(self, node: int) -> int:
        """Return the clock of a node's PCI bus: the NIC's clock where they share one, since the PCI clock
        then stays gated.
        """
        return self.clock(node, NIC if nic_kind(self.nic).one_clock else PCI)

    def clock(self, node: int, domain: int) -> int:
        """Return the number of a node's clock in a domain: NIC, LINK, PCI, FABRIC or FAR."""
        return sum(self.further(n).clocks for n in range(node)) + domain

    def switch_clock(self, switch: int) -> int:
        """Return the number of a switch's clock."""
        return self.clock(self.nodes, switch)

    def clock_name(self, clock: int) -> str:
        """Return the readable name of a clock."""
        switch = clock - self.switch_clock(0)
        if switch >= 0:
            return f"switch {self.topology.switches[switch].name}"
        node = max(n for n in range(self.nodes) if self.clock(n, NIC) <= clock)
        return f"{self.further(node).domains[clock - self.clock(node, NIC)]} of {self.topology.hosts[node]}"

    @property
    def clocks(self) -> int:
        """Number of clocks."""
        return self.switch_clock(len(self.topology.switches))

    def first_cable(self, switch: int) -> int:
        """Return the number of the cable direction into port 0 of a switch; the other ports follow."""
        return self.nodes + sum(s.ports for s in self.topology.switches[:switch])

    def cable_into(self, end: End) -> int:
        """Return the number of the cable direction that arrives at a port."""
        if self.topology.is_host(end.node):
            return self.topology.hosts.index(end.node)
        names = [s.name for s in self.topology.switches]
        return self.first_cable(names.index(end.node)) + end.port

    def clock_of(self, end: End) -> int:
        """Return the number of the clock that samples the input of a port."""
        if self.topology.is_host(end.node):
            return self.clock(self.topology.hosts.index(end.node), LINK)
        return self.switch_clock([s.name for s in self.topology.switches].index(end.node))
