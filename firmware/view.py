"""The view of a cluster that the software on one node has: names, routes, options and cards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from pymodels.card.fabric import Circuit
from pymodels.config.model import QueueRequest
from pymodels.lanai.program import Program
from pymodels.waiting import Wait


@dataclass(frozen=True)
class MachineCode:
    """Firmware that the host's driver loads into its NIC, which executes it."""

    program: Program
    words: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """Words that the driver writes for the program, by SRAM address: routes and the like (`boot` of the descriptor)."""
    waits: Callable[[], Iterable[Wait]] = tuple
    """For hang reports: what the program waits for."""


@dataclass(frozen=True)
class ClusterView:
    """The cluster as the software on one node sees it, from the configuration files."""

    me: int
    """Own virtual node number (VNN)."""
    names: tuple[str, ...]
    """Host names by VNN."""
    routes: Mapping[int, bytes]
    """Myrinet route bytes by destination VNN; a node's route to itself is there only when it has a card that takes
    messages.
    """
    options: Mapping[str, float | str] = field(default_factory=dict)
    """Run-time options of the message layer by name."""
    sram_bytes: int = 1 << 21
    """Size of each NIC's SRAM."""
    cards: tuple[frozenset[str], ...] = ()
    """Cards of each host (`pymodels.config.model.CARDS`) by VNN; empty: no host has a card beside its NIC."""
    circuits: tuple[Circuit, ...] = ()
    """Circuits of the FPGA cards, in the order of the circuit file."""
    config: str = ""
    """The configuration file; empty: there is none, and what stands here is all there is."""
    queues: tuple[QueueRequest, ...] = ()
    """Sizes of message queues that the configuration asks for on this node."""
    pnns: tuple[int, ...] = ()
    """Physical node numbers by VNN: the ports of the switches."""
    fpga: Mapping[str, int] = field(default_factory=dict)
    """Settings of the FPGA cards that the driver writes: `clock_divisor`, `config_clocks`."""
    machine_code: MachineCode | None = None
    """Firmware in C that the NIC of this node executes; None: the firmware is a program in Python."""
    other_routes: Mapping[int, tuple[bytes, ...]] = field(default_factory=dict)
    """The further routes to destinations that have several."""

    def ways(self, vnn: int) -> tuple[bytes, ...]:
        """All routes to a destination, for a layer that takes them in turn, packet by packet."""
        return (self.routes[vnn], *self.other_routes.get(vnn, ()))

    def has(self, vnn: int, card: str) -> bool:
        """Return True if the host with this VNN has this card."""
        return bool(self.cards) and card in self.cards[vnn]
