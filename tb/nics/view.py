"""Wave view of a NIC: signals by path below the NIC's card, and translations of states to names."""

from __future__ import annotations

import re
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
    places: Mapping[str, str] = field(default_factory=dict)
    """Stable names of the NIC's parts in cocotb tests: name to the path below the node, a regular expression."""


NODE_PLACES = {"interrupt.": r"host\.interrupt\.", "cable.": r"cable\."}
"""Stable names of the parts of each host."""
SWITCH_PLACES = {r"port[\1].": r"gen_port\[(\d+)\]\.port\."}
"""Stable names of the parts of a switch."""
BUS = (("watch.use_of.bus_used", ""), ("watch.use_of.bus_data", ""))
MEMORY = (("mem_a", ""), ("mem_b", ""))
"""Ports of the card's memory."""
PORT = (("link_clk", ""), ("tx", CHARACTER), ("rx", CHARACTER))
"""Wires of the card's link."""
FLOW = (("u_port.u_core.fill", ""), ("u_port.u_core.stopped", ""))
"""Slack buffer fill of the link port, and the peer's STOP, as paths below `myri_nic_link`."""


def places(nic: str, send: str, receive: str, dma: str, link: str, **more: str) -> dict[str, str]:
    """Return the stable names of a NIC's parts.

    Args:
        nic: Instance of the NIC below the card.
        send: Send engine below the NIC.
        receive: Receive engine below the NIC.
        dma: Host DMA engine below the NIC.
        link: `myri_nic_link` below the NIC.
        more: Further parts below the NIC, by name.
    """
    parts = {"send": send, "receive": receive, "dma": dma, **more}
    named = {f"nic.{name}.": f"card.{nic}.{part}." for name, part in parts.items()}
    named |= {"link.": f"card.{nic}.{link}.u_port.u_core.", "nic.": f"card.{nic}."}
    return {name: re.escape(path) for name, path in named.items()}


def below(place: str, signals: Signals) -> Signals:
    """Return signals with `place` as a prefix of their paths."""
    return tuple((f"{place}.{path}", translation) for path, translation in signals)
