"""What a configuration says: the cluster, its hosts, cards, routes and queue requests, without the file format."""

from __future__ import annotations

from dataclasses import dataclass

from pymodels.card.fabric import Circuit
from pymodels.errors import SanlabError, nearest
from pymodels.routes import Routes
from pymodels.topology import Topology

NETWORK_CARD = "MYRI"
FPGA_CARD = "CELOXICA"
FRAME_CARD = "FRAME_BUFFER"
CARDS = (NETWORK_CARD, FPGA_CARD, FRAME_CARD)
"""What a host can USE (paper 003, C.1.1; the frame buffer is ours), each in the PCI slot of its place here."""
HOST_QUEUE = "HOST"
"""The host's own incoming message queues, beside those of its cards."""
MAX_HOSTS = 1024
"""A VNN is 10 bits wide in an endpoint at most (readings B1, and `firmware/grim/formats/endpoints.py`)."""


@dataclass(frozen=True)
class QueueRequest:
    """A queue size asked for: of which resource, bytes, and `file:line` where it was asked."""

    resource: str
    size: int
    place: str


@dataclass(frozen=True)
class Host:
    """One host: virtual number by its order, physical number by its switch port, and its cards."""

    name: str
    vnn: int
    pnn: int
    cards: tuple[str, ...]
    queues: tuple[QueueRequest, ...] = ()

    def slot(self, card: str) -> int:
        """The PCI slot of a card. ValueError without the card."""
        if card not in self.cards:
            raise ValueError(f"host {self.name} has no {card}")
        return CARDS.index(card)


@dataclass(frozen=True)
class Cluster:
    """A checked cluster: every host cabled, every pair routed, routes free of deadlock unless that was waived."""

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
        """The host of this name. SanlabError naming the nearest."""
        for host in self.hosts:
            if host.name == name:
                return host
        raise SanlabError("unknown host", f"{name!r} is not in cluster {self.name!r}", nearest(name, self.names))

    def routes_from(self, vnn: int) -> dict[int, bytes]:
        """Route bytes by destination VNN, as the NIC of host `vnn` holds them; none to itself."""
        source = self.hosts[vnn].name
        return {h.vnn: self.routes.between(source, h.name) for h in self.hosts if h.vnn != vnn}

    def other_routes_from(self, vnn: int) -> dict[int, tuple[bytes, ...]]:
        """The further routes by destination VNN, of those that have several."""
        source = self.hosts[vnn].name
        further = {h.vnn: self.routes.others.get((source, h.name), ()) for h in self.hosts}
        return {to: routes for to, routes in further.items() if routes}

    def having(self, card: str, vnn: int | None = None) -> tuple[Host, ...]:
        """The hosts that have a card; only host `vnn` when one is given. SanlabError when nobody has it."""
        found = tuple(h for h in self.hosts if card in h.cards and vnn in (None, h.vnn))
        if not found:
            where = "no host" if vnn is None else f"host {vnn}"
            present = sorted({card for host in self.hosts for card in host.cards})
            raise SanlabError(
                "resource nobody has",
                f"{where} of cluster {self.name!r} uses {card!r}",
                f"in use: {', '.join(present)}",
            )
        return found

    def table(self) -> str:
        """The run-time configuration as text, one line per host (grim_printVNNConfiguration)."""
        rows = [f"cluster {self.name}: {len(self.hosts)} hosts, {len(self.topology.switches)} switches"]
        rows += [f"  VNN {h.vnn:3d}  PNN {h.pnn:3d}  {h.name:<16} {' '.join(h.cards)}" for h in self.hosts]
        return "\n".join(rows)

    def describe(self) -> dict[str, object]:
        """What `results.json` says of the cluster: plain values, the same on every machine."""
        return {
            "name": self.name,
            "hosts": list(self.names),
            "switches": {s.name: s.ports for s in self.topology.switches},
            "links": len(self.topology.links),
            "routes": "computed" if self.routes.computed else "given",
        }
