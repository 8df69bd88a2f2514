"""The C firmware of the NICs: compiled and linked with the run-time library of `firmware/runtime`."""

from __future__ import annotations

from collections.abc import Sequence

from pymodels.lanai.elf import Object
from pymodels.lanai.toolchain import compiled
from pymodels.roots import TREE

RUNTIME = TREE / "firmware" / "runtime"


def library(flags: Sequence[str]) -> list[Object]:
    """The begin of every program, then the run-time library, of which `link` takes what is missing."""
    target = [flag for flag in flags if flag.startswith("--target")]
    begin = compiled(RUNTIME / "crt0.S", target, TREE)
    return [begin, *(compiled(one, flags, TREE) for one in sorted(RUNTIME.glob("*.c")))]
