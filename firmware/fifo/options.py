"""Options of the FIFO card's driver: which of its forms the card has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType({})
WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType({"form": ("buffers", "cells")})


@dataclass(frozen=True)
class Options:
    """The options with their defaults."""

    form: str = "buffers"
    """buffers: TX_READY, pool and descriptors, as HPAM had; cells: FIFOs of cells, as SSAM had (paper 002)."""
