"""Options of SSAM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from firmware.options import OptionError, check_values

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType({"requests": (1, 16)})


@dataclass(frozen=True)
class Options:
    """The options with their defaults."""

    requests: int = 4
    """Requests to a node that are not answered (ours: as many as HPAM's request buffers, paper 002)."""

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """From names and values. Raises OptionError."""
        check_values("SSAM", OptionError, given, RANGES)
        return cls(**given)  # type: ignore[arg-type]

    def messages(self, nodes: int) -> int:
        """So many messages to a process can be under way at most; one more stands while its handler runs."""
        return 2 * self.requests * (nodes - 1) + 1
