"""The protocols that can be composed into EPOS: each is a module of its name in this folder, found there.

A module says what it is (`PROTOCOL`) and what its NIC does (`Side`, whose methods are named as the point-cuts); beside
it a header of its name has the same in C. What its host does stands in the folder of the same name on that side, if
it does anything.
"""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass, replace
from importlib import import_module

MOST = 8
"""Bits that a frame has for its composition."""


@dataclass(frozen=True)
class Protocol:
    """What can be composed in."""

    turn: int
    """Its place in the predefined order, from the inside to the outside."""
    told: str
    header: int = 0
    """1: it adds a word to the header of a frame. Where its host writes none at `frame`, that is 0."""
    peer: int = 0
    """Words of the NIC's memory that it takes for each node."""
    pages: bool = False
    """For each node it takes one more for each frame of a staging slot."""
    ordered: bool = False
    """It needs frames to leave in the order of their doorbells."""
    name: str = ""
    """That of its module."""
    controls: bool = False
    """Its NICs tell each other something: it has a method `control`."""


def found() -> tuple[Protocol, ...]:
    """Those of this folder, in their order."""
    modules = {one.name: import_module(f"{__name__}.{one.name}") for one in pkgutil.iter_modules(__path__)}
    told = [
        replace(module.PROTOCOL, name=name, controls=hasattr(module.Side, "control"))
        for name, module in modules.items()
    ]
    if len(told) > MOST or len({one.turn for one in told}) < len(told):
        raise ValueError(f"at most {MOST} protocols, each with a turn of its own: {sorted(modules)}")
    return tuple(sorted(told, key=lambda one: one.turn))
