"""Options of the FIFO card's driver."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """Options with their defaults."""

    form: str = option(
        "buffers",
        "buffers: TX_READY, pool and descriptors, as HPAM had; cells: FIFOs of cells, as SSAM had (paper 002)",
        choices=("buffers", "cells"),
    )
