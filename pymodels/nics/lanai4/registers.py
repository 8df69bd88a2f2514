"""Register map of the LANai 4 on a PCI32 card, and translation from the register names that firmware uses.

Offsets and bits come from the fact sheet, sections 3.2 (registers), 3.4 (time-out codes), 3.5 (limits) and 3.7 (PCI
map). Names marked *ours* are additions in places that the chip leaves unused. Both chips run the same firmware. It uses
the registers and bits of the LANai 9 (`pymodels.registers`), `Ebus` for what only the LANai 4 has, and exclusive byte
limits. The verbs translate with `place`, `written`, `shown` and `bits_here`.

`python -m pymodels.nics.lanai4.registers --sv` rewrites `hdl/nic/lanai4/myri_lanai4_pkg.sv` from this module; a parity
test compares.
"""

from __future__ import annotations

import sys
from enum import IntEnum
from pathlib import Path

from pymodels import registers
from pymodels.codes import quick
from pymodels.registers import Isr, Reg

WORD = 4
"""Bytes of an SRAM word: the step of RMP, and the granularity of limits and host DMA (fact sheet 3.1, 3.5)."""


class Reg4(IntEnum):
    """Special registers of LANai 4: byte offsets, one 32-bit register every 4 bytes (fact sheet 3.2)."""

    ISR = 0x28
    EIMR = 0x2C
    IT = 0x30
    RTC = 0x34
    CKS = 0x38
    EAR = 0x3C
    LAR = 0x40
    DMA_CTR = 0x44
    RMP = 0x48
    RML = 0x4C
    SMP = 0x50
    SML = 0x54
    SMLT = 0x58
    RB = 0x60
    RH = 0x64
    RW = 0x68
    SA = 0x6C
    SB = 0x70
    SH = 0x74
    SW = 0x78
    ST = 0x7C
    DMA_DIR = 0x80
    DMA_STS = 0x84
    TIMEOUT = 0x88
    MYRINET = 0x8C
    DEBUG = 0x90
    LED = 0x94
    VERSION = 0x98
    WRITE_ENABLE = 0x9C
    # Ours, in unused offsets.
    RECV_LENGTH = 0xA0
    RECV_LOST = 0xA4
    ERRORS = 0xA8
    DMA_STATUS = 0xAC


class Isr4(IntEnum):
    """Bit numbers of ISR and EIMR (fact sheet 3.2); writing 1 clears, except the signal bits of the writing side."""

    BYTE_RDY = 0
    RECV = 1
    BUFF = 2
    SEND = 3
    DMA = 4
    TIME = 5
    WDOG = 6
    TAIL = 7
    OFF_BY_1 = 8
    OFF_BY_2 = 9
    WAKE = 10
    NRES = 11
    LINK = 12
    SEND_RDY = 13
    HALF_RDY = 14
    WORD_RDY = 15
    LAN0_SIG = 16
    LAN7_SIG = 23
    DMA_ERROR = 26  # ours
    NET_ERROR = 27  # ours: misuse of an engine, or a packet truncated by the network timeout
    HOST_SIG = 30
    DBG = 31


class Myrinet4(IntEnum):
    """Bit numbers of MYRINET (fact sheet 3.2)."""

    NRES_EN = 0
    CRC_EN = 1


class Pci4(IntEnum):
    """Byte offsets within the card's PCI region (fact sheet 3.7); 1 MB of SRAM is mapped behind the rest."""

    SRAM = 0x000000
    EEPROM = 0x080000
    REGISTERS = 0x0C0000
    CONTROL = 0x0E0000
    CONFIG = 0x0E0040
    SRAM_1MB = 0x100000
    END = 0x200000


class Error4(IntEnum):
    """Bit numbers of ERRORS (ours): sticky, writing 1 clears."""

    SEND_MISUSE = 0
    RX_TRUNCATED = 1
    RX_RESET = 2
    PIO_MISUSE = 3
    DMA = 4
    DMA_MISUSE = 5


class Size4(IntEnum):
    """Sizes and counts."""

    REGISTERS = 0x100
    SRAM = 0x100000
    VERSION = 0x43


