"""Import of modules that may not exist."""

from __future__ import annotations

import importlib
from types import ModuleType


def module_if_there(name: str) -> ModuleType | None:
    """Return the module of a name, or None if it does not exist. A failed import inside the module is raised."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if f"{name}.".startswith(f"{error.name}."):
            return None
        raise
