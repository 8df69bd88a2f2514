"""Execution of one program on the machine: drawn from a seed, run, checked."""

from __future__ import annotations

import importlib
import traceback
from dataclasses import dataclass
from pathlib import Path

from firmware.layers import load
from pymodels.errors import ConfigError, nearest
from pymodels.hardware.compiled import kinds_of
from pymodels.machine import MachineError
from pymodels.profiles import load_profile
from pymodels.roots import files_by_name
from tb.fuzz.descriptor import PLACES, Fuzz, Make
from tb.fuzz.draw import Draw
from tb.fuzz.program import Program
from tb.fuzz.world import MachineWorld

LONGEST_US = 2_000_000
"""Simulated time limit of a program."""


@dataclass(frozen=True)
class Trial:
    """Result of a program; `failures` is empty if it passed."""

    program: Program
    failures: tuple[str, ...]


def names(in_c: bool = False, place: str = PLACES[0]) -> list[str]:
    """Return the names of all fuzz tests for a place; with `in_c` only those with programs whose NICs execute firmware
    in C.
    """
    found = [name for name in _all() if place in places(name)]
    return [name for name in found if not in_c or layer(name).program_in_c]


def places(name: str) -> tuple[str, ...]:
    """Return the places where the programs of a fuzz test run."""
    return layer(name).places


def layer(name: str) -> Fuzz:
    """Return the fuzz test of a layer. Raises ConfigError for an unknown layer."""
    if name not in _all():
        raise ConfigError("LAYER", 0, f"unknown layer {name!r}", "LAYER selects a layer", nearest(name, _all()))
    found: object = vars(importlib.import_module(f"tb.studies.{name}.fuzz")).get("FUZZ")
    if not isinstance(found, Fuzz):
        remedy = "write FUZZ = Fuzz(program=..., run=...)"
        raise ConfigError("LAYER", 0, f"tb/studies/{name}/fuzz has no descriptor", "FUZZ is missing", remedy)
    return found


def _all() -> list[str]:
    return list(files_by_name("tb/studies", "*/fuzz/__init__.py"))


def stack(name: str) -> tuple[str, ...]:
    """Return the layers that a fuzz test uses, that of the tested firmware first."""
    return layer(name).stands_on or (name,)


def profile(name: str) -> str:
    """Return the profile of a fuzz test on the RTL: that of the layer's card, or of its descriptor; empty for the
    cluster's.
    """
    drives = load(stack(name)[0]).drives
    return drives.name if drives else layer(name).profile


def takes_pauses(name: str) -> bool:
    """Return True if the programs of a fuzz can pause before their acts."""
    return layer(name).pauses


def settings(name: str) -> str:
    """Return the hardware settings of a fuzz test on the RTL."""
    return layer(name).settings


def cluster(name: str) -> str:
    """Return the cluster that a fuzz test requires on the RTL; empty for any."""
    return layer(name).cluster


def maker(name: str, in_c: bool = False) -> Make:
    """Return the function that draws the programs of a layer.

    Args:
        name: Name of the fuzz test.
        in_c: True for programs in which some or all NICs execute its firmware in C.

    Raises:
        ConfigError: The layer has no such programs.
    """
    if not in_c:
        return layer(name).program
    make = layer(name).program_in_c
    if make is None:
        having = " or ".join(names(in_c=True))
        what = f"the fuzz of layer {name!r} has no programs with firmware in C"
        raise ConfigError("FIRMWARE", 0, what, "FIRMWARE is c", f"leave it out, or take LAYER={having}")
    return make


def drawn(name: str, seed: int, make: Make | None = None) -> tuple[Program, list[int]]:
    """Return the program of a seed, and the integers from which it was drawn; `make` as returned by `maker`."""
    draw = Draw(f"{name} {seed}")
    return (make or maker(name))(draw), draw.numbers


def check_profile(name: str, given: str) -> None:
    """Raise ConfigError unless the programs of a fuzz test can run on the RTL with the user's profile.

    An empty name checks the profile only.
    """
    kind = load_profile(given).kind
    cause = "PROFILE selects the hardware of programs on the RTL"
    if not name:
        return
    if own := profile(name):
        raise ConfigError(
            "PROFILE", 0, f"PROFILE is {given!r}, but {name} runs with {own!r} alone", cause, "leave it out"
        )
    if not runs_on(name, given):
        remedy = "choose a profile of " + " or ".join(kinds_of(stack(name)[0]))
        raise ConfigError("PROFILE", 0, f"{name} does not run on the NIC {kind!r}", cause, remedy)


def runs_on(name: str, given: str) -> bool:
    """Return True if a fuzz names its own profile, or its firmware runs on the NIC of the given profile."""
    return bool(profile(name)) or load_profile(given).kind in kinds_of(stack(name)[0])


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
    except Exception as error:  # noqa: BLE001 - any exception of the software is a failure
        found.append(error_text(error))
    return Trial(program, tuple(found))


def error_text(error: BaseException) -> str:
    """Return an exception as text: its message, where it was raised, and in which task."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = "; ".join([f"{Path(last.filename).name}:{last.lineno}", *getattr(error, "__notes__", ())])
    return f"{type(error).__name__}: {error}, in {place}"
