"""Processor of a LANai 4 for firmware in C, with the instructions that clang emits and without contexts."""

from __future__ import annotations

from pymodels.lanai.chips import LANAI4, for_clang
from pymodels.lanai.header import NicCore
from pymodels.nics.lanai4.registers import WORD, Isr4, Reg4

_LIMITS = (Reg4.RML, Reg4.SML, Reg4.SMLT)
CORE = NicCore(
    "a LANai 4", for_clang(LANAI4), "pymodels/nics/lanai4/registers.py", Reg4, Isr4, limits=_LIMITS, word_bytes=WORD
)
