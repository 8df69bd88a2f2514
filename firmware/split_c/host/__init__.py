"""Split-C over AM: global pointers, split-phase access, stores and spread arrays."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.split_c.host.errors import SplitCError
from firmware.split_c.host.library import SplitC
from firmware.split_c.host.pointers import Global, Spread
from firmware.split_c.options import Options
from pymodels.cards import CardMap

__all__ = ["Global", "SplitC", "SplitCError", "Spread"]


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Check the options. Raises OptionError."""
    Options.from_values(options)
