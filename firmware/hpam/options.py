"""Options of HPAM."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """The options with their defaults, all ours (readings AM-C6 to C8)."""

    timeout_us: int = option(500, "A request without an answer is sent again after so long", 20, 1_000_000)
    quantum_us: int = option(1000, "How long the daemon lets a process have the card while others wait", 50, 1_000_000)
    queue: int = option(32, "Messages that a process's input queue holds, and its output queue", 1, 256)
    unrestricted: int = option(0, "1: handlers may make requests, which can deadlock", 0, 1)
    duplicates: str = option(
        "drop",
        "drop: a request that comes twice is answered again; execute: its handler runs again (as paper 002 says)",
        choices=("drop", "execute"),
    )
