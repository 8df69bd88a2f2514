"""The processors that paths are compiled for: compiler flags, comment character, and what an instruction is."""

from __future__ import annotations

from dataclasses import dataclass

from pymodels.costs import i686, lanai
from pymodels.costs.assembly import Decoder


@dataclass(frozen=True)
class Target:
    """A processor, as the compiler and the counter know it."""

    name: str
    flags: tuple[str, ...]
    comment: str
    decode: Decoder


COMMON = ("-O2", "-ffreestanding", "-fno-pic", "-fno-asynchronous-unwind-tables", "-Wall", "-Werror")

TARGETS: dict[str, Target] = {
    "nic": Target("lanai", ("--target=lanai", *COMMON), lanai.COMMENT, lanai.decode),
    "host": Target("i686", ("--target=i686-linux-gnu", "-march=pentium3", *COMMON), i686.COMMENT, i686.decode),
}
"""By side of a message layer: the folder below firmware/."""
