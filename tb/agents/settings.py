"""Agent for settings inputs: ports of a packed struct type, driven field by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pymodels.settings import Bundle


class SettingsPort:
    """Input port whose type is a bundle of settings.

    Args:
        handle: Handle of the port.
        bundle: Type of the port.
        prefix: Prefix of the settings' names in the bench.
    """

    def __init__(self, handle: Any, bundle: Bundle, prefix: str = "cfg_") -> None:
        self._handle, self._bundle, self._prefix = handle, bundle, prefix
        self._values = {name: 0 for name, _ in bundle.fields()}

    def take(self, name: str, value: int) -> bool:
        """Drive one setting and return True, or return False if the bundle lacks it.

        Raises:
            OverflowError: The value exceeds the width of the field.
        """
        field = name.removeprefix(self._prefix)
        if not name.startswith(self._prefix) or field not in self._values:
            return False
        self._values[field] = value
        self._handle.value = self._bundle.packed(self._values)
        return True


def drive(dut: Any, values: Mapping[str, int], ports: Iterable[SettingsPort] = ()) -> None:
    """Drive inputs by name: settings at the port whose bundle has them, other names at the wire of that name."""
    for name, value in values.items():
        if not any(port.take(name, value) for port in ports):
            dut[name].value = value
