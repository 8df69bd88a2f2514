"""Options of MPI."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """Options with their defaults."""

    STACKED = True

    eager_limit: int = option(
        4096, "size in bytes from which messages use the rendezvous protocol (paper 001, 6.5; readings C12)", 0, 1 << 24
    )
    version: str = option(
        "enhanced",
        "over LAPI: detection of a complete message (paper 001, 6.4)",
        choices=("enhanced", "counters", "base"),
    )
