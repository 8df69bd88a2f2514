"""The dissector of a run's packets: `dissector.lua`, for Wireshark, beside `packets.pcapng`.

It is what is known of Myrinet (`wireshark/myrinet.lua`), then what the NIC's network adds (`dissector.lua` in the
folder of its kind), then the run's message layers, the lowest first: the numbers of a layer's firmware as tables, and
its `dissector.lua`; or, of a layer with plain headers, a line for each type of packet (`firmware.shown.Plain`).
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
    """Write the dissector of a run, at once or not at all. ResultsError when the disk refuses."""
    write_atomically(path, "\n".join(parts(legend)))


def parts(legend: Legend) -> Iterator[str]:
    """The dissector of a run, part by part."""
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
    """A number, or a table of named ones, as Lua."""
    if isinstance(what, int):
        return f"local {name} = {what:#x}\n"
    entries = ", ".join(f'[{int(one)}] = "{one.name}"' for one in what)
    return f"local {name} = {{ {entries} }}\n"


def plain(layer: str, header: Plain, above: bool = False) -> str:
    """Return the Lua that registers one type of packet of a layer whose header is whole bytes.

    Args:
        layer: Name of the layer; with the packet's name, if it has one, the name of the protocol in Wireshark.
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
    """With local names of its own."""
    return f"do\n{text}end\n"
