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
RESULT_BANK = 2
RESULT_BYTES = 0x80000
"""Bytes from the start of RESULT_BANK that belong to the results of circuits."""
REGISTERS = 0x800000
"""Offset of the registers in the card's 16 MB window."""
CONFIG = 0xC00000
"""Offset of the configuration port in the window: what is written behind it goes to the port, in order."""
CONFIG_PIECE = 128
"""Bytes that the card's DMA transfers to the configuration port at a time."""
SLOTS = 4
"""Computational slots of an image."""
CARD_DEVICE = 2
"""Lowest two bits of a card's endpoint."""
MOST_MESSAGE = 1 << 24
"""Longest message in bytes that a circuit accepts, unless its line of the circuit file says less."""
CIRCUITS = 16
"""Number of circuits in the handler and forwarding tables."""
CONFIG_LOADING = 1 << 31
"""Flag in CONFIG: the configuration port has words to take, or is in the midst of an image."""
IMAGE_MAGIC = 0x46504741
"""First word of an image: "FPGA"."""
IMAGE_VERSION = 1
"""Version of the format of images."""
IMAGE_PART = 1
"""FPGA for which an image is made: that of this card."""
IMAGE_HEADER_WORDS = 5
"""Words in front of the frames of an image (`pymodels.card.image`)."""
WHOLE_DEVICE = 0xFF
"""Slot of an image that configures the whole device."""
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
    """{bytes of a segment 16 [31:16], enable 1}: enable the shell to accept messages (GPO). Results are cut into
    segments of so many bytes, a multiple of 4; 0: never. Reads return bit 0 as synchronized in the fabric (GPI).
    """
    CLOCK = 0x14
    """Divisor minus 1 of the user clock, 0..249: FABRIC_MHZ / (CLOCK + 1)."""
    IMAGE = 0x18
    """Number of the image from which each slot is loaded, 0 = empty: slot 0 in bits 7:0. Read only."""
    CONFIG = 0x1C
    """Command of the configuration port (`Configure`), in order with the words of an image. Reads return
    {CONFIG_LOADING [31], outcome 4 (`Load`)}.
    """
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
    """Byte offset of the transfer in the window, in the banks or from CONFIG on: a multiple of 8 plus the offset of the
    source in its 8 bytes.
    """
    DMA_BYTES = 0x54
    """Length of the transfer, 1..65535 bytes; a write starts it. Reads return the length while it runs, 0 afterwards.
    """
    MESSAGES = 0x58
    """Number of messages accepted since reset."""
    RESULTS = 0x5C
    """Number of results sent to the NIC since reset."""
    REFUSED = 0x60
    """Number of messages for an unknown circuit since reset."""
    CONFIG_BYTES = 0x64
    """Number of bytes that the configuration port has taken of the current image, or of the last one."""
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


class Configure(IntEnum):
    """Commands of the configuration port."""

    START = 1
    """An image follows. What is left of another one is dropped, and leaves its slots empty."""
    END = 2
    """The image ends here; one that is incomplete is truncated."""
    CLEAR = 3
    """Empty all slots and the shell."""


class Load(IntEnum):
    """Outcome of loading an image. Those before `TRUNCATED` are found in the header, and change no slot."""

    NONE = 0
    """No image since reset or CLEAR."""
    RUNNING = 1
    DONE = 2
    NO_IMAGE = 3
    """The first word is not IMAGE_MAGIC."""
    DAMAGED_HEADER = 4
    """The CRC-32 of the header differs."""
    OTHER_CARD = 5
    """Version or FPGA differ."""
    OTHER_CIRCUITS = 6
    """The image is for a card with another circuit file."""
    NO_PLACE = 7
    """No such image or slot, or a length that is 0 or not a multiple of 4."""
    NO_SHELL = 8
    """A partial image, but the whole device has not been configured."""
    TRUNCATED = 9
    """END came before the end of the image."""
    DAMAGED = 10
    """The CRC-32 of the frames differs."""


class CardError(IntEnum):
    """First argument of the message that reports an error to a source."""

    UNKNOWN_CIRCUIT = 1
    """Message for a handler without a circuit; the second argument is the handler number."""
    UNKNOWN_ENTRY = 2
    """Control message for an unknown circuit; the second argument is its number."""
    TOO_LONG = 3
    """Message longer than its circuit accepts; the further arguments are the handler number, the bytes of the segments
    up to the rejected one, and the limit.
    """


class Purpose(IntEnum):
    """Classification of a message by the shell (internal to the card)."""

    CIRCUIT = 0
    TABLE = 1
    """Control message that sets a forwarding entry."""
    REFUSAL = 2
    """Message for an unknown circuit, which is reported to its source."""
    NO_ENTRY = 3
    """Control message for an unknown circuit, which is reported to its source."""
    TOO_LONG = 4
    """Message longer than its circuit accepts, which is reported to its source."""


class Job(IntEnum):
    """Jobs that the shell gives to the uplink (internal to the card)."""

    RESULT = 0
    """Copy the result in bank 2 to the NIC."""
    READ0 = 1
    """Write the read pointer of incoming queue 0 to the NIC."""
    READ1 = 2
    """Write the read pointer of incoming queue 1 to the NIC."""
    FIRST = 3
    """Copy the result in bank 2, the first segment of a long message to another card, once the NIC's queue is empty."""


