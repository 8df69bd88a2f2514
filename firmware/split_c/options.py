"""Options of Split-C."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """Options with their defaults."""

    STACKED = True

    heap_kb: int = option(1024, "Heap of a node that all nodes may read and write, in KiB", 4, 16_384)
