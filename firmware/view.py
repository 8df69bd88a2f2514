"""View of a cluster for the software of one node: names, routes, options and cards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from pymodels.card.fabric import Circuit
from pymodels.config.model import ENDPOINT_CARDS, Connection, QueueRequest
from pymodels.lanai.program import Program
from pymodels.waiting import Wait


@dataclass(frozen=True)
class MachineCode:
    """Firmware that the host's driver loads into a NIC that executes it."""

    program: Program
    words: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """Words that the driver writes for the program, by SRAM address: routes and the like (`boot` of the descriptor)."""
    waits: Callable[[], Iterable[Wait]] = tuple
    """Return the resources that the program waits for, for hang reports."""


@dataclass(frozen=True)
class ClusterView:
    """Cluster as the software of one node sees it, from the configuration files."""

    me: int
    """Own virtual node number (VNN)."""
    names: tuple[str, ...]
    """Host names by VNN."""
    routes: Mapping[int, bytes]
    """Myrinet route bytes by destination VNN, with a route to the node itself only if it has endpoints beside its
    host: a card that accepts messages, or processes.
    """
    options: Mapping[str, float | str] = field(default_factory=dict)
    """Run-time options of the message layer by name."""
    sram_bytes: int = 1 << 21
    """Size of each NIC's SRAM."""
    cards: tuple[frozenset[str], ...] = ()
    """Cards of each host (`pymodels.config.model.CARDS`) by VNN. Empty if no host has a card beside its NIC."""
    circuits: tuple[Circuit, ...] = ()
    """Circuits of the FPGA cards, in the order of the circuit file."""
    config: str = ""
    """Configuration file, or an empty text if the view was built without one."""
    unset: frozenset[str] = frozenset()
    """Names of those `options` that no user set, so that they have their defaults; the configuration may set them."""
    queues: tuple[QueueRequest, ...] = ()
    """Sizes of message queues that the configuration requests on this node."""
    channels: tuple[tuple[Connection, ...], ...] = ()
    """Connected logical channels of each host by VNN. Empty if the configuration connects none."""
    pnns: tuple[int, ...] = ()
    """Physical node numbers by VNN: the ports of the switches."""
    fpga: Mapping[str, int] = field(default_factory=dict)
    """Settings of the FPGA cards that the driver writes: `clock_divisor`, `image_bytes`, `slot_bytes`."""
    machine_code: MachineCode | None = None
    """C firmware that the NIC of this node executes, or None for firmware in Python."""
    other_routes: Mapping[int, tuple[bytes, ...]] = field(default_factory=dict)
    """Further routes to destinations that have several."""

    def ways(self, vnn: int) -> tuple[bytes, ...]:
        """Return all routes to a destination, for a layer that uses them in turn, packet by packet."""
        return (self.routes[vnn], *self.other_routes.get(vnn, ()))

    def has(self, vnn: int, card: str) -> bool:
        """Return True if the host with this VNN has this card."""
        return bool(self.cards) and card in self.cards[vnn]

    def has_endpoint_card(self, vnn: int) -> bool:
        """Return True if the host with this VNN has a card that is an endpoint of messages."""
        return any(self.has(vnn, card) for card in ENDPOINT_CARDS)
