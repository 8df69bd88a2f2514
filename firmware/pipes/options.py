"""Options of Pipes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from firmware.hal.host.interface import BUFFERS
from firmware.options import OptionError, check_values

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"window": (2, BUFFERS), "pipe_bytes": (2048, 1 << 20), "timeout_us": (10, 1_000_000)}
)


@dataclass(frozen=True)
class Options:
    """The options with their defaults (readings C19)."""

    window: int = 32
    """Packets of a pair that are not acknowledged."""
    pipe_bytes: int = 1 << 16
    """Bytes of a pair that are written and not acknowledged, and that have come and are not read."""
    timeout_us: int = 1000
    """A packet without an acknowledgement is sent again after so long."""

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """From names and values, among which may be what the layer stands on. Raises OptionError."""
        own = {name: value for name, value in given.items() if name != "on"}
        check_values("Pipes", OptionError, own, RANGES)
        chosen = own.get("pipe_bytes", cls.pipe_bytes)
        if isinstance(chosen, int) and chosen & chosen - 1:
            raise OptionError("option pipe_bytes", f"{chosen} is not a power of two", "give one")
        return cls(**own)  # type: ignore[arg-type]
