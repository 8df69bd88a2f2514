"""C firmware of message layers: sources, and a committed image for each kind of NIC."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import replace
from pathlib import Path

from pymodels import fingerprints, generated
from pymodels.costs.sources import FIRMWARE, FOLDERS
from pymodels.costs.targets import LANAI
from pymodels.errors import SanlabError, nearest
from pymodels.hardware.discover import module_of_nic, nic_kinds
from pymodels.lanai.header import NicCore
from pymodels.lanai.image import Image
from pymodels.lanai.program import Program
from pymodels.profiles.default import DEFAULT_KIND
from pymodels.roots import files_by_name, place

SOURCE = "firmware.c"
RUNTIME = FIRMWARE / "runtime"
FLAGS = (*LANAI.flags, "-DEXECUTED")
"""Compiler flags of a layer's program."""


def layers() -> dict[str, Path]:
    """Return the folders of the message layers that have C firmware, by name."""
    return {name: path.parent for name, path in files_by_name("firmware", f"*/nic/{SOURCE}").items()}


def cores() -> dict[str, NicCore]:
    """Return the processor cores that execute C firmware, by kind of NIC."""
    named = {kind: f"pymodels.nics.{kind}.core" for kind in nic_kinds()}
    return {
        kind: module_of_nic("pymodels.nics.{}.core", kind).CORE
        for kind in named
        if importlib.util.find_spec(named[kind])
    }


def image(layer: str, kind: str) -> Path:
    """Return the path of a layer's committed image for a kind. Raises SanlabError for a layer without C firmware."""
    known = layers()
    if layer not in known:
        raise SanlabError(f"layer {layer!r}", f"has no {SOURCE}", nearest(layer, known))
    return known[layer] / f"firmware.{kind}.toml"


def kinds_of(layer: str) -> list[str]:
    """Return the kinds of NIC for which a layer's firmware is compiled."""
    return [kind for kind in cores() if generated.found(image(layer, kind)) is not None] or [DEFAULT_KIND]


def load(layer: str, kind: str) -> Program:
    """Return the program of a layer for a kind of NIC.

    Raises:
        ImageError: The image is missing or damaged.
        StaleError: The image was compiled from other sources.
    """
    file = image(layer, kind)
    made = Image.load(file)
    fingerprints.check(file, made.compiled, fingerprint(layer, kind), f"firmware {layer}")
    return _named(made.program, made.compiled["layer"], layer)


def _named(program: Program, copied: str, layer: str) -> Program:
    """Return a program with the layer's own file names, for an image that was copied from another layer."""
    old, new = (f"firmware/{name}/nic/" for name in (copied, layer))
    lines = tuple(replace(one, file=one.file.replace(old, new)) for one in program.lines)
    inlined = tuple(replace(one, file=one.file.replace(old, new)) for one in program.inlined)
    return replace(program, lines=lines, inlined=inlined) if old != new else program


def header(kind: str) -> Path:
    """Return the path of the generated register header of a kind."""
    return place(f"firmware/nics/{kind}/lanai.h")


def layout(layer: str) -> dict[str, int]:
    """Return the SRAM addresses of a layer by name: the integer constants of its `layout.py`, with `PROGRAM_END`."""
    module = importlib.import_module(f"firmware.{layer}.nic.layout")
    return {name: value for name, value in vars(module).items() if name.isupper() and isinstance(value, int)}


def layout_header(layer: str) -> str:
    """Return the text of `layout.h`: the SRAM addresses as C constants."""
    rows = (f"    AT_{name} = {value:#x}," for name, value in layout(layer).items())
    return "\n".join(["/* From layout.py. */", "enum {", *rows, "};"]) + "\n"


def fingerprint(layer: str, kind: str) -> str:
    """Return the fingerprint of all inputs of an image, including compiler flags and SRAM addresses."""
    made = fingerprints.tokens(cores()[kind].header() + layout_header(layer))
    return fingerprints.fingerprint(sources(layer, kind), [*FLAGS, *made])


def sources(layer: str, kind: str) -> list[Path]:
    """Return the C files that an image is compiled from."""
    own = image(layer, kind).parent.glob("*.[ch]")
    return fingerprints.with_included([*own, FIRMWARE / "paths.h", *RUNTIME.glob("*.[chS]")], FOLDERS)
