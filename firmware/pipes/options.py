"""Options of Pipes."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.hal.host.interface import BUFFERS
from firmware.options import LayerOptions, OptionError, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """The options with their defaults (readings C19)."""

    STACKED = True

    window: int = option(32, "Packets of a pair that are not acknowledged", 2, BUFFERS)
    pipe_bytes: int = option(
        1 << 16,
        "Bytes of a pair that are written and not acknowledged, and that have come and are not read",
        2048,
        1 << 20,
    )
    timeout_us: int = option(1000, "A packet without an acknowledgement is sent again after so long", 10, 1_000_000)

    def check(self) -> None:
        """Raise OptionError for a size that is not a power of two."""
        if self.pipe_bytes & self.pipe_bytes - 1:
            raise OptionError("option pipe_bytes", f"{self.pipe_bytes} is not a power of two", "give one")
