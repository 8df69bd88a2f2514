"""How clocks and cable directions of a topology are numbered.

Every component has its own clock, so that it can sleep alone: a node has three in a row (NIC, link, PCI), a fourth
(fabric) with an FPGA card, and a fifth (its bus) when that stands behind a bridge; then each switch has one. A cable
direction has the number of the port at which it arrives: nodes first, then the ports of each switch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pymodels.config.model import FPGA_CARD, FRAME_CARD, Cluster
from pymodels.hardware.discover import nic_kind
from pymodels.profiles import DEFAULT_KIND, Profile
from pymodels.topology import End, Topology

NIC, LINK, PCI, FABRIC, FAR = 0, 1, 2, 3, 4
CARD_MEMORIES = 2048
"""Number of the FPGA card's SRAM of node 0; its frame buffer has the next, node n both 2n further."""


class Further(NamedTuple):
    """What a node has beside its NIC."""

    fpga: bool = False
    """An FPGA card."""
    frame: bool = False
    """A frame buffer."""
    bridge: bool = False
    """Both stand behind a bridge, on a PCI bus of their own."""

    @property
    def domains(self) -> tuple[str, ...]:
        """What each of the node's clocks drives, in the order of their numbers."""
        return "NIC", "link", "PCI", *("FPGA",) * self.fpga, *("PCI behind the bridge",) * self.bridge

    @property
    def clocks(self) -> int:
        """How many clocks the node has."""
        return len(self.domains)


@dataclass(frozen=True)
class Numbers:
    """Numbers of clocks and cable directions of a topology."""

    topology: Topology
    cards: tuple[frozenset[str], ...] = ()
    """Cards of each host beside its NIC; empty: nobody has any."""
    nic: str = DEFAULT_KIND
    """The kind of NIC that all hosts have."""
    bridge: bool = False
    """FPGA cards stand behind a bridge."""
    core: bool = False
    """NICs have a core that can execute machine code."""

    @staticmethod
    def of(cluster: Cluster, profile: Profile, core: bool = False) -> Numbers:
        """The numbers of a cluster whose hosts have the NICs and buses of a profile, these with a core or without."""
        cards = tuple(frozenset(host.cards) for host in cluster.hosts)
        return Numbers(cluster.topology, cards, profile.kind, profile.flag("fpga.bridge"), core)

    def has(self, node: int, card: str) -> bool:
        """Whether a host has a card."""
        return bool(self.cards) and card in self.cards[node]

    def further(self, node: int) -> Further:
        """What a node has beside its NIC."""
        fpga = self.has(node, FPGA_CARD)
        return Further(fpga, self.has(node, FRAME_CARD), fpga and self.bridge)

    @property
    def nodes(self) -> int:
        """Number of hosts."""
        return len(self.topology.hosts)

    def bus_clock(self, node: int) -> int:
        """The clock of a node's PCI bus: that of the NIC where they share one, as the PCI clock then never wakes."""
        return self.clock(node, NIC if nic_kind(self.nic).one_clock else PCI)

    def clock(self, node: int, domain: int) -> int:
        """Clock of a node's domain: NIC, LINK, PCI, FABRIC or FAR."""
        return sum(self.further(n).clocks for n in range(node)) + domain

    def switch_clock(self, switch: int) -> int:
        """Clock of a switch."""
        return self.clock(self.nodes, switch)

    def clock_name(self, clock: int) -> str:
        """What a clock drives, for people."""
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
