"""Register map of the FIFO card: PCI region, words of descriptors, errors, sizes.

Paper 002 describes the cards of HPAM and SSAM: a memory that the host maps, a TX_READY_FIFO, a receive pool and a table
of descriptors with the state of send buffers; or two FIFOs of ATM cells. Offsets, bits and sizes are all *ours*. The
card has one of two forms, written to MODE before anything else. All words are big-endian.

**Buffers.** The memory has 128 buffers of 2 KB. The descriptor table, 8 bytes for each buffer, replaces buffer 0. The
host writes a packet, route bytes first, into a buffer and its length into the descriptor, with state READY. It then
writes the buffer's number to TX_READY. The card sends the packet and changes the state to SENT. Numbers written to
RX_FREE form the receive pool. An arriving packet is stored in the oldest buffer of the pool. RX_READY shows the oldest
received packet, and a write of RX_NEXT advances to the next. The buffer belongs to the host until its number is written
to RX_FREE again.

**Cells.** A cell has 53 bytes: a header of 4, its check (HEC), 48 of payload. The host writes header and payload into
the window CELL_OUT; the last byte queues the cell. The window CELL_IN shows the oldest received cell until CELL_NEXT is
written. Both FIFOs are in the card's memory. A table of circuits, 8 bytes each, replaces the descriptors: number of
route bytes, 0 to 7, and the route bytes, right-aligned. The header's VCI selects the circuit of a cell to send.

Reads have no side effects, since a PCI target may read ahead. A read of an undefined address of the map returns 0.
`python -m pymodels.nics.fifo.registers --sv` rewrites `hdl/nic/fifo/myri_fifo_card_pkg.sv` from this module; a parity
test compares.
"""

from __future__ import annotations

import sys
from enum import IntEnum
from pathlib import Path

from pymodels.registers import Group, command, declarations


class Region(IntEnum):
    """Byte offsets within the card's 16 MB PCI region."""

    MEMORY = 0x000000
    STATUS = 0x800000  # read: see Status
    MODE = 0x800008  # write: form of the card, see Form; accepted while the card is idle; empties the pool
    INTERRUPT = 0x800010  # write: bit 0 enables the interrupt while a packet or cell has arrived
    ERRORS = 0x800018  # sticky, see Error; writing 1 clears
    TX_READY = 0x800020  # write: number of a buffer to send
    RX_FREE = 0x800028  # write: number of a buffer for the receive pool; read: buffers in the pool
    RX_READY = 0x800030  # read: oldest received packet, see Ready; 0: none
    RX_NEXT = 0x800038  # write: removes the oldest packet
    CELL_NEXT = 0x800040  # write: removes the cell in CELL_IN
    DROPPED = 0x800048  # read: received cells that were dropped
    CELL_OUT = 0x802000  # window: header at CELL_HEADER, payload at CELL_PAYLOAD
    CELL_IN = 0x803000  # window: likewise; read only
    END = 0x1000000


class Status(IntEnum):
    """Bit numbers of STATUS."""

    ARRIVED = 0  # a packet or cell has arrived
    IDLE = 1  # nothing to send
    ERROR = 2  # ERRORS is not 0
    CELLS = 3  # form of the card: 1 for cells
    SEND_LEVEL = 8  # 8 bits: buffers in TX_READY, or cells to send
    RECEIVE_LEVEL = 16  # 9 bits: packets in RX_READY, or received cells


class Error(IntEnum):
    """Bit numbers of ERRORS. A rejected access changes nothing else."""

    TX_FULL = 0  # TX_READY was full
    NUMBER = 1  # TX_READY or RX_FREE: invalid buffer number
    DESCRIPTOR = 2  # buffer to send: not READY, empty, or longer than a buffer
    POOLED = 3  # RX_FREE: the buffer is already in the pool
    NEXT = 4  # RX_NEXT or CELL_NEXT without a packet or cell
    OUT_FULL = 5  # CELL_OUT was full, or the cell did not start with its header
    CELL = 6  # received cell dropped: size, HEC, or CRC-8 of the link
    MODE = 7  # MODE while the card is in use; TX_READY or RX_FREE in the form CELLS
    PIO = 8  # store to an unmapped address, or to part of a register


class Form(IntEnum):
    """Values of MODE."""

    BUFFERS = 0
    CELLS = 1


class State(IntEnum):
    """Bits 31:28 of a descriptor."""

    FREE = 0
    READY = 1  # filled by the host
    SENT = 2  # sent by the card


