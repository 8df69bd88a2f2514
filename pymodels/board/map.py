"""Address map of a board: regions, registers, and the SystemVerilog package with their numbers.

An address has 32 bits. Bits 31:28 select the region, bits 27:24 the node, bits 23:0 the offset in bytes. Every access
moves an aligned word of 32 bits. A word of host memory or of the NIC's window is little-endian, like a word on the PCI
bus. A big-endian word of the NIC's SRAM therefore appears with its bytes reversed.
"""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path

from pymodels.trace import HARDWARE_EVENTS, PORTS_PER_SWITCH, SWITCH_BASE, Part

IDENTITY = 0x53414E42
"""Value of register IDENTITY: SANB in ASCII."""
MAP_VERSION = 1
"""Value of register MAP_VERSION. It changes with every change of this module that a host can observe."""
HASH_WORDS = 4
"""Words of the hash of a bitstream's content, registers HASH0 to HASH3, most significant word first."""
MAX_NODES = 8
"""Most nodes of a board: WAIT_MASK has four bits a node."""
COMPARATORS = 4
"""Comparators of each node, one for each host memory word that a host polls."""
UNANSWERED = 0xFFFFFFFF
"""Word that the board sends for a read that was not answered; BUS_ERRORS counts such accesses."""
RING_WORDS = 8
"""Words of a record in the trace ring, of which the last two are 0."""


class Region(IntEnum):
    """Address regions, bits 31:28 of an address."""

    NIC = 0  # the window of the NIC, or of the FPGA card, on the PCI bus, by programmed I/O
    MEMORY = 1  # host memory, from address 0
    NODE = 2  # registers of a node (`NodeRegister`, `ComparatorRegister`)
    TRACE = 3  # trace ring; no node
    CONTROL = 4  # registers of the board (`ControlRegister`); no node


class Top(IntEnum):
    """Kinds of board top, bits 7:0 of register KIND."""

    LOOPBACK = 0  # one node whose cable leads back to it
    PAIR = 1  # two nodes at ports 0 and 1 of a switch with four ports
    CARD = 2  # the FPGA card


class Clock(IntEnum):
    """Clocks of a board, and their numbers in trace records."""

    BUS = 0  # serial line, bridge, trace ring, registers of region CONTROL
    NIC = 1  # NIC, PCI bus, processor, memories
    LINK = 2  # characters on cables, switches


class ControlRegister(IntEnum):
    """Registers of region CONTROL: byte offsets. All are read-only where the comment does not say otherwise."""

    IDENTITY = 0x000  # `IDENTITY`
    MAP_VERSION = 0x004  # `MAP_VERSION`
    KIND = 0x008  # bits 7:0 `Top`, 15:8 number of nodes, 23:16 kind of NIC (0: none), 24 the NICs have processors
    SIZES = 0x00C  # log2 of: 7:0 bytes of SRAM or a bank, 15:8 of host memory, 23:16 ring records; 31:24 comparators
    HASH0 = 0x010
    HASH1 = 0x014
    HASH2 = 0x018
    HASH3 = 0x01C
    BUS_HZ = 0x020  # nominal frequency of each clock
    NIC_HZ = 0x024
    LINK_HZ = 0x028
    BAUD = 0x02C  # bits a second of the serial line
    TIMEOUT = 0x030  # inactivity time-out of the bridge, bus clocks
    SCRATCH = 0x034  # readable and writable, without effect
    RESET = 0x038  # writable: bit 0 holds all nodes and switches in reset; 1 after power-up
    LINE_CHECK = 0x040  # CRC-32 of received bytes; the read restarts both checks, see `pymodels.board.bone`
    REPLY_CHECK = 0x044  # CRC-32 of sent bytes, as of the last read of LINE_CHECK
    LINE_ERRORS = 0x048  # bytes without a stop bit, or received while the buffer was full; a write clears
    LINE_TIMEOUTS = 0x04C  # commands dropped by the inactivity time-out; a write clears
    BUS_ERRORS = 0x050  # accesses outside the map, to a node in reset, or without an answer in time; a write clears
    TRACE_MODE = 0x060  # writable, bits of `TraceMode`; a write empties the ring
    TRACE_WRITTEN = 0x064  # records since the last write of TRACE_MODE, including overwritten or omitted ones
    WAIT_MASK = 0x070  # writable: comparators that end a wait, bit COMPARATORS * node + number
    WAIT_LIMIT = 0x074  # writable: longest wait, bus clocks
    WAIT = 0x078  # comparators that have matched, bits as WAIT_MASK; the read is answered at a match or at the limit
    LATCH = 0x080  # write: latch the counters of all clocks; read: 1 until all are latched
    BUS_CYCLE_LOW = 0x088  # latched counter of each clock: index of its coming edge, 48 bits
    BUS_CYCLE_HIGH = 0x08C
    NIC_CYCLE_LOW = 0x090
    NIC_CYCLE_HIGH = 0x094
    LINK_CYCLE_LOW = 0x098
    LINK_CYCLE_HIGH = 0x09C


