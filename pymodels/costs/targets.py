"""The processors that paths are compiled for: compiler flags, comment character, and what an instruction is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pymodels.costs import i686, lanai, powerpc
from pymodels.costs.assembly import Decoder


@dataclass(frozen=True)
class Target:
    """A processor, as the compiler and the counter know it."""

    name: str
    flags: tuple[str, ...]
    comment: str
    decode: Decoder
    table: str = "costs.toml"
    """File beside a paths.c that holds its counts."""
    layers: tuple[str, ...] = ()
    """Layers that are compiled for it; empty: all of its side."""


COMMON = ("-O2", "-ffreestanding", "-fno-pic", "-fno-asynchronous-unwind-tables", "-Wall", "-Werror")
LANAI = Target("lanai", ("--target=lanai", *COMMON), lanai.COMMENT, lanai.decode)
POWERPC = Target(
    "powerpc",
    ("--target=powerpc", "-mcpu=603", *COMMON),
    powerpc.COMMENT,
    powerpc.decode,
    "costs.powerpc.toml",
    ("hardware", "via"),
)
"""The SP adapter's processor, for the layers that run there."""
I686 = Target("i686", ("--target=i686-linux-gnu", "-march=pentium3", *COMMON), i686.COMMENT, i686.decode)

TARGETS: dict[str, tuple[Target, ...]] = {"nic": (LANAI, POWERPC), "host": (I686,)}
"""By side of a message layer: the folder below firmware/."""


def targets_of(folder: Path) -> tuple[Target, ...]:
    """The processors for which the paths of a layer's folder are compiled."""
    return tuple(one for one in TARGETS[folder.parent.name] if not one.layers or folder.name in one.layers)
