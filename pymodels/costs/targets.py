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
    delays: tuple[int, ...] = ()
    """Clocks that the datum of a load may be late, for each of which stalls are counted: 1, 2, ... Empty: they are part
    of what an instruction takes."""

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
"""By side of a message layer: the folder in that of the layer."""
HOSTS = {target.name: target for target in TARGETS["host"]}
"""Processors of hosts, by the name that a profile gives them."""


def targets_of(folder: Path) -> tuple[Target, ...]:
    """The processors for which the paths of a layer's folder are compiled: those whose table stands in it (an empty
    file asks for one), or where none does the first of its side.
    """
    side = TARGETS[folder.name]
    return tuple(one for one in side if (folder / one.table).exists()) or side[:1]
