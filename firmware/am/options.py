"""Options of AM."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """The options with their defaults."""

    unrestricted: int = option(0, "1: handlers may make requests, which can deadlock", 0, 1)
    receive: str = option(
        "poll",
        "poll: handlers run in the program's calls; interrupt: they interrupt its computations, too (readings AM-C3)",
        choices=("poll", "interrupt"),
    )
