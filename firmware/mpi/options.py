"""Options of MPI."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """The options with their defaults."""

    STACKED = True

    eager_limit: int = option(
        4096, "Messages of so many bytes or more ask before they are sent (paper 001, 6.5; readings C12)", 0, 1 << 24
    )
    version: str = option(
        "enhanced",
        "Over LAPI: how a rank learns that a message is whole (paper 001, 6.4)",
        choices=("enhanced", "counters", "base"),
    )
