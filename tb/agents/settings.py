"""Inputs of bundles of settings: packed structs, written field by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pymodels.settings import Bundle


class SettingsPort:
    """One such input.

    Args:
        handle: The port.
        bundle: Its type.
        prefix: What the names of its settings begin with in a bench.
    """

    def __init__(self, handle: Any, bundle: Bundle, prefix: str = "cfg_") -> None:
        self._handle, self._bundle, self._prefix = handle, bundle, prefix
        self._values = {name: 0 for name, _ in bundle.fields()}

    def take(self, name: str, value: int) -> bool:
        """Change one setting; whether it is one of these. OverflowError for a value that does not fit."""
        field = name.removeprefix(self._prefix)
        if not name.startswith(self._prefix) or field not in self._values:
            return False
        self._values[field] = value
        self._handle.value = self._bundle.packed(self._values)
        return True


def drive(dut: Any, values: Mapping[str, int], ports: Iterable[SettingsPort] = ()) -> None:
    """Write inputs by name, settings to the port that has them."""
    for name, value in values.items():
        if not any(port.take(name, value) for port in ports):
            dut[name].value = value
