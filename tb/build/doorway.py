"""Doorway libraries: identical for every design, compiled once, copied into each build."""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path

from tb.build.compilers import DOORWAY, TWIN, run_tool
from tb.build.store import STORE, kept_by_sources
from tb.tools import programs
from tb.tools.programs import CC

DOORWAY_C = (
    "doorway.c",
    "processor.c",
    "core.c",
    "host_cpu.c",
    "faults.c",
    "strikes.c",
    "power.c",
    "capture.c",
    "circuit.c",
    "samples.c",
    "component.c",
    "use.c",
    "again.c",
    "messages.c",
)
PYTHON_C = (
    "doorway_python.c",
    "kernel_python.c",
    "turns_python.c",
    "verbs_python.c",
    "host_python.c",
    "polling_python.c",
)
"""Sources of the extension module `doorway_python`."""
FLAGS = ("-O2", "-shared", "-fPIC", "-Wall", "-Wextra")
LOADED = Path(__file__).read_bytes()
"""Text of this module when it was loaded, which builds follow even if the file changes later."""


def copy_doorway(folder: Path, store: Path = STORE) -> None:
    """Copy `libdoorway.so` (for both simulators and Python) and, if Python has headers, `doorway_python.so`
    into a folder.

    Raises ToolError with the compiler's output.
    """
    programs.check_compilers()
    libraries, _ = kept_by_sources(lambda: f"doorway-{_digest()}", _compile, store)
    for path in libraries.glob("*.so"):
        shutil.copy(path, folder)


def _compile(folder: Path) -> None:
    sources = [str(DOORWAY / name) for name in DOORWAY_C]
    run_tool([CC, *FLAGS, "-o", "libdoorway.so", *sources], folder, "building the doorway")
    if headers := programs.python_headers():
        flags = [*FLAGS, "-fvisibility=hidden", f"-I{headers}", f"-I{DOORWAY}"]
        sources = [str(TWIN / name) for name in PYTHON_C]
        run_tool([CC, *flags, "-o", "doorway_python.so", *sources], folder, "building the doorway's Python extension")


def _digest() -> str:
    digest = hashlib.sha256(repr((sys.version, str(programs.python_headers() or ""))).encode())
    digest.update(LOADED)
    for path in (file for folder in (DOORWAY, TWIN) for file in sorted(folder.glob("*.[ch]"))):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]
