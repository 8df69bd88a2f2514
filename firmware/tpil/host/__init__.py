"""TPIL, the tunable PCI injection library (paper 003, C.7): moves bytes into a card's memory by the fastest method.

`create` is `tpil_create`; `Tpil.h2c`, `Tpil.benchmark` and `Tpil.configure` are the other three calls of the paper.
"""

from firmware.tpil.host.config import Config, Method
from firmware.tpil.host.driver import CardDma
from firmware.tpil.host.errors import CardGoneError, TpilError
from firmware.tpil.host.export import read_config, write_config, write_header
from firmware.tpil.host.library import Tpil

create = Tpil

__all__ = [
    "CardDma",
    "CardGoneError",
    "Config",
    "Method",
    "Tpil",
    "TpilError",
    "create",
    "read_config",
    "write_config",
    "write_header",
]
