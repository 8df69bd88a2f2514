"""Register map of the FPGA card: its window on the PCI bus, its registers and its limits.

Banks, ownership, mailboxes, one-bit ports and the clock range follow the fact sheet, section 5 (RC1000); offsets and
everything that the message shell of the FPGA needs are ours. Registers are big-endian 32-bit words in byte address
order, like those of the NIC. `python -m pymodels.card.registers --sv` rewrites `hdl/card/myri_card_pkg.sv`; a parity
test compares.
"""

from __future__ import annotations

import sys
from enum import IntEnum
from pathlib import Path

from pymodels.registers import enumeration

PACKAGE = Path(__file__).resolve().parents[2] / "hdl" / "card" / "myri_card_pkg.sv"
BANKS = 4
BANK_BYTES = 0x200000
"""Size of a bank; the four banks form one contiguous address space of 8 MB (fact sheet 5)."""
REGISTERS = 0x800000
"""Offset of the registers in the card's 16 MB window."""
SLOTS = 4
"""Computational slots of an image."""
CIRCUITS = 16
"""Number of circuits in the handler and forwarding tables."""
NO_SUCH_IMAGE = 1 << 30
"""Flag in IMAGE: the number written belongs to no image of the circuit file, and no image is loaded."""
FABRIC_MHZ = 100
"""Maximum user clock; the CLOCK register divides it (fact sheet 5: 400 kHz to 100 MHz)."""


class CardReg(IntEnum):
    """Registers of the card: byte offsets from REGISTERS."""

    BACK0 = 0x00
    """Back pointer of the incoming queue in bank 0, written by the NIC after each message."""
    BACK1 = 0x04
    """Back pointer of the incoming queue in bank 1; messages alternate between the two banks."""
    LIMIT = 0x08
    """Limit of the incoming ring buffers: messages begin below this offset."""
    SELF = 0x0C
    """{own channel 8 [23:16], own endpoint 16}."""
    RUN = 0x10
    """Bit 0: enable the shell to accept messages (GPO). Reads return bit 0 as synchronized in the fabric (GPI)."""
    CLOCK = 0x14
    """Divisor minus 1 of the user clock, 0..249: FABRIC_MHZ / (CLOCK + 1)."""
    IMAGE = 0x18
    """Number of the image to load after the current message; 0 unloads. Reads return {loading 1 [31], NO_SUCH_IMAGE
    [30], image 8}.
    """
    CONFIG_CLOCKS = 0x1C
    """Duration of loading an image in PCI clocks."""
    OWN = 0x20
    """Bank ownership: requested by the host in bits 3:0 (REQ), granted to the host in bits 7:4 (GNT)."""
    CONTROL = 0x24
    """Mailbox to the FPGA, 8 bits; a write waits until the previous byte has been read."""
    STATUS = 0x28
    """Mailbox from the FPGA: 8 data bits and bit 8 = valid. A write removes the byte; reads have no side effect."""
    CONTROL_HANDLER = 0x2C
    """Handler number of messages that set a forwarding entry."""
    ERROR_HANDLER = 0x30
    """Handler number called at the source of a message for an unknown circuit; 0 = none."""
    NIC_QUEUE = 0x34
    """PCI address of the card's channel queue in the NIC."""
    NIC_LIMIT = 0x38
    """Limit of the card's channel queue in the NIC: messages begin below this offset."""
    NIC_BACK = 0x3C
    """PCI address of the channel's back pointer (or doorbell)."""
    NIC_FRONT = 0x40
    """PCI address of the channel's front pointer."""
    NIC_READ0 = 0x44
    """PCI address of the word that reports the read position of queue 0 to the NIC."""
    NIC_READ1 = 0x48
    """PCI address of the word that reports the read position of queue 1 to the NIC."""
    DMA_SOURCE = 0x4C
    """Physical host address of a transfer by the card's DMA."""
    DMA_TARGET = 0x50
    """Byte offset of the transfer in the banks: a multiple of 8 plus the offset of the source in its 8 bytes."""
    DMA_BYTES = 0x54
    """Length of the transfer, 1..65535 bytes; a write starts it. Reads return the length while it runs, 0 afterwards.
    """
    MESSAGES = 0x58
    """Number of messages accepted since reset."""
    RESULTS = 0x5C
    """Number of results sent to the NIC since reset."""
    REFUSED = 0x60
    """Number of messages for an unknown circuit since reset."""
    HANDLER = 0x80
    """Table of CIRCUITS words: {valid [31], handler number 16} of each circuit."""


class Status(IntEnum):
    """Status words from the fabric to the bus side, by index (internal to the card)."""

    RUN = 0
    IMAGE = 1
    MESSAGES = 2
    RESULTS = 3
    REFUSED = 4
    MAILBOX = 5
    CONTROL_READ = 6


class Command(IntEnum):
    """Commands of the control mailbox, one byte each; the shell answers with the same byte after executing a
    command.
    """

    RESUME = 0
    PAUSE = 1
    """Finish the current message and accept no further one."""


