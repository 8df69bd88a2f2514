"""TPIL, the tunable PCI injection library (paper 003, C.7): moves bytes into a card's memory by the fastest method.

`create` is `tpil_create`; `Tpil.h2c`, `Tpil.benchmark` and `Tpil.configure` are the other three calls of the paper.
"""

from firmware.tpil.host.config import Config, Method
from firmware.tpil.host.driver import CardDma
from firmware.tpil.host.library import Tpil, TpilError

create = Tpil

__all__ = ["CardDma", "Config", "Method", "Tpil", "TpilError", "create"]