class TraceMode(IntEnum):
    """Bits of register TRACE_MODE."""

    RECORD = 1  # events are recorded
    STOP = 2  # a full ring keeps its oldest records; without it, the newest


class NodeRegister(IntEnum):
    """Registers of region NODE: byte offsets. All are read-only where the comment does not say otherwise."""

    FAULT = 0x000  # reason why the processor has halted, 0: none (`pymodels.lanai.faults`)
    PC = 0x004  # address of its current instruction
    ISR = 0x008  # the NIC's interrupt status register
    STATUS = 0x00C  # bits of `NodeStatus`; a write clears the sticky ones


class NodeStatus(IntEnum):
    """Bit numbers of register STATUS of a node. All but the first two are sticky."""

    IN_RESET = 0  # the host holds the LANai in reset
    INTERRUPT = 1  # INTA# is asserted
    DMA_ERROR = 2
    RX_LOST = 3
    SEND_MISUSE = 4
    PIO_MISUSE = 5
    PIO_ERROR = 6  # a transaction of the host ended with a master or target abort
    MEMORY_BEYOND = 7  # DMA addressed host memory that the board does not have


class ComparatorRegister(IntEnum):
    """Registers of a comparator: byte offsets from `comparator`."""

    ADDRESS = 0x00  # writable: host memory address of the watched word
    VALUE = 0x04  # writable: value to compare with
    MASK = 0x08  # writable: bits to compare
    MODE = 0x0C  # writable, `Compare`; a write arms the comparator and clears HIT
    HIT = 0x10  # 1: matched since MODE was written
    SEEN = 0x14  # the word at the match
    CYCLE_LOW = 0x18  # NIC clock at which the word was written, or MODE was written if it matched already
    CYCLE_HIGH = 0x1C


class Compare(IntEnum):
    """Conditions of a comparator. The word is tested when it is armed and at each write of the NIC to it."""

    OFF = 0
    EQUAL = 1  # masked word equal to masked VALUE
    DIFFERENT = 2  # masked word not equal to masked VALUE
    WRITTEN = 3  # a write to the word after the edge at which MODE was written


COMPARATOR_BASE, COMPARATOR_BYTES = 0x100, 0x20
"""Offset of comparator 0 in region NODE, and distance of the next one."""


def address(region: Region, offset: int = 0, node: int = 0) -> int:
    """Return the address of a byte offset in a region.

    Args:
        region: The region.
        offset: Byte offset, 0 to 0xFFFFFF.
        node: The node, for regions of nodes.

    Raises:
        ValueError: Offset or node out of range.
    """
    if not 0 <= offset < 1 << 24 or not 0 <= node < MAX_NODES:
        raise ValueError(f"no such place on a board: node {node}, offset {offset:#x}")
    return region << 28 | node << 24 | offset


def control(register: ControlRegister) -> int:
    """Return the address of a register of the board."""
    return address(Region.CONTROL, register)


def comparator(number: int, register: ComparatorRegister, node: int) -> int:
    """Return the address of a register of a node's comparator."""
    return address(Region.NODE, COMPARATOR_BASE + COMPARATOR_BYTES * number + register, node)