class CardError(IntEnum):
    """First argument of the message that reports an error to a source."""

    UNKNOWN_CIRCUIT = 1
    """Message for a handler without a circuit; the second argument is the handler number."""
    UNKNOWN_ENTRY = 2
    """Control message for an unknown circuit; the second argument is its number."""


class Purpose(IntEnum):
    """Classification of a message by the shell (internal to the card)."""

    CIRCUIT = 0
    TABLE = 1
    """Control message that sets a forwarding entry."""
    REFUSAL = 2
    """Message for an unknown circuit, which is reported to its source."""
    NO_ENTRY = 3
    """Control message for an unknown circuit, which is reported to its source."""


class Job(IntEnum):
    """Jobs that the shell gives to the uplink (internal to the card)."""

    RESULT = 0
    """Copy the result in bank 2 to the NIC."""
    READ0 = 1
    """Write the read pointer of incoming queue 0 to the NIC."""
    READ1 = 2
    """Write the read pointer of incoming queue 1 to the NIC."""


class Forward(IntEnum):
    """Destination of a circuit's results: bits 31:30 of the first word of its forwarding entry."""

    NOWHERE = 0
    """Drop the result."""
    ENDPOINT = 1
    """Send to the endpoint and handler in the entry."""
    REPLY = 2
    """Send to the source of the message, to the handler in the message's last argument."""


STRUCTS = (
    (
        "Write of a register of the fabric.",
        "card_write_t",
        ("logic [7:0]  addr;  // offset of the register", "logic [31:0] data;"),
    ),
    ("Status word of the fabric.", "card_report_t", ("card_status_t index;", "logic [31:0]  value;")),
    (
        "Header of a message: its first four words, the first one in the lowest bits.",
        "card_header_t",
        (
            "logic [7:0] channel;  // of the source",
            "logic [7:0] to_channel;  // of the destination",
            "logic [15:0] handler;",
            "logic [15:0] words;  // of the payload",
            "logic [15:0] destination;  // endpoint",
            "logic [5:0] kind;  // message type",
            "logic [1:0] correction;  // bytes that the last word lacks",
            "logic [7:0] reserved;",
            "logic [15:0] source;  // endpoint",
            "logic [31:0] first;  // word of the NIC",
        ),
    ),
    (
        "First word of a forwarding entry.",
        "card_place_t",
        (
            "card_forward_t mode;",
            "logic [5:0] reserved;",
            "logic [7:0] channel;  // of the endpoint",
            "logic [15:0] endpoint;",
        ),
    ),
    (
        "Trace of the shell.",
        "card_shell_trace_t",
        (
            "logic take;  // strobe: a message is given to its circuit",
            "logic give;  // strobe: the message's result is written",
            "logic [31:0] key;  // first word of the message, with both",
        ),
    ),
    (
        "Trace of the card.",
        "card_trace_t",
        (
            "logic first;  // strobe: first data of a transaction to this card",
            "logic last;  // strobe: its end",
            "logic [3:0] patience;  // strobes: an access of a bank has exceeded cfg.patience",
            "logic mailbox;  // strobe: a write of the control mailbox has exceeded cfg.patience",
            "logic trespass;  // level, fabric clock: a circuit uses bank 3 without a grant",
            "card_shell_trace_t shell;  // fabric clock",
            "logic in_flight;  // level: a job or a transfer is unfinished",
        ),
    ),
    (
        "Job of the shell for the uplink.",
        "card_job_t",
        (
            "card_job_kind_t kind;",
            "logic [23:0] value;  // offset of a read pointer; for a result, its bytes, multiple of 8",
        ),
    ),
)
"""Streams between the bus side and the fabric, and traces: title, type, fields."""


def entry(mode: Forward, endpoint: int = 0, channel: int = 0, handler: int = 0) -> tuple[int, int]:
    """Return the two words of a forwarding entry, which are arguments 1 and 2 of the control message (0 is the
    circuit).
    """
    return mode << 30 | channel << 16 | endpoint, handler


def package_text() -> str:
    """Return the SystemVerilog package with every constant of this module."""
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
    groups = (
        ("Status words.", "card_status", "STATUS", Status, 3),
        ("Commands of the control mailbox.", "card_command", "COMMAND", Command, 8),
        ("Classification of a message.", "card_purpose", "PURPOSE", Purpose, 2),
        ("Modes of a forwarding entry.", "card_forward", "FORWARD", Forward, 2),
        ("Jobs of the uplink.", "card_job_kind", "JOB", Job, 2),
    )
    for title, name, prefix, group, width in groups:
        lines += ["", f"  // {title}", *enumeration(name, prefix, group, width)]
    lines += ["", "  // Causes of an error."]
    lines += [f"  localparam int CARD_{name} = {int(value)};" for name, value in CardError.__members__.items()]
    for title, name, fields in STRUCTS:
        lines += ["", f"  // {title}", "  typedef struct packed {"]
        lines += [*(f"    {field}" for field in fields), f"  }} {name};"]
    return "\n".join([*lines, "endpackage", ""])


def main(arguments: list[str]) -> int:
    """Run the command line: `--sv` writes the package; without arguments its text is printed."""
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
