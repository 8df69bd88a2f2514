"""Options of AM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pymodels.errors import SanlabError, nearest

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType({"unrestricted": (0, 1)})


class OptionError(SanlabError):
    """An option that cannot be."""

    exit_code = 2


@dataclass(frozen=True)
class Options:
    """The options with their defaults."""

    unrestricted: int = 0
    """1: handlers may make requests, which can deadlock."""

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """From names and values. Raises OptionError."""
        for name, value in given.items():
            if name not in RANGES:
                raise OptionError(f"option {name!r}", "AM does not have it", nearest(name, RANGES))
            least, most = RANGES[name]
            if type(value) is not int or not least <= value <= most:
                raise OptionError(f"option {name}", f"{value!r} is not a whole number in {least}..{most}", "give one")
        return cls(**given)  # type: ignore[arg-type]
