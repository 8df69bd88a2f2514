"""Wave view of a NIC: signals by path below the NIC's card, and translations of states to names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CHARACTER = "link_character"
"""Name of the translation of link characters."""
Signals = tuple[tuple[str, str], ...]
"""Pairs of signal path and translation of its values; an empty translation shows plain numbers."""


@dataclass(frozen=True)
class View:
    """Type of `WAVES` of a NIC kind. Signals that the wave file lacks are not shown."""

    bus: Signals
    """Signals shown with the host: use of the PCI bus."""
    nic: Signals
    """Signals of the card, its processor and its engines."""
    port: Signals
    """Signals of the link port."""
    states: Mapping[str, str] = field(default_factory=dict)
    """Translations of states: name to the declaring HDL module, as a path below `hdl`."""
    core: tuple[str, ...] = ()
    """Signals with the program counter of a processor that executes machine code."""


BUS = (("watch.use_of.bus_used", ""), ("watch.use_of.bus_data", ""))
MEMORY = (("mem_a", ""), ("mem_b", ""))
"""Ports of the card's memory."""
PORT = (("link_clk", ""), ("tx", CHARACTER), ("rx", CHARACTER))
"""Wires of the card's link."""
FLOW = (("u_port.u_core.fill", ""), ("u_port.u_core.stopped", ""))
"""Slack buffer fill of the link port, and the peer's STOP, as paths below `myri_nic_link`."""


def below(place: str, signals: Signals) -> Signals:
    """Return signals with `place` as a prefix of their paths."""
    return tuple((f"{place}.{path}", translation) for path, translation in signals)
