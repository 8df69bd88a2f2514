"""Descriptor of a layer's fuzz test: `FUZZ = Fuzz(...)` in `tb/studies/<layer>/fuzz`, its only interface to the
fuzzer.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from tb.fuzz.draw import Draw
from tb.fuzz.program import Program
from tb.fuzz.world import World

Make = Callable[[Draw], Program]
PLACES = ("machine", "rtl")
"""Places where programs run."""


@dataclass(frozen=True, kw_only=True)
class Fuzz:
    """Fuzz test of a layer, or of several layers together."""

    program: Make
    """Function that draws a program."""
    run: Callable[[Program, World], Coroutine[Any, Any, list[str]]]
    """Function that runs a program and returns a sentence for each failure."""
    program_in_c: Make | None = None
    """Function that draws a program in which some or all NICs execute firmware in C; None if there are no such
    programs.
    """
    stands_on: tuple[str, ...] = ()
    """Layers that the programs use, that of the tested firmware first; empty for the layer of the folder."""
    places: tuple[str, ...] = PLACES
    """Places where the programs run: `machine`, `rtl`, or both."""
    pauses: bool = True
    """False if programs cannot pause before their acts."""
    profile: str = ""
    """Profile of runs on the RTL; empty for that of the layer's card, or of the cluster."""
    cluster: str = ""
    """Cluster of runs on the RTL; empty for any."""
    settings: str = ""
    """Hardware settings of runs on the RTL, in the form of SET."""
