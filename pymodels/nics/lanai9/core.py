"""Processor of a LANai 9 for firmware in C."""

from __future__ import annotations

from pymodels.lanai.chips import LANAI9, for_clang
from pymodels.lanai.header import NicCore
from pymodels.registers import Isr, Reg

CORE = NicCore("a LANai 9", for_clang(LANAI9), "pymodels/registers.py", Reg, Isr)
