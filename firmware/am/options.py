"""Options of AM."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """Options with their defaults."""

    unrestricted: int = option(0, "1: handlers may send requests, which can deadlock", 0, 1)
    receive: str = option(
        "poll",
        "poll: handlers run in calls of AM; interrupt: they also interrupt computations (readings AM-C3)",
        choices=("poll", "interrupt"),
    )
