"""The register map of the LANai 9 on a PCI64 card: offsets, bits, PCI address map, control-block layout.

Offsets and bits come from the fact sheet, sections 3.3 (registers), 3.5 (send and receive), 3.6 (chains), 3.7 (PCI map)
and 3.8 (doorbells). Names whose docstring or comment says *ours* are additions in places the chip leaves unused.
`python -m pymodels.registers --sv` rewrites `hdl/nic/common/myri_lanai9_pkg.sv` from this module; a parity test
compares.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum, IntFlag
from pathlib import Path

from pymodels.codes import quick


@quick
class Reg(IntEnum):
    """Special registers of LANai 9: byte offsets, one 32-bit register every 8 bytes (fact sheet 3.3)."""

    ISR = 0x050
    EIMR = 0x058
    IT0 = 0x060
    RTC = 0x068
    LAR = 0x070
    CPUC = 0x078
    PULSE = 0x0B8
    IT1 = 0x0C0
    IT2 = 0x0C8
    RMW = 0x0D0
    RMC = 0x0D8
    RMP = 0x0E0
    RML = 0x0E8
    SMP = 0x0F0
    SMH = 0x0F8
    SML = 0x100
    SMLT = 0x108
    SMC = 0x110
    SA = 0x118
    MYRINET = 0x130
    DEBUG = 0x138
    LED = 0x140
    WRITE_ENABLE = 0x150
    CLOCK = 0x1F8
    # Ours, in unused offsets.
    DMA_LIST0 = 0x080
    DMA_LIST1 = 0x088
    DMA_LIST2 = 0x090
    DMA_LIST3 = 0x098
    DOORBELL_OVERFLOWS = 0x158
    DMA_PROGRESS0 = 0x160
    DMA_PROGRESS1 = 0x168
    DMA_PROGRESS2 = 0x170
    DMA_PROGRESS3 = 0x178
    DOORBELL_PRODUCER0 = 0x180
    DOORBELL_PRODUCER1 = 0x188
    DOORBELL_PRODUCER2 = 0x190
    DOORBELL_PRODUCER3 = 0x198
    DOORBELL_CONSUMER0 = 0x1A0
    DOORBELL_CONSUMER1 = 0x1A8
    DOORBELL_CONSUMER2 = 0x1B0
    DOORBELL_CONSUMER3 = 0x1B8
    RECV_LENGTH = 0x1C0
    RECV_LOST = 0x1C8
    ERRORS = 0x1D0
    DMA_STATUS = 0x1D8


@quick
class Isr(IntEnum):
    """Bit numbers of ISR and EIMR (fact sheet 3.3); writing 1 clears, except the signal bit of the writing side."""

    HEAD = 0
    RECV = 1
    BUFF = 2
    SEND = 3
    WAKE1 = 4
    WAKE2 = 5
    TIME0 = 6
    TIME1 = 7
    ORUN1 = 8
    ORUN2 = 9
    ORUN4 = 10
    NRES = 11
    WAKE0 = 12
    TIME2 = 13
    MEM = 14
    PAR = 15
    LINK_DOWN = 16
    DATA_SENT = 17
    DATA_RECEIVED = 18
    BEAT_RECEIVED = 19
    ILLEGAL_RECEIVED = 20
    RX_TOO_LONG = 21
    TX_TOO_LONG = 22
    TX_BLOCKED = 23
    BEAT_MISSED = 24
    DOORBELL_OVERFLOW = 25  # ours
    DMA_ERROR = 26  # ours
    NET_ERROR = 27  # ours: misuse of the send engine, or a packet truncated by the network time-out
    LANAI_SIG = 29
    HOST_SIG = 30
    DEBUG = 31


class Myrinet(IntEnum):
    """Bit numbers of MYRINET; TIMEOUT is two bits: period = 1/16 s << (2 * code) (fact sheet 3.3, 3.4)."""

    NRES_EN = 0
    CRC32_EN = 1
    TX_CRC8_EN = 2
    RX_CRC8_EN = 3
    ILLEGAL_EN = 4
    BEAT_EN = 5
    TIMEOUT = 6
    WINDOW = 8


class Control(IntEnum):
    """Bit numbers of the control register, PCI offset 0x800040 (fact sheet 3.7); on/off pairs are commands."""

    FIFO_SIZE = 0
    MULTI_QUEUE = 3
    LIMIT_CHECK = 4
    TRIGGER0 = 20
    TRIGGER1 = 21
    TRIGGER2 = 22
    TRIGGER3 = 23
    IRQ_DISABLE = 24
    IRQ_ENABLE = 25
    BOARD_RESET_ON = 26
    BOARD_RESET_OFF = 27
    EBUS_RESET_ON = 28
    EBUS_RESET_OFF = 29
    LANAI_RESET_ON = 30
    LANAI_RESET_OFF = 31


@quick
class Pci(IntEnum):
    """Byte offsets within the card's 16 MB PCI region (fact sheet 3.7)."""

    SRAM = 0x000000
    CONFIG = 0x800000
    CONTROL = 0x800040
    POINTERS = 0x800100
    REGISTERS = 0x804000
    DOORBELL = 0x808000
    END = 0x1000000


@quick
class Block(IntEnum):
    """Byte offsets of the fields of a DMA control block, 32-bit big-endian words, 8-byte aligned (fact sheet 3.6)."""

    NEXT = 0
    CSUM = 4
    LEN = 8
    LAR = 12
    EAH = 16
    EAL = 20
    SIZE = 24


class Flag(IntFlag):
    """Flags in the low bits of a control block's `next` word (fact sheet 3.6)."""

    E2L = 1
    TERMINAL = 2
    WAKE = 4


