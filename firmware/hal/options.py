"""Options of HAL."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.hal.nic.layout import WAYS
from firmware.options import LayerOptions, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """Options with their defaults."""

    routes: int = option(
        WAYS, "routes of a pair used in turn, packet by packet; limited by the number that exist", 1, WAYS
    )
    interrupt_delay_us: int = option(
        35, "time for which the interrupt routine polls for a further packet, after each (readings C21)", 0, 1000
    )
