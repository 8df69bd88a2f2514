"""Options of HAL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from firmware.hal.nic.layout import WAYS
from firmware.options import OptionError, check_values

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType({"routes": (1, WAYS), "interrupt_delay_us": (0, 1000)})


@dataclass(frozen=True)
class Options:
    """The options with their defaults."""

    routes: int = WAYS
    """So many routes of a pair are taken in turn, packet by packet; all, if it has fewer."""
    interrupt_delay_us: int = 35
    """The service routine waits so long for a further packet, after each (readings C21)."""

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """From names and values. Raises OptionError."""
        check_values("HAL", OptionError, given, RANGES)
        return cls(**given)  # type: ignore[arg-type]