class Error(IntEnum):
    """Bit numbers of ERRORS (ours): sticky, writing 1 clears."""

    SEND_MISUSE = 0
    RX_TRUNCATED = 1
    RX_RESET = 2
    PIO_MISUSE = 3
    DMA0 = 4
    DMA1 = 5
    DMA2 = 6
    DMA3 = 7
    DOORBELL_OVERFLOW = 8


@quick
class Size(IntEnum):
    """Sizes and counts."""

    CHAINS = 4
    DOORBELL_FIFOS = 4
    DOORBELL_ENTRY = 8
    DOORBELL_FIFO = 4096
    POINTERS = 16
    REGISTERS = 0x200
    SRAM_WINDOW = 0x800000
    VENDOR_ID = 0x14C1
    DEVICE_ID = 0x8043


MYRINET_AFTER_RESET = 1 << Myrinet.TX_CRC8_EN | 1 << Myrinet.RX_CRC8_EN | 1 << Myrinet.BEAT_EN
"""Value of MYRINET after reset (ours): CRC-8 and BEAT on, both ways; no network time-out."""

PACKAGE = Path(__file__).resolve().parent.parent / "hdl" / "nic" / "common" / "myri_lanai9_pkg.sv"
"""Path of the generated SystemVerilog package."""

Group = tuple[str, type[IntEnum] | type[IntFlag], int]
"""Prefix of the constants, their enumeration, their width in bits (0: a plain number)."""

_GROUPS: tuple[Group, ...] = (
    ("REG", Reg, 9),
    ("ISR", Isr, 0),
    ("MYRINET", Myrinet, 0),
    ("CTL", Control, 0),
    ("PCI", Pci, 25),
    ("BLOCK", Block, 0),
    ("FLAG", Flag, 3),
    ("ERR", Error, 0),
    ("SIZE", Size, 0),
)


def isr_mask(*bits: Isr) -> int:
    """Return the ISR word in which exactly the given bits are set."""
    return sum(1 << bit for bit in set(bits))


def nres_clocks(code: int, sixteenth: int) -> int:
    """Return the network time-out in clocks (fact sheet 3.4).

    Args:
        code: The TIMEOUT field of MYRINET, 0..3.
        sixteenth: Clocks in 1/16 s.

    Raises:
        ValueError: The code is outside 0..3.
    """
    if not 0 <= code <= 3:
        raise ValueError(f"TIMEOUT code {code} is not in 0..3")
    return sixteenth << (2 * code)


def _declare(name: str, value: int, width: int) -> str:
    if width == 0:
        return f"  localparam int {name} = {value};"
    return f"  localparam logic [{width - 1}:0] {name} = {width}'h{value:X};"


def declarations(package: str, source: str, groups: Sequence[Group], more: Sequence[str]) -> str:
    """Return the text of a SystemVerilog package.

    Args:
        package: Name of the package.
        source: Path of the Python module that defines the constants, for the header.
        groups: Enumerations to declare, with prefix and width.
        more: Further lines before `endpackage`.
    """
    lines = [
        f"// Register map of the NIC. GENERATED from {source} by `python -m {source[:-3].replace('/', '.')} --sv`;",
        "// edit that file, never this one.",
        f"package {package};",
        "  /* verilator lint_off UNUSEDPARAM */  // a map is whole; no block uses all of it",
    ]
    for prefix, group, width in groups:
        summary = (group.__doc__ or "").splitlines()[0]
        lines += ["", f"  // {summary}"]
        lines += [_declare(f"{prefix}_{name}", int(member), width) for name, member in group.__members__.items()]
    lines += [*more, "endpackage", ""]
    return "\n".join(lines)


def enumeration(name: str, prefix: str, members: Iterable[IntEnum], width: int) -> Iterator[str]:
    """Yield the lines of a SystemVerilog enumeration.

    Args:
        name: Name of the type, which gets the suffix `_t`.
        prefix: Prefix of the members' names.
        members: Members in the order of their declaration.
        width: Bits of the type.
    """
    yield f"  typedef enum logic [{width - 1}:0] {{"
    members = list(members)
    names = [member.name for member in members]
    longest = max(map(len, names))
    aligned = longest - min(map(len, names)) <= 2  # as the formatter does
    rows = [f"    {prefix}_{member.name:{longest if aligned else 0}} = {width}'d{int(member)}" for member in members]
    yield from (f"{row}," for row in rows[:-1])
    yield rows[-1]
    yield f"  }} {name}_t;"


def render(package: str, source: str, groups: Sequence[Group], myrinet: int) -> str:
    """Return the SystemVerilog package of a LANai: the constants of `groups`, and the value of MYRINET after reset."""
    more = ["", "  // MYRINET after reset.", _declare("MYRINET_AFTER_RESET", myrinet, 32)]
    return declarations(package, source, groups, more)


def package_text() -> str:
    """Return the SystemVerilog package with every constant of this module."""
    return render("myri_lanai9_pkg", "pymodels/registers.py", _GROUPS, MYRINET_AFTER_RESET)


def command(arguments: list[str], module: str, package: Path, text: str) -> int:
    """Run the command line of a register map: `--sv` writes the package; without arguments its text is printed."""
    if arguments not in ([], ["--sv"]):
        print(f"usage: python -m {module} [--sv]", file=sys.stderr)
        return 2
    if arguments:
        package.parent.mkdir(parents=True, exist_ok=True)
        package.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


def main(arguments: list[str]) -> int:
    """Run the command line of this register map."""
    return command(arguments, "pymodels.registers", PACKAGE, package_text())


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