class Descriptor(IntEnum):
    """Lowest bits of the fields of a descriptor, the first word of its 8 bytes."""

    BYTES = 0  # 12 bits: size of the packet with its route bytes
    SKIP = 16  # 3 bits: bytes of the buffer before the packet
    OWN = 24  # 4 bits: for the host's use
    STATE = 28  # 4 bits: see State


class Ready(IntEnum):
    """Bit numbers of RX_READY."""

    BYTES = 0  # 12 bits: size of the packet without its CRC-8
    NUMBER = 16  # 7 bits: number of its buffer
    LONG = 29  # longer than a buffer: only its first bytes are stored
    BAD_CRC = 30
    VALID = 31


class Size(IntEnum):
    """Sizes and counts."""

    MEMORY = 262144
    BUFFERS = 128
    BUFFER = 2048
    DESCRIPTOR = 8
    TX_READY = 32
    CIRCUITS = 64
    CIRCUIT = 8
    SLOT = 64  # bytes of a cell in memory
    OUT_CELLS = 32
    OUT_BASE = 0x1000
    IN_CELLS = 256
    IN_BASE = 0x4000
    CELL = 53
    CELL_HEADER = 4  # offsets of header and payload in a window and in a slot
    CELL_PAYLOAD = 8
    PAYLOAD = 48


HEC_COSET = 0x55
"""Value added to the check of a header (ITU-T I.432)."""

PACKAGE = Path(__file__).resolve().parents[3] / "hdl" / "nic" / "fifo" / "myri_fifo_card_pkg.sv"
"""Path of the generated SystemVerilog package."""

_GROUPS: tuple[Group, ...] = (
    ("PCI", Region, 25),
    ("STATUS", Status, 0),
    ("ERR", Error, 0),
    ("FORM", Form, 1),
    ("STATE", State, 4),
    ("DESC", Descriptor, 0),
    ("READY", Ready, 0),
    ("SIZE", Size, 0),
)


def descriptor(state: State, size: int, skip: int = 0, own: int = 0) -> int:
    """Return the word of a descriptor. Raises ValueError for values that do not fit."""
    for value, bits, name in ((size, 12, "bytes"), (skip, 3, "bytes skipped"), (own, 4, "of the host's own")):
        if not 0 <= value < 1 << bits:
            raise ValueError(f"{value} {name}: a descriptor has {bits} bits for them")
    return state << Descriptor.STATE | own << Descriptor.OWN | skip << Descriptor.SKIP | size


def circuit(route: bytes) -> bytes:
    """Return the 8 bytes of a circuit. Raises ValueError for a route that is too long."""
    if len(route) >= Size.CIRCUIT:
        raise ValueError(f"a route of {len(route)} bytes: a circuit holds {Size.CIRCUIT - 1}")
    return bytes([len(route)]) + route.rjust(Size.CIRCUIT - 1, b"\0")


def circuit_of(header: int) -> int:
    """Return the number of the circuit that the header of a cell selects: the low bits of its VCI."""
    return header >> 4 & Size.CIRCUITS - 1


def package_text() -> str:
    """Return the SystemVerilog package with every constant of this module."""
    more = [
        "",
        "  // Value added to the check of a cell's header.",
        f"  localparam logic [7:0] HEC_COSET = 8'h{HEC_COSET:X};",
        "",
        "  // A received packet, and RX_READY.",
        "  typedef struct packed {",
        "    logic bad_crc;",
        "    logic too_long;  // only its first bytes are stored",
        f"    logic [{Ready.NUMBER - 5}:0] bytes;  // size without its CRC-8",
        "  } fifo_arrival_t;",
        "  typedef struct packed {",
        "    fifo_arrival_t arrival;",
        "    logic [6:0] number;  // number of its buffer",
        "  } fifo_arrived_t;",
        "  typedef struct packed {",
        "    logic valid;",
        "    logic bad_crc;",
        "    logic too_long;",
        f"    logic [{Ready.LONG - Ready.NUMBER - 8}:0] reserved;",
        "    logic [6:0] number;",
        "    logic [3:0] spare;",
        f"    logic [{Ready.NUMBER - 5}:0] bytes;",
        "  } fifo_ready_t;",
    ]
    return declarations("myri_fifo_card_pkg", "pymodels/nics/fifo/registers.py", _GROUPS, more)


def main(arguments: list[str]) -> int:
    """Run the command line of this register map."""
    return command(arguments, "pymodels.nics.fifo.registers", PACKAGE, package_text())


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
