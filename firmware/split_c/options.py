"""Options of Split-C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from firmware.options import OptionError, check_values

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType({"heap_kb": (4, 16_384)})


@dataclass(frozen=True)
class Options:
    """The options with their defaults."""

    heap_kb: int = 1024
    """Memory of a node that others may read and write, in units of 1,024 bytes."""

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """From names and values. Raises OptionError."""
        check_values("Split-C", OptionError, given, RANGES)
        return cls(**given)  # type: ignore[arg-type]
