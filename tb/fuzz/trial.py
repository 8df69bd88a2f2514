"""One program on the machine: drawn from a seed, run, judged."""

from __future__ import annotations

import importlib
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firmware.layers import host_module
from pymodels.errors import ConfigError, nearest
from pymodels.machine import MachineError
from pymodels.roots import things
from tb.fuzz.draw import Draw
from tb.fuzz.program import Program
from tb.fuzz.world import MachineWorld

LONGEST_US = 2_000_000
"""Simulated time that a program may take."""


@dataclass(frozen=True)
class Trial:
    """How a program went: `failures` is empty when nothing was found."""

    program: Program
    failures: tuple[str, ...]


def names() -> list[str]:
    """The layers that have a fuzz."""
    return list(things("tb/fuzz/layers", "*/__init__.py"))


def layer(name: str) -> Any:
    """A layer's fuzz: `program(draw)` and `run(program, world)`. Raises ConfigError naming the nearest."""
    if name not in names():
        raise ConfigError("LAYER", 0, f"unknown layer {name!r}", "LAYER names a layer", nearest(name, names()))
    return importlib.import_module(f"tb.fuzz.layers.{name}")


def profile(name: str) -> str:
    """The profile on which a layer's fuzz runs on the RTL: that of the card that it drives; empty: the cluster's."""
    drives = getattr(host_module(name), "DRIVES", None)
    return drives.name if drives else ""


def drawn(name: str, seed: int) -> tuple[Program, list[int]]:
    """The program of a seed, and the numbers that it was drawn from."""
    draw = Draw(f"{name} {seed}")
    return layer(name).program(draw), draw.numbers


def on_machine(name: str, program: Program) -> Trial:
    """Run a program on the machine."""
    found: list[str] = []

    async def whole() -> None:
        found.extend(await layer(name).run(program, world))

    world = MachineWorld(program)
    try:
        world.finish(whole(), LONGEST_US)
    except MachineError as error:
        found.append(f"MachineError: {error}")
    except Exception as error:  # noqa: BLE001 - whatever software raises is what the fuzz looks for
        found.append(told(error))
    return Trial(program, tuple(found))


def told(error: BaseException) -> str:
    """An exception in words: what it says, where it was raised, and in which task."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = "; ".join([f"{Path(last.filename).name}:{last.lineno}", *getattr(error, "__notes__", ())])
    return f"{type(error).__name__}: {error}, in {place}"
