"""Options of HAL."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.hal.nic.layout import WAYS
from firmware.options import LayerOptions, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """The options with their defaults."""

    routes: int = option(
        WAYS, "So many routes of a pair are taken in turn, packet by packet; all, if it has fewer", 1, WAYS
    )
    interrupt_delay_us: int = option(
        35, "The service routine waits so long for a further packet, after each (readings C21)", 0, 1000
    )
