"""Options of HPAM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from firmware.options import OptionError, check_values

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"timeout_us": (20, 1_000_000), "quantum_us": (50, 1_000_000), "queue": (1, 256), "unrestricted": (0, 1)}
)
WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType({"duplicates": ("drop", "execute")})


@dataclass(frozen=True)
class Options:
    """The options with their defaults, all ours (readings AM-C6 to C8)."""

    timeout_us: int = 500
    """A request without an answer is sent again after so long."""
    quantum_us: int = 1000
    """How long the daemon lets a process have the card while others wait."""
    queue: int = 32
    """Messages that a process's input queue holds, and its output queue."""
    unrestricted: int = 0
    """1: handlers may make requests, which can deadlock."""
    duplicates: str = "drop"
    """drop: a request that comes twice is answered again; execute: its handler runs again (as paper 002 says)."""

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """From names and values. Raises OptionError."""
        check_values("HPAM", OptionError, given, RANGES, WORDS)
        return cls(**given)  # type: ignore[arg-type]
