"""Cluster as described by a configuration, independent of the file format: hosts, cards, routes, queue requests."""

from __future__ import annotations

from dataclasses import dataclass

from pymodels.card.fabric import Circuit
from pymodels.errors import SanlabError, nearest
from pymodels.routes import Routes
from pymodels.topology import Topology

NETWORK_CARD = "MYRI"
FPGA_CARD = "CELOXICA"
FRAME_CARD = "FRAME_BUFFER"
IO_CARD = "IO_CARD"
CARDS = (NETWORK_CARD, FPGA_CARD, FRAME_CARD, IO_CARD)
"""Resources that a host can USE (paper 003, C.1.1; frame buffer and I/O card are ours). The index is the card's PCI
slot.
"""
ENDPOINT_CARDS = (FPGA_CARD, IO_CARD)
"""Cards that are endpoints of messages; a host has one of them at most."""
HOST_QUEUE = "HOST"
"""Resource name of the host's own incoming message queues, as opposed to those of its cards."""
PROCESS = "PROCESS"
"""Word for an application process of a host in a CHANNEL line."""
MAX_CHANNEL = 31
"""Highest number of a logical channel (`firmware.grim.formats.MAX_CHANNELS` - 1)."""
MAX_HOSTS = 1024
"""Limit that follows from the 10 bits of a VNN in an endpoint (readings B1, `firmware/grim/formats/endpoints.py`)."""


@dataclass(frozen=True)
class QueueRequest:
    """Requested queue size: resource, bytes, and `file:line` of the request."""

    resource: str
    size: int
    place: str


@dataclass(frozen=True)
class Connection:
    """Endpoint of one logical channel of a host (paper 000, 4.3.1)."""

    channel: int
    endpoint: str
    """HOST_QUEUE, FPGA_CARD or PROCESS."""
    process: str
    """Name of the process, or an empty text."""
    place: str
    """`file:line` of the connection."""

    def __str__(self) -> str:
        """Return the connection as in the configuration, such as `2 PROCESS viewer`."""
        return " ".join(filter(None, (str(self.channel), self.endpoint, self.process)))


@dataclass(frozen=True)
class Host:
    """Host with its virtual node number (order in the configuration), physical node number (switch port) and cards."""

    name: str
    vnn: int
    pnn: int
    cards: tuple[str, ...]
    queues: tuple[QueueRequest, ...] = ()
    channels: tuple[Connection, ...] = ()
    """Connected logical channels by number; the message layer connects the others."""

    def slot(self, card: str) -> int:
        """Return the PCI slot of a card. Raises ValueError if the host lacks the card."""
        if card not in self.cards:
            raise ValueError(f"host {self.name} has no {card}")
        return CARDS.index(card)


@dataclass(frozen=True)
class Cluster:
    """Checked cluster: all hosts are cabled, all pairs have routes, and the routes are free of deadlock unless
    waived.
    """

    name: str
    file: str
    hosts: tuple[Host, ...]
    topology: Topology
    routes: Routes
    profile: str | None = None
    circuits: tuple[Circuit, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Host names by VNN."""
        return tuple(host.name for host in self.hosts)

    def host(self, name: str) -> Host:
        """Return the host with a name. Raises SanlabError for an unknown name."""
        for host in self.hosts:
            if host.name == name:
                return host
        raise SanlabError("unknown host", f"{name!r} is not in cluster {self.name!r}", nearest(name, self.names))

    def routes_from(self, vnn: int) -> dict[int, bytes]:
        """Return the route bytes by destination VNN for the NIC of host `vnn`, without a route to itself."""
        source = self.hosts[vnn].name
        return {h.vnn: self.routes.between(source, h.name) for h in self.hosts if h.vnn != vnn}

    def other_routes_from(self, vnn: int) -> dict[int, tuple[bytes, ...]]:
        """Return the further routes by destination VNN, for destinations with several."""
        source = self.hosts[vnn].name
        further = {h.vnn: self.routes.others.get((source, h.name), ()) for h in self.hosts}
        return {to: routes for to, routes in further.items() if routes}

    def having(self, card: str, vnn: int | None = None) -> tuple[Host, ...]:
        """Return the hosts with a card.

        Args:
            card: Name of the card, one of CARDS.
            vnn: Number of the only host to consider; None for all.

        Raises:
            SanlabError: No such host has the card.
        """
        found = tuple(h for h in self.hosts if card in h.cards and vnn in (None, h.vnn))
        if not found:
            where = "no host" if vnn is None else f"host {vnn}"
            present = sorted({card for host in self.hosts for card in host.cards})
            raise SanlabError(
                "resource not in use",
                f"{where} of cluster {self.name!r} uses {card!r}",
                f"in use: {', '.join(present)}",
            )
        return found

    def table(self) -> str:
        """Return the run-time configuration as text: one line for each host, followed by its connected channels
        (grim_printVNNConfiguration).
        """
        rows = [f"cluster {self.name}: {len(self.hosts)} hosts, {len(self.topology.switches)} switches"]
        for h in self.hosts:
            rows.append(f"  VNN {h.vnn:3d}  PNN {h.pnn:3d}  {h.name:<16} {' '.join(h.cards)}")
            rows += [f"    CHANNEL {connection}" for connection in h.channels]
        return "\n".join(rows)

    def describe(self) -> dict[str, object]:
        """Return the description of the cluster in `results.json`: plain values that are equal on every machine."""
        return {
            "name": self.name,
            "hosts": list(self.names),
            "switches": {s.name: s.ports for s in self.topology.switches},
            "links": len(self.topology.links),
            "routes": "computed" if self.routes.computed else "given",
        }
