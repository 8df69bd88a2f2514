"""Options of AM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from firmware.options import OptionError, check_values

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType({"unrestricted": (0, 1)})
WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType({"receive": ("poll", "interrupt")})


@dataclass(frozen=True)
class Options:
    """The options with their defaults."""

    unrestricted: int = 0
    """1: handlers may make requests, which can deadlock."""
    receive: str = "poll"
    """poll: handlers run in the program's calls; interrupt: they interrupt its computations, too (readings AM-C3)."""

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """From names and values. Raises OptionError."""
        check_values("AM", OptionError, given, RANGES, WORDS)
        return cls(**given)  # type: ignore[arg-type]