class Forward(IntEnum):
    """Destination of a circuit's results: bits 31:29 of the first word of its forwarding entry."""

    NOWHERE = 0
    """Drop the result."""
    ENDPOINT = 1
    """Send to the endpoint and handler in the entry."""
    REPLY = 2
    """Send to the source of the message, to the handler in the message's last argument. The source of a copy from a
    multicast tree is the first sender, as a host.
    """
    TREE = 3
    """Send to the multicast tree and handler in the entry."""
    WRITE = 4
    """Write the result into the memory of the endpoint in the entry, as a remote write. The message's arguments 1 to 3
    are target, lock and lock value. An empty result is dropped.
    """
    FETCH = 5
    """Read memory of the endpoint in the entry into a window of the own card, as a remote read. The first four words of
    the result, little-endian, are the source, the offset of the target, bytes, and the offset of a lock or 0. An empty
    result is dropped.
    """


class MessageKind(IntEnum):
    """Message types that the shell distinguishes (`firmware.grim.formats.MessageType`)."""

    ACTIVE = 0x01
    SEGMENT = 0x02
    """Segment of a long message to a host, before its last."""
    RM_V = 0x04
    """Remote write."""
    RM_RV = 0x06
    """Remote read."""
    MULTICAST = 0x08
    """Message on its way to the root of a tree."""
    MULTICAST_SEGMENT = 0x09
    MULTICAST_LAST = 0x0A
    FORWARDED = 0x0C
    """First of three types of copies from a tree, whose destination field holds the VNN and channel of the sender."""
    CARD_SEGMENT = 0x0F
    """Segment of a long message to a card; bit 0 of the header's field `tree` is 0 in the first, bit 1 is 0 in the
    last.
    """


STRUCTS = (
    (
        "Change of slots, by the configuration port: data of a write of IMAGE to the fabric.",
        "card_change_t",
        (
            "logic device;  // the shell, too",
            "logic [3:0] slots;  // one bit each",
            "logic [7:0] image;  // number; 0 = empty",
        ),
    ),
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
            "logic [7:0] tree;  // multicast tree, or place in a long message: {-, more 1, continues 1}",
            "logic [15:0] source;  // endpoint",
            "logic [31:0] first;  // word of the NIC",
        ),
    ),
    (
        "First word of a forwarding entry.",
        "card_place_t",
        (
            "card_forward_t mode;",
            "logic [4:0] tree;  // multicast tree, with FORWARD_TREE",
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


def entry(mode: Forward, endpoint: int = 0, channel: int = 0, handler: int = 0, tree: int = 0) -> tuple[int, int]:
    """Return the two words of a forwarding entry, which are arguments 1 and 2 of the control message (0 is the
    circuit).

    Args:
        mode: Destination of the results.
        endpoint: Endpoint of 16 bits; for a tree, the NI of its root.
        channel: Channel at that endpoint; for a tree, that of the tree at its root.
        handler: Handler number.
        tree: Number of the multicast tree, 0 to 31.
    """
    return mode << 29 | tree << 24 | channel << 16 | endpoint, handler


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
        f"  localparam logic [1:0] CARD_DEVICE = 2'd{CARD_DEVICE};  // lowest bits of a card's endpoint",
        f"  localparam int CARD_CONFIG_PIECE = {CONFIG_PIECE};",
        "",
        "  // Images.",
        f"  localparam logic [31:0] CARD_IMAGE_MAGIC = 32'h{IMAGE_MAGIC:08X};",
        f"  localparam logic [7:0] CARD_IMAGE_VERSION = 8'd{IMAGE_VERSION};",
        f"  localparam logic [7:0] CARD_IMAGE_PART = 8'd{IMAGE_PART};",
        f"  localparam logic [2:0] CARD_IMAGE_HEADER_WORDS = 3'd{IMAGE_HEADER_WORDS};",
        f"  localparam logic [7:0] CARD_WHOLE_DEVICE = 8'h{WHOLE_DEVICE:02X};",
        "",
        "  // Registers: byte offsets.",
    ]
    lines += [
        f"  localparam logic [7:0] CARD_{name} = 8'h{int(value):02X};" for name, value in CardReg.__members__.items()
    ]
    groups = (
        ("Status words.", "card_status", "STATUS", Status, 3),
        ("Commands of the control mailbox.", "card_command", "COMMAND", Command, 8),
        ("Commands of the configuration port.", "card_configure", "CONFIGURE", Configure, 2),
        ("Outcomes of loading an image.", "card_load", "LOAD", Load, 4),
        ("Classification of a message.", "card_purpose", "PURPOSE", Purpose, 3),
        ("Modes of a forwarding entry.", "card_forward", "FORWARD", Forward, 3),
        ("Jobs of the uplink.", "card_job_kind", "JOB", Job, 2),
    )
    for title, name, prefix, group, width in groups:
        lines += ["", f"  // {title}", *enumeration(name, prefix, group, width)]
    lines += ["", "  // Causes of an error."]
    lines += [f"  localparam int CARD_{name} = {int(value)};" for name, value in CardError.__members__.items()]
    lines += ["", "  // Types of messages."]
    lines += [
        f"  localparam logic [5:0] MESSAGE_{name} = 6'h{int(value):02X};"
        for name, value in MessageKind.__members__.items()
    ]
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
