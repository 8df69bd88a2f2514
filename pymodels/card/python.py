"""Circuits in Python by name (`module:function`), and their exchange with circuits in SystemVerilog.

Modules are found as Python finds them, and in the roots of SANLAB_PATH: with `SANLAB_PATH=/home/me/mylab`, the module
`mylab.circuits` is `/home/me/mylab/circuits.py`.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace

from pymodels import roots
from pymodels.card.fabric import Circuit
from pymodels.card.slot import Function
from pymodels.errors import SanlabError, nearest

BESIDE = "pymodels.card.prototypes"
"""Module with the circuits in Python beside those of `hdl/card`."""
PREFIX = "myri_circuit_"
FILE, RTL, PYTHON = "file", "rtl", "python"
KINDS = (FILE, RTL, PYTHON)
"""Values of `fpga.circuits`: as the circuit file says, all in SystemVerilog, all in Python."""


def is_python(name: str) -> bool:
    """Return True if a name of the circuit file is that of a circuit in Python."""
    return ":" in name


def short_name(python: str) -> str:
    """Return the name of a circuit in Python: its function."""
    return python.rpartition(":")[2]


def built() -> list[str]:
    """Return the names of the circuits in SystemVerilog of all roots, sorted."""
    files = (path for root in roots.roots() for path in (root / "hdl").rglob(f"{PREFIX}*.sv"))
    return sorted({path.stem.removeprefix(PREFIX) for path in files})


def load(python: str) -> Function:
    """Return the coroutine function of a circuit in Python.

    Raises SanlabError for a name, module or function that is invalid or missing, and for a function that is not async.
    """
    module_name, _, name = python.partition(":")
    parts = module_name.split(".")
    if not all(part.isidentifier() for part in (*parts, name)):
        raise SanlabError(f"circuit {python!r}", "is not a name of a function", "write <module>:<function>")
    for folder in _folders(parts[0]):
        if folder not in sys.path:
            sys.path.append(folder)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if not f"{module_name}.".startswith(f"{error.name}."):
            raise _broken(python, error) from error
        remedy = "correct the name, or name the folder of its package in SANLAB_PATH"
        raise SanlabError(f"circuit {python!r}", f"module {error.name} does not exist", remedy) from None
    except Exception as error:
        raise _broken(python, error) from error
    functions = {key: value for key, value in vars(module).items() if inspect.iscoroutinefunction(value)}
    if name in functions:
        found: Function = functions[name]
        return found
    if hasattr(module, name):
        cause, remedy = f"{name} of {module_name} is not an async function", f"write async def {name}(slot)"
    else:
        cause, remedy = f"module {module_name} has no function {name}", nearest(name, functions)
    raise SanlabError(f"circuit {python!r}", cause, remedy)


def _folders(top: str) -> list[str]:
    """Return the folders of roots in which a top-level package or module may be."""
    outside = roots.roots()[1:]
    named = [str(root.parent) for root in outside if root.name == top]
    return named + [str(root) for root in outside if (root / top).is_dir() or (root / f"{top}.py").is_file()]


def _broken(python: str, error: Exception) -> SanlabError:
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{last.filename}:{last.lineno}"
    if isinstance(error, SyntaxError):
        where = f"{error.filename}:{error.lineno}"
    cause = f"its module cannot be imported: {type(error).__name__}: {error} ({where})"
    return SanlabError(f"circuit {python!r}", cause, "correct the module")


def exchanged(circuits: Sequence[Circuit], kind: str) -> tuple[Circuit, ...]:
    """Return circuits with those of the other kind exchanged.

    Args:
        circuits: Circuits of the card.
        kind: One of KINDS.

    Raises:
        SanlabError: A circuit does not exist as this kind.
    """
    if kind == PYTHON:
        return tuple(one if one.python else replace(one, python=_in_python(one)) for one in circuits)
    if kind == RTL:
        return tuple(_in_rtl(one) for one in circuits)
    return tuple(circuits)


def _in_python(circuit: Circuit) -> str:
    if circuit.beside:
        return circuit.beside
    try:
        load(f"{BESIDE}:{circuit.name}")
    except SanlabError:
        remedy = f"write it in the circuit file: {circuit.image} {circuit.slot} {circuit.name} <module>:<function>"
        raise SanlabError(f"circuit {circuit.name!r}", "has no circuit in Python beside it", remedy) from None
    return f"{BESIDE}:{circuit.name}"


def _in_rtl(circuit: Circuit) -> Circuit:
    if circuit.python and circuit.name not in built():
        cause = f"{circuit.python} has no circuit in SystemVerilog beside it"
        remedy = f"write {PREFIX}{circuit.name}.sv in hdl/ of your root, and a line of hdl/sources.f for it"
        raise SanlabError(f"circuit {circuit.name!r}", cause, remedy)
    return replace(circuit, python="", beside=circuit.python) if circuit.python else circuit
