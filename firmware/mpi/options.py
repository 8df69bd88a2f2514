"""Options of MPI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from firmware.options import OptionError, check_values

WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType({"version": ("enhanced", "counters", "base")})
RANGES: Mapping[str, tuple[int, int]] = MappingProxyType({"eager_limit": (0, 1 << 24)})


@dataclass(frozen=True)
class Options:
    """The options with their defaults."""

    eager_limit: int = 4096
    """Messages of so many bytes or more ask before they are sent (paper 001, 6.5; readings C12)."""
    version: str = WORDS["version"][0]
    """Over LAPI: how a rank learns that a message is whole (paper 001, 6.4)."""

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """From names and values, among which may be what the layer stands on. Raises OptionError."""
        own = {name: value for name, value in given.items() if name != "on"}
        check_values("MPI", OptionError, own, RANGES, WORDS)
        return cls(**own)  # type: ignore[arg-type]