@quick
class Ebus(IntEnum):
    """Registers that only the LANai 4 has, as numbered by firmware (ours: numbers outside of the LANai 9 offsets)."""

    EAR = 0x200
    LAR = 0x204
    DMA_DIR = 0x208
    DMA_CTR = 0x20C


MYRINET_AFTER_RESET = 1 << Myrinet4.CRC_EN
"""Value of MYRINET after reset (ours): CRC-8 on, no network time-out."""

PACKAGE = Path(__file__).resolve().parents[3] / "hdl" / "nic" / "lanai4" / "myri_lanai4_pkg.sv"
"""Path of the generated SystemVerilog package."""

_PLACES: dict[int, Reg4] = {
    **{Reg[name]: Reg4[name] for name in Reg.__members__ if name in Reg4.__members__ and name != "LAR"},
    **{Ebus[name]: Reg4[name] for name in Ebus.__members__},
    Reg.IT0: Reg4.IT,
}
_LIMITS = frozenset((Reg4.SML, Reg4.SMLT, Reg4.RML))
_BITS: dict[int, int] = {
    **{Isr[name]: Isr4[name] for name in Isr.__members__ if name in Isr4.__members__},
    Isr.WAKE1: Isr4.DMA,
    Isr.TIME0: Isr4.TIME,
    Isr.ORUN1: Isr4.OFF_BY_1,
    Isr.ORUN2: Isr4.OFF_BY_2,
    Isr.LINK_DOWN: Isr4.LINK,
    Isr.LANAI_SIG: Isr4.LAN0_SIG,
    Isr.DEBUG: Isr4.DBG,
}
"""ISR bits of the LANai 4 by their LANai 9 number. The LANai 4 lacks bits that are not listed, such as HEAD."""


def place(register: int) -> Reg4:
    """Return the chip's register for a register that firmware uses. Raises ValueError if the LANai 4 lacks it."""
    try:
        return _PLACES[register]
    except KeyError:
        name = Reg(register).name if register in Reg.__members__.values() else f"{register:#x}"
        raise ValueError(f"the LANai 4 has no register {name}") from None


def name_at(offset: int) -> int | None:
    """Return the register number in firmware for an offset of this chip, or None."""
    return next((register for register, here in _PLACES.items() if here == offset), None)


def bits_here(value: int) -> int:
    """Return a word of ISR bits translated from firmware's to this chip's numbering; bits that it lacks are dropped."""
    return sum(1 << here for there, here in _BITS.items() if value >> there & 1)


def bits_there(value: int) -> int:
    """Return a word of ISR bits translated from this chip's to firmware's numbering: the inverse of `bits_here`."""
    return sum(1 << there for there, here in _BITS.items() if value >> here & 1)


def written(register: Reg4, value: int) -> int:
    """Return the value for the chip's register, given firmware's value.

    A limit of the chip is the address of the last word (fact sheet 3.5), and ISR has its own bits.
    """
    if register in _LIMITS:
        return value - WORD & 0xFFFFFFFF
    return bits_here(value) if register in (Reg4.ISR, Reg4.EIMR) else value


def shown(register: Reg4, value: int) -> int:
    """Return the value for firmware, given the value of the chip's register: the inverse of `written`."""
    if register in _LIMITS:
        return value + WORD & 0xFFFFFFFF
    return bits_there(value) if register in (Reg4.ISR, Reg4.EIMR) else value


def package_text() -> str:
    """Return the SystemVerilog package with every constant of this module."""
    groups: tuple[registers.Group, ...] = (
        ("REG", Reg4, 9),
        ("ISR", Isr4, 0),
        ("MYRINET", Myrinet4, 0),
        ("PCI", Pci4, 25),
        ("CTL", registers.Control, 0),
        ("ERR", Error4, 0),
        ("SIZE", Size4, 0),
    )
    return registers.render("myri_lanai4_pkg", "pymodels/nics/lanai4/registers.py", groups, MYRINET_AFTER_RESET)


if __name__ == "__main__":
    raise SystemExit(registers.command(sys.argv[1:], "pymodels.nics.lanai4.registers", PACKAGE, package_text()))
