"""The one register map of the FPGA card: its window on the PCI bus, its registers, its limits.

Banks, ownership, mailboxes, the one-bit ports and the clock range follow the fact sheet, section 5 (RC1000); offsets
and everything that the message shell of the FPGA needs are ours. Registers are big-endian 32-bit words in byte address
order, as the NIC's are. `python -m pymodels.card.registers --sv` rewrites `hdl/card/myri_card_pkg.sv`; a parity test
compares.
"""

from __future__ import annotations

import sys
from enum import IntEnum
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "hdl" / "card" / "myri_card_pkg.sv"
BANKS = 4
BANK_BYTES = 0x200000
"""2 MB a bank, one contiguous card address space of 8 MB (fact sheet 5)."""
REGISTERS = 0x800000
"""Registers stand here in the card's 16 MB window."""
SLOTS = 4
"""Computational slots of an image."""
CIRCUITS = 16
"""Circuits that the handler and forwarding tables know, by number."""
NO_SUCH_IMAGE = 1 << 30
"""IMAGE: no circuit file has an image of the number that was written; none is loaded."""
FABRIC_MHZ = 100
"""The fastest user clock; a slower one is this over CLOCK (fact sheet 5: 400 kHz to 100 MHz)."""


class CardReg(IntEnum):
    """Registers of the card: byte offsets from REGISTERS."""

    BACK0 = 0x00
    """Back pointer of the incoming queue in bank 0, written by the NIC after each message."""
    BACK1 = 0x04
    """The same in bank 1; messages alternate between the two."""
    LIMIT = 0x08
    """Incoming rings: a message begins below this offset."""
    SELF = 0x0C
    """{own channel 8 [23:16], own endpoint 16}."""
    RUN = 0x10
    """Bit 0: the shell takes messages (GPO). Reads: bit 0 as the fabric sees it (GPI)."""
    CLOCK = 0x14
    """The user clock is FABRIC_MHZ / (this + 1), 0..249."""
    IMAGE = 0x18
    """Write: load the image of this number (0: none) as soon as the message in work is done with. Reads: {loading 1
    [31], NO_SUCH_IMAGE [30], image 8}.
    """
    CONFIG_CLOCKS = 0x1C
    """PCI clocks that loading an image takes."""
    OWN = 0x20
    """Banks asked for by the host, bits 3:0 (REQ); granted to the host in bits 7:4 (GNT)."""
    CONTROL = 0x24
    """Mailbox to the FPGA, 8 bits: a write waits until the one before was read."""
    STATUS = 0x28
    """Mailbox from the FPGA, 8 bits and bit 8 = there is one; a write takes it (reads have no side effect)."""
    CONTROL_HANDLER = 0x2C
    """Handler number of the message that sets a forwarding entry."""
    ERROR_HANDLER = 0x30
    """Handler number, at the source, that is called for a message to an unknown circuit; 0: none."""
    NIC_QUEUE = 0x34
    """PCI address of the card's channel queue in the NIC."""
    NIC_LIMIT = 0x38
    """That ring: a message begins below this offset."""
    NIC_BACK = 0x3C
    """PCI address of the channel's back pointer (or doorbell)."""
    NIC_FRONT = 0x40
    """PCI address of the channel's front pointer."""
    NIC_READ0 = 0x44
    """PCI address of the word that tells the NI how far the card has read queue 0."""
    NIC_READ1 = 0x48
    """The same for queue 1."""
    DMA_SOURCE = 0x4C
    """Card-mastered DMA: physical address in the host."""
    DMA_TARGET = 0x50
    """Byte offset in the banks, a multiple of 8 plus the source's offset in its 8 bytes."""
    DMA_BYTES = 0x54
    """Bytes, 1..65535; writing it starts the transfer. Reads: bytes asked for while it runs, 0 when it is done."""
    MESSAGES = 0x58
    """Messages taken since reset."""
    RESULTS = 0x5C
    """Results given to the NIC since reset."""
    REFUSED = 0x60
    """Messages for an unknown circuit since reset."""
    HANDLER = 0x80
    """CIRCUITS words: {valid [31], handler number 16} of each circuit."""


