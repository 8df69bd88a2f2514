"""Wireshark dissector of a run's packets: `dissector.lua`, next to `packets.pcapng`.

It consists of the Myrinet part (`wireshark/myrinet.lua`), the part of the NIC's network, and the run's message layers,
lowest first. The part of the network is `dissector.lua` in the folder of the NIC kind. A layer has tables of its
firmware's numbers and its own `dissector.lua`. A layer with plain headers has one line for each packet type
(`firmware.shown.Plain`).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path

from firmware.layers import folder_of, shown
from firmware.shown import Plain
from pymodels.hardware.discover import NICS
from pymodels.results import write_atomically
from pymodels.roots import place
from tb.report.recorded import Legend

FILE = "dissector.lua"
BASE = Path(__file__).parent / "wireshark" / "myrinet.lua"


def write_dissector(legend: Legend, path: Path) -> None:
    """Write the dissector of a run atomically. Raises ResultsError if writing fails."""
    write_atomically(path, "\n".join(parts(legend)))


def parts(legend: Legend) -> Iterator[str]:
    """Yield the parts of a run's dissector."""
    yield BASE.read_text(encoding="utf-8")
    network = place(f"{NICS}/{legend.nic}/{FILE}")
    if network.exists():
        yield _block(network.read_text(encoding="utf-8"))
    for layer in legend.layers:
        seen, own = shown(layer), folder_of(layer) / FILE
        for header in seen.plain_types:
            yield plain(layer, header, above=layer != legend.layers[0])
        if own.exists():
            told = "".join(number(name, what) for name, what in seen.numbers.items())
            yield _block(told + own.read_text(encoding="utf-8"))


def number(name: str, what: int | type[IntEnum]) -> str:
    """Return a number, or a table of named numbers, as Lua."""
    if isinstance(what, int):
        return f"local {name} = {what:#x}\n"
    entries = ", ".join(f'[{int(one)}] = "{one.name}"' for one in what)
    return f"local {name} = {{ {entries} }}\n"


def plain(layer: str, header: Plain, above: bool = False) -> str:
    """Return the Lua that registers one packet type of a layer with a byte-aligned header.

    Args:
        layer: Name of the layer; with the packet's name, if any, the name of the protocol in Wireshark.
        header: Type and fields of the packet.
        above: True for a packet in the payload of the layer below.
    """
    name = f"{layer}_{header.name}" if header.name else layer
    lines, at = [], 2
    for field, (size, label) in header.fields.items():
        lines.append(f'  {{ name = "{field}", at = {at}, size = {size}, label = "{label}" }},\n')
        at += size
    return f'plain_layer("{name}", {header.type:#x}, {{\n{"".join(lines)}}}, {"above" if above else "layers"})\n'


def _block(text: str) -> str:
    """Return a Lua text with its own local scope."""
    return f"do\n{text}end\n"
