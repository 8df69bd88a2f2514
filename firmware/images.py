"""Where the C firmware of message layers stands: sources, and a committed image for each kind of NIC."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from pymodels.errors import SanlabError, nearest
from pymodels.hardware.discover import nic_kinds, of_nic
from pymodels.lanai.header import NicCore
from pymodels.profiles.default import DEFAULT_KIND
from pymodels.roots import things

SOURCE = "firmware.c"


def layers() -> dict[str, Path]:
    """The folders of message layers that have firmware in C, by name."""
    return {name: path.parent for name, path in things("firmware/nic", f"*/{SOURCE}").items()}


def cores() -> dict[str, NicCore]:
    """The kinds of NIC whose processor executes it, by name."""
    named = {kind: f"pymodels.nics.{kind}.core" for kind in nic_kinds()}
    return {kind: of_nic("pymodels.nics.{}.core", kind).CORE for kind in named if importlib.util.find_spec(named[kind])}


def image(layer: str, kind: str) -> Path:
    """The committed image of a layer for a kind. Raises SanlabError for a layer without firmware in C."""
    known = layers()
    if layer not in known:
        raise SanlabError(f"layer {layer!r}", f"has no {SOURCE}", nearest(layer, known))
    return known[layer] / f"firmware.{kind}.toml"


def kinds_of(layer: str) -> list[str]:
    """The kinds for which a layer's firmware is compiled."""
    return [kind for kind in cores() if image(layer, kind).exists()] or [DEFAULT_KIND]
