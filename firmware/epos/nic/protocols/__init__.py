"""Protocols that can be composed into EPOS: each is a module in this folder, found by its name.

A module has its description (`PROTOCOL`) and its NIC side (`Side`, whose methods are named after the point-cuts). A
header of the same name has the NIC side in C. The host side, if any, is in the folder of the same name on that side.
"""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass, replace
from importlib import import_module

MOST = 8
"""Bits in a frame for its composition."""


@dataclass(frozen=True)
class Protocol:
    """Description of a protocol."""

    turn: int
    """Position in the predefined order, from the inside to the outside."""
    description: str
    header: int = 0
    """1 if it adds a word to the frame header. The word is 0 if its host side has no method `frame`."""
    peer: int = 0
    """Number of words of the NIC's memory for each node."""
    pages: bool = False
    """True if it has one more word, for each node, for each frame of a staging slot."""
    ordered: bool = False
    """True if frames must leave in the order of their doorbells."""
    name: str = ""
    """Name of its module."""
    controls: bool = False
    """True if its NICs exchange control frames, processed by its method `control`."""


def find_protocols() -> tuple[Protocol, ...]:
    """Return the protocols of this folder in the predefined order. Raises ValueError if there are too many."""
    modules = {one.name: import_module(f"{__name__}.{one.name}") for one in pkgutil.iter_modules(__path__)}
    protocols = [
        replace(module.PROTOCOL, name=name, controls=hasattr(module.Side, "control"))
        for name, module in modules.items()
    ]
    if len(protocols) > MOST or len({one.turn for one in protocols}) < len(protocols):
        raise ValueError(
            f"epos protocols {sorted(modules)}: at most {MOST} are supported, each with a different `turn`"
        )
    return tuple(sorted(protocols, key=lambda one: one.turn))