def package() -> str:
    """Return the text of `hdl/board/myri_board_pkg.sv`."""
    groups: tuple[tuple[str, type[IntEnum], int], ...] = (
        ("REGION", Region, 4),
        ("TOP", Top, 8),
        ("CLOCK", Clock, 2),
        ("CONTROL", ControlRegister, 12),
        ("TRACE", TraceMode, 32),
        ("NODE", NodeRegister, 12),
        ("STATUS", NodeStatus, 32),
        ("COMPARATOR", ComparatorRegister, 5),
        ("COMPARE", Compare, 2),
    )
    lines = [
        "// Address map of a board. Generated by `python -m pymodels.board.map`; edit that module, never this file.",
        "package myri_board_pkg;",
        "  /* verilator lint_off UNUSEDPARAM */  // a map is whole; no block uses all of it",
        f"  localparam logic [31:0] BOARD_IDENTITY = 32'h{IDENTITY:08X};",
        f"  localparam logic [31:0] BOARD_MAP_VERSION = 32'd{MAP_VERSION};",
        f"  localparam logic [31:0] BOARD_UNANSWERED = 32'h{UNANSWERED:08X};",
        f"  localparam int MAX_NODES = {MAX_NODES};",
        f"  localparam int COMPARATORS = {COMPARATORS};",
        f"  localparam int RING_WORDS = {RING_WORDS};",
        f"  localparam logic [11:0] COMPARATOR_BASE = 12'h{COMPARATOR_BASE:X};",
        f"  localparam int COMPARATOR_BYTES = {COMPARATOR_BYTES};",
        "  // What identifies a bitstream, apart from its parameters",
        "  typedef struct packed {",
        "    logic [127:0] hash;  // registers HASH0 to HASH3",
        "    logic [31:0] bus_hz;  // nominal frequency of each clock",
        "    logic [31:0] nic_hz;",
        "    logic [31:0] link_hz;",
        "    logic [31:0] baud;  // bits a second of the serial line",
        "  } board_identity_t;",
        "  // Event for the trace ring, of one source",
        "  typedef struct packed {",
        "    logic [15:0] code;  // EV_*",
        "    logic [19:0] unit;  // unit number",
        "    logic [31:0] packet;  // packet key",
        "    logic [31:0] argument;",
        "    logic [31:0] argument2;",
        "    logic [31:0] ago;  // edges since the event, 0 = this edge",
        "  } board_event_t;",
        "  localparam int EVENT_BITS = 164;",
        "  // Record on its way to the trace ring",
        "  typedef struct packed {",
        "    logic [47:0] cycle;  // index of the clock edge of the event",
        "    logic [1:0] clock;  // CLOCK_*",
        "    logic [7:0] lost;  // lost records of this source just before, at most 255",
        "    logic [15:0] code;",
        "    logic [19:0] unit;",
        "    logic [31:0] packet;",
        "    logic [31:0] argument;",
        "    logic [31:0] argument2;",
        "  } board_record_t;",
        "  localparam int RECORD_BITS = 190;",
        "  // Unit numbers and event codes of the trace",
        f"  localparam int SWITCH_BASE = {SWITCH_BASE};",
        f"  localparam int PORTS_PER_SWITCH = {PORTS_PER_SWITCH};",
        *(f"  localparam int PART_{part.name} = {part.value};" for part in Part),
        *(f"  localparam logic [15:0] EV_{event.name} = 16'h{event.value:04X};" for event in HARDWARE_EVENTS),
    ]
    for prefix, members, bits in groups:
        lines.append(f"  // {(members.__doc__ or '').splitlines()[0]}")
        kind = "int" if bits == 32 else f"logic [{bits - 1}:0]"
        for one in members:
            value = str(int(one)) if bits == 32 else f"{bits}'h{int(one):X}"
            lines.append(f"  localparam {kind} {prefix}_{one.name} = {value};")
    return "\n".join([*lines, "  /* verilator lint_on UNUSEDPARAM */", "endpackage"]) + "\n"


PACKAGE = Path(__file__).parents[2] / "hdl/board/myri_board_pkg.sv"

if __name__ == "__main__":
    PACKAGE.write_text(package(), encoding="utf-8")
