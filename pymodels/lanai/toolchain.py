"""Compilation of C and assembly to object files, with clang-16 where it is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pymodels.errors import SanlabError
from pymodels.lanai.elf import Object

COMPILER = "clang-16"
LINES = ("-gline-tables-only", "-gdwarf-4", "-fdebug-compilation-dir=.")
"""Compiler flags for source lines in the map, which do not change the code."""


class CompileError(SanlabError):
    """Compiler error, or missing compiler."""


def compiled(source: Path, flags: Sequence[str], folder: Path) -> Object:
    """Return the object file of a source, with source lines relative to `folder`. Raises CompileError with clang's
    output.
    """
    if shutil.which(COMPILER) is None:
        raise CompileError(COMPILER, "is not installed", f"apt-get install {COMPILER}, or use what is committed")
    name = str(source.relative_to(folder))
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "made.o"
        command = [COMPILER, *flags, *LINES, "-c", name, "-o", str(made)]
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", cwd=folder, timeout=120, check=False
        )
        if done.returncode:
            raise CompileError(name, "does not compile", "\n" + done.stderr.strip())
        return Object.read(name, made.read_bytes())
