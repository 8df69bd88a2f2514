"""Options of MPI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pymodels.errors import SanlabError, nearest

WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType({"version": ("enhanced", "counters", "base")})
RANGES: Mapping[str, tuple[int, int]] = MappingProxyType({"eager_limit": (0, 1 << 24)})


class OptionError(SanlabError):
    """An option that cannot be."""

    exit_code = 2


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
        for name, value in own.items():
            if name in WORDS:
                if value not in WORDS[name]:
                    cause = f"{value!r} is none of its words"
                    raise OptionError(f"option {name}", cause, nearest(str(value), WORDS[name]))
                continue
            if name not in RANGES:
                raise OptionError(f"option {name!r}", "MPI does not have it", nearest(name, (*RANGES, *WORDS)))
            least, most = RANGES[name]
            if type(value) is not int or not least <= value <= most:
                raise OptionError(f"option {name}", f"{value!r} is not a whole number in {least}..{most}", "give one")
        return cls(**own)  # type: ignore[arg-type]
