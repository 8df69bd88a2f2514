"""What the waves of a NIC show: signals by their path below the NIC's card, and the states that have names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CHARACTER = "link_character"
"""The translation of a character on a link."""
Signals = tuple[tuple[str, str], ...]
"""Paths, each with the translation that gives its values names; empty: none."""


@dataclass(frozen=True)
class View:
    """`WAVES` of a kind of NIC. Of what it lists, a view of waves has what the file holds."""

    bus: Signals
    """Shown with the host: how busy the PCI bus is."""
    nic: Signals
    """The card, its processor and engines."""
    port: Signals
    """The link port."""
    states: Mapping[str, str] = field(default_factory=dict)
    """Translations of states: by name the module that has them, as a path below `hdl`."""
    core: tuple[str, ...] = ()
    """Where its processor executes firmware in C: what holds the address of an instruction."""


BUS = (("watch.use_of.bus_used", ""), ("watch.use_of.bus_data", ""))
MEMORY = (("mem_a", ""), ("mem_b", ""))
"""The ports of the card's memory."""
PORT = (("link_clk", ""), ("tx", CHARACTER), ("rx", CHARACTER))
"""The wires of the card's link."""
FLOW = (("u_port.fill", ""), ("u_port.stopped", ""))
"""The slack buffer of its link port, and whether the peer's STOP is in force, below its `myri_nic_link`."""


def below(place: str, signals: Signals) -> Signals:
    """The same signals of an instance."""
    return tuple((f"{place}.{path}", translation) for path, translation in signals)
