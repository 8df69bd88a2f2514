"""Options of HPAM."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """Options with their defaults, all ours (readings AM-C6 to C8)."""

    timeout_us: int = option(500, "time after which a request without a reply is retransmitted", 20, 1_000_000)
    quantum_us: int = option(1000, "time for which a process has the card while others wait", 50, 1_000_000)
    queue: int = option(32, "messages in a process's input queue, and in its output queue", 1, 256)
    unrestricted: int = option(0, "1: handlers may send requests, which can deadlock", 0, 1)
    duplicates: str = option(
        "drop",
        "drop: the reply to a duplicate request is sent again; execute: its handler runs again (paper 002)",
        choices=("drop", "execute"),
    )