class Status(IntEnum):
    """What the fabric tells the bus side: indices of its status words (internal to the card)."""

    RUN = 0
    IMAGE = 1
    MESSAGES = 2
    RESULTS = 3
    REFUSED = 4
    MAILBOX = 5
    CONTROL_READ = 6


class Command(IntEnum):
    """Commands of the control mailbox, a byte each; the shell answers with the same byte when it has executed one."""

    RESUME = 0
    PAUSE = 1
    """Finish the message in work, take no further one."""


class CardError(IntEnum):
    """First argument of the message that reports an error to a source."""

    UNKNOWN_CIRCUIT = 1
    """Second argument: the handler that is no circuit's."""
    UNKNOWN_ENTRY = 2
    """Second argument: the number that is no circuit's, in a control message."""


class Purpose(IntEnum):
    """Whose a message is, as the shell decides (internal to the card)."""

    CIRCUIT = 0
    TABLE = 1
    """The control handler's: it sets a forwarding entry."""
    REFUSAL = 2
    """No circuit's: its source is notified."""
    NO_ENTRY = 3
    """The control handler's, for a number that no circuit has: its source is notified."""


class Forward(IntEnum):
    """Where a circuit's results go: bits 31:30 of the first word of its forwarding entry."""

    NOWHERE = 0
    """The result is dropped."""
    ENDPOINT = 1
    """To the endpoint and handler of the entry."""
    REPLY = 2
    """Back to the source, to the handler that the message's last argument names."""


def entry(mode: Forward, endpoint: int = 0, channel: int = 0, handler: int = 0) -> tuple[int, int]:
    """The two words of a forwarding entry: arguments 1 and 2 of the message that sets it (argument 0: the circuit)."""
    return mode << 30 | channel << 16 | endpoint, handler


def package_text() -> str:
    """The SystemVerilog package with every constant of this module."""
    lines = [
        "// Register map of the FPGA card. GENERATED from pymodels/card/registers.py by",
        "// `python -m pymodels.card.registers --sv`; edit that file, never this one.",
        "package myri_card_pkg;",
        "  /* verilator lint_off UNUSEDPARAM */  // a map is whole; no block uses all of it",
        "",
        f"  localparam int CARD_SLOTS = {SLOTS};",
        f"  localparam int CARD_CIRCUITS = {CIRCUITS};",
        "",
        "  // Registers: byte offsets.",
    ]
    lines += [
        f"  localparam logic [7:0] CARD_{name} = 8'h{int(value):02X};" for name, value in CardReg.__members__.items()
    ]
    lines += ["", "  // Status words, commands of the control mailbox."]
    lines += [
        f"  localparam logic [2:0] STATUS_{name} = 3'd{int(value)};" for name, value in Status.__members__.items()
    ]
    lines += [
        f"  localparam logic [7:0] COMMAND_{name} = 8'd{int(value)};" for name, value in Command.__members__.items()
    ]
    lines += ["", "  // Whose a message is, modes of a forwarding entry, and causes of an error."]
    lines += [
        f"  localparam logic [1:0] PURPOSE_{name} = 2'd{int(value)};" for name, value in Purpose.__members__.items()
    ]
    lines += [
        f"  localparam logic [1:0] FORWARD_{name} = 2'd{int(value)};" for name, value in Forward.__members__.items()
    ]
    lines += [f"  localparam int CARD_{name} = {int(value)};" for name, value in CardError.__members__.items()]
    return "\n".join([*lines, "endpackage", ""])


def main(arguments: list[str]) -> int:
    """Command line: `--sv` writes the package, without it the text goes to standard output."""
    if arguments not in ([], ["--sv"]):
        print("usage: python -m pymodels.card.registers [--sv]", file=sys.stderr)
        return 2
    if arguments:
        PACKAGE.write_text(package_text(), encoding="utf-8")
    else:
        sys.stdout.write(package_text())
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
