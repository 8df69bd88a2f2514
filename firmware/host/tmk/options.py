"""Options of TreadMarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from firmware.host.tmk.errors import OptionError
from firmware.options import check_values

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType({"pages": (1, 65536), "collect_bytes": (256, 1 << 26)})


@dataclass(frozen=True)
class Options:
    """The options with their defaults."""

    pages: int = 4096
    """Of shared memory, 4 KB each."""
    collect_bytes: int = 1 << 20
    """A process with more of diffs, notices and intervals asks for a collection at the next barrier (readings C10)."""

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """From names and values, among which may be what the layer stands on. Raises OptionError."""
        own = {name: value for name, value in given.items() if name != "on"}
        check_values("TreadMarks", OptionError, own, RANGES)
        return cls(**own)  # type: ignore[arg-type]
