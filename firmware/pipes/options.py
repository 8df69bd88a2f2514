"""Options of Pipes."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.hal.host.interface import BUFFERS
from firmware.options import LayerOptions, OptionError, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """Options with their defaults (readings C19)."""

    STACKED = True

    window: int = option(32, "unacknowledged packets of a pair", 2, BUFFERS)
    pipe_bytes: int = option(
        1 << 16,
        "unacknowledged bytes of a pair at the sender, and unread bytes at the receiver",
        2048,
        1 << 20,
    )
    timeout_us: int = option(1000, "time after which an unacknowledged packet is retransmitted", 10, 1_000_000)

    def check(self) -> None:
        """Raise OptionError for a pipe size that is not a power of two."""
        if self.pipe_bytes & self.pipe_bytes - 1:
            raise OptionError("option pipe_bytes", f"{self.pipe_bytes} is not a power of two", "give a power of two")
