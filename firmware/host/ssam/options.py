"""Options of SSAM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from firmware.host.ssam.errors import OptionError
from pymodels.errors import nearest

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType({"requests": (1, 16)})


@dataclass(frozen=True)
class Options:
    """The options with their defaults."""

    requests: int = 4
    """Requests to a node that are not answered (ours: as many as HPAM's request buffers, paper 002)."""

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """From names and values. Raises OptionError."""
        for name, value in given.items():
            if name not in RANGES:
                raise OptionError(f"option {name!r}", "SSAM does not have it", nearest(name, RANGES))
            least, most = RANGES[name]
            if type(value) is not int or not least <= value <= most:
                raise OptionError(f"option {name}", f"{value!r} is not a whole number in {least}..{most}", "give one")
        return cls(**given)  # type: ignore[arg-type]

    def messages(self, nodes: int) -> int:
        """So many messages to a process can be under way at most; one more stands while its handler runs."""
        return 2 * self.requests * (nodes - 1) + 1
