"""Finds modules by name instead of importing them: kinds of NIC, and what other folders have for each.

The one place that knows where they stand. Nothing is imported before somebody asks for it.
"""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

from pymodels.errors import SanlabError, nearest
from pymodels.roots import things

if TYPE_CHECKING:
    from pymodels.hardware.kind import NicKind

NICS = "pymodels/nics"
"""A kind of NIC is a folder here with a `kind.py`."""


def nic_kinds() -> tuple[str, ...]:
    """The names of all kinds of NIC, sorted."""
    return tuple(things(NICS, "*/kind.py"))


@cache
def nic_kind(name: str) -> NicKind:
    """A kind of NIC by its name. Raises SanlabError naming the nearest."""
    known = nic_kinds()
    if name not in known:
        raise SanlabError(f"unknown kind of NIC {name!r}", "a kind is a folder of pymodels/nics", nearest(name, known))
    found: NicKind = importlib.import_module(f"pymodels.nics.{name}.kind").KIND
    return found


def of_nic(pattern: str, name: str) -> ModuleType:
    """The module that others have for a kind of NIC, such as `firmware.nics.{}` with its name in the place of the
    braces. Raises SanlabError when there is none.
    """
    place = pattern.format(name)
    if importlib.util.find_spec(place) is None:
        raise SanlabError(f"NIC {name!r}", f"there is no module {place}", "write it, or use a NIC that has one")
    return importlib.import_module(place)
