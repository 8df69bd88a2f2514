"""Options of Split-C."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """The options with their defaults."""

    STACKED = True

    heap_kb: int = option(1024, "Memory of a node that others may read and write, in units of 1,024 bytes", 4, 16_384)
