"""The descriptor of a fuzz: `FUZZ = Fuzz(...)` of `tb/studies/<layer>/fuzz`; the mixed fuzz knows nothing else."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from tb.fuzz.draw import Draw
from tb.fuzz.program import Program
from tb.fuzz.world import World

Make = Callable[[Draw], Program]
PLACES = ("machine", "rtl")
"""Where programs run."""


@dataclass(frozen=True, kw_only=True)
class Fuzz:
    """Random programs of a layer, or of several together."""

    program: Make
    """Draws a program."""
    run: Callable[[Program, World], Coroutine[Any, Any, list[str]]]
    """Runs a program; returns what was wrong, a sentence each."""
    program_in_c: Make | None = None
    """Draws a program whose NICs, some or all, execute firmware in C; None: there are none."""
    stands_on: tuple[str, ...] = ()
    """Layers that the programs drive, the one first whose firmware they are for; empty: the layer of the folder."""
    places: tuple[str, ...] = PLACES
    """Places where the programs run: `machine`, `rtl`, or both."""
    pauses: bool = True
    """False: programs cannot pause before their acts."""
    profile: str = ""
    """Profile of runs on the RTL; empty: that of the card that the layer drives, or the cluster's."""
    cluster: str = ""
    """Cluster of runs on the RTL; empty: any."""
    settings: str = ""
    """Settings of the hardware in runs on the RTL, as SET has them."""
