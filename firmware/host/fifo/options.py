"""Options of the FIFO card's driver: which of its forms the card has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pymodels.errors import SanlabError

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType({})
WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType({"form": ("buffers", "cells")})


class OptionError(SanlabError):
    """An option of the layer that cannot be, or a card that it cannot run on."""

    exit_code = 2


@dataclass(frozen=True)
class Options:
    """The options with their defaults."""

    form: str = "buffers"
    """buffers: TX_READY, pool and descriptors, as HPAM had; cells: FIFOs of cells, as SSAM had (paper 002)."""
