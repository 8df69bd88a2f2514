"""Lookup of modules by the name of a kind of NIC.

Only this module knows the folders. Modules are imported on demand.
"""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

from pymodels.errors import SanlabError, nearest
from pymodels.roots import files_by_name

if TYPE_CHECKING:
    from pymodels.hardware.kind import NicKind

NICS = "pymodels/nics"
"""Folder with one folder for each kind of NIC, which contains its `kind.py`."""


def nic_kinds() -> tuple[str, ...]:
    """Return the names of all kinds of NIC, sorted."""
    return tuple(files_by_name(NICS, "*/kind.py"))


@cache
def nic_kind(name: str) -> NicKind:
    """Return the kind of NIC with a name. Raises SanlabError for an unknown name."""
    known = nic_kinds()
    if name not in known:
        raise SanlabError(f"unknown kind of NIC {name!r}", "a kind is a folder of pymodels/nics", nearest(name, known))
    found: NicKind = importlib.import_module(f"pymodels.nics.{name}.kind").KIND
    return found


def kinds_on_boards() -> dict[int, str]:
    """Return the kinds of NIC that FPGA boards hold, by their numbers in the identity of a board."""
    return {number: name for name in nic_kinds() if (number := nic_kind(name).board)}


def module_of_nic(pattern: str, name: str) -> ModuleType:
    """Import the module for a kind of NIC whose name is `pattern` with the kind in place of `{}`, as in
    `firmware.nics.{}`.

    Raises SanlabError if there is no such module.
    """
    place = pattern.format(name)
    if importlib.util.find_spec(place) is None:
        raise SanlabError(f"NIC {name!r}", f"module {place} does not exist", "write it, or use a NIC that has one")
    return importlib.import_module(place)
