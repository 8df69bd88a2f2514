"""Modules by name, where the module may not exist."""

from __future__ import annotations

import importlib
from types import ModuleType


def module_if_there(name: str) -> ModuleType | None:
    """The module of this name; None where there is none. An import in it that fails is raised as it is."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if f"{name}.".startswith(f"{error.name}."):
            return None
        raise
