"""Target processors of paths: compiler flags, comment character, and instruction decoder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pymodels.costs import i686, lanai, powerpc
from pymodels.costs.assembly import Decoder


@dataclass(frozen=True)
class Target:
    """Target processor of the compiler and the counter."""

    name: str
    flags: tuple[str, ...]
    comment: str
    decode: Decoder
    table: str = "costs.toml"
    """Name of the table of counts beside a paths.c."""
    delays: tuple[int, ...] = ()
    """Load delays in clocks for which stalls are counted: 1, 2, ... Empty if load delays are part of the instruction
    cost.
    """

    @property
    def composed(self) -> str:
        """Name of the table of compositions (`pymodels.generated`): `composed.toml` beside `costs.toml`."""
        return self.table.replace("costs", "composed")


COMMON = ("-O2", "-ffreestanding", "-fno-pic", "-fno-asynchronous-unwind-tables", "-Wall", "-Werror")
LANAI = Target("lanai", ("--target=lanai", *COMMON), lanai.COMMENT, lanai.decode, delays=lanai.DELAYS)
POWERPC = Target(
    "powerpc",
    ("--target=powerpc", "-mcpu=603", *COMMON),
    powerpc.COMMENT,
    powerpc.decode,
    "costs.powerpc.toml",
)
I686 = Target("i686", ("--target=i686-linux-gnu", "-march=pentium3", *COMMON), i686.COMMENT, i686.decode)
POWERPC_HOST = Target(
    "powerpc",
    ("--target=powerpc", "-mcpu=604e", "-DPATHS_HOST", *COMMON),
    powerpc.COMMENT,
    powerpc.decode_called,
    "costs.powerpc.toml",
)

TARGETS: dict[str, tuple[Target, ...]] = {"nic": (LANAI, POWERPC), "host": (I686, POWERPC_HOST)}
"""Targets by side of a message layer, which is a folder of the layer."""
HOSTS = {target.name: target for target in TARGETS["host"]}
"""Processors of hosts by their name in profiles."""


def targets_of(folder: Path) -> tuple[Target, ...]:
    """Return the processors for which the paths of a layer's folder are compiled.

    They are those with a table in the folder (an empty file requests one), or else the first target of the side.
    """
    side = TARGETS[folder.name]
    return tuple(one for one in side if (folder / one.table).exists()) or side[:1]
