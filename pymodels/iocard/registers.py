"""Register map of the intelligent I/O card, as seen by the host and by the card's own processor.

The message unit follows the I2O model (Intelligent I/O Architecture Specification 1.5): a host reads and posts message
frame addresses (MFAs) at two ports. Offsets of the host's registers are those of the Intel 80960RP and of the DEC 21555
bridge. Offsets of the processor's own registers (CONTROL and above) and the DMA descriptor are ours. All words are
little-endian, as in I2O. `python -m pymodels.iocard.registers --sv` rewrites `hdl/iocard/myri_io_pkg.sv`; a parity test
compares.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path

from pymodels.registers import enumeration

PACKAGE = Path(__file__).resolve().parents[2] / "hdl" / "iocard" / "myri_io_pkg.sv"
"""Path of the generated SystemVerilog package."""
WINDOW = 0x800000
"""Size of the card's window on the PCI bus and of its local address space, in bytes."""
REGISTERS = 0x1000
"""Bytes at the start of the window that are registers; local memory has the addresses behind them."""
EMPTY = 0xFFFFFFFF
"""Value that a port returns if its queue is empty or the message unit is disabled."""
LEAST_LOG2, MOST_LOG2 = 2, 16
"""Binary logarithm of the entries of a queue: smallest and largest value."""


class IoReg(IntEnum):
    """Registers: byte offsets. The host sees those below CONTROL; the processor sees all but MASK and the ports."""

    INBOUND_DOORBELL = 0x20
    """Host: writing 1 sets a bit. Processor: writing 1 clears it."""
    INBOUND_STATUS = 0x24
    """Processor only: pending interrupts, see Inbound. Writing 1 clears OVERRUN, DMA_DONE and DMA_ERROR."""
    INBOUND_MASK = 0x28
    """Processor only: 1 masks an interrupt of INBOUND_STATUS. All are masked after reset."""
    OUTBOUND_DOORBELL = 0x2C
    """Processor: writing 1 sets a bit. Host: writing 1 clears it."""
    OUTBOUND_STATUS = 0x30
    """Pending interrupts of the host, see Outbound."""
    OUTBOUND_MASK = 0x34
    """Host only: 1 masks an interrupt of OUTBOUND_STATUS. All are masked after reset."""
    INBOUND_PORT = 0x40
    """Host only. A read takes an MFA from the inbound free queue. A write posts an MFA to the inbound post queue."""
    OUTBOUND_PORT = 0x44
    """Host only. A read takes an MFA from the outbound post queue. A write returns an MFA to the outbound free queue.
    """
    CONTROL = 0x50
    """{binary logarithm of the entries of a queue 5 [12:8], enable [0]}. A write empties all queues."""
    QUEUES = 0x54
    """Local address of the four queues, a multiple of 8. They follow each other in the order of Queue."""
    INBOUND_FREE_HEAD = 0x60
    """Entry that is put next. The processor writes an entry into memory and then advances this pointer."""
    INBOUND_FREE_TAIL = 0x64
    """Entry that is taken next."""
    INBOUND_POST_HEAD = 0x68
    INBOUND_POST_TAIL = 0x6C
    """Entry that is taken next. The processor reads an entry from memory and then advances this pointer."""
    OUTBOUND_POST_HEAD = 0x70
    OUTBOUND_POST_TAIL = 0x74
    OUTBOUND_FREE_HEAD = 0x78
    OUTBOUND_FREE_TAIL = 0x7C
    DMA_DESCRIPTOR = 0x80
    """Local address of the first descriptor of a chain, a multiple of 8. A write starts the DMA engine."""
    DMA_STATUS = 0x84
    """{cause of the last error [9:8], active [0]}, see DmaCause."""


class Inbound(IntEnum):
    """Bit numbers of INBOUND_STATUS. DOORBELL and POST are levels; a write clears the others."""

    DOORBELL = 2
    """INBOUND_DOORBELL is not 0."""
    POST = 4
    """The inbound post queue is not empty."""
    OVERRUN = 5
    """The host wrote to a port whose queue was full, or while the message unit was disabled; the MFA was dropped."""
    DMA_DONE = 6
    """A chain of descriptors has finished."""
    DMA_ERROR = 7
    """A chain of descriptors has ended with an error."""


class Outbound(IntEnum):
    """Bit numbers of OUTBOUND_STATUS; both are levels."""

    DOORBELL = 2
    """OUTBOUND_DOORBELL is not 0."""
    POST = 3
    """The outbound post queue is not empty."""


class Queue(IntEnum):
    """Queues of the message unit, in the order of their entries in local memory."""

    INBOUND_FREE = 0
    """Empty inbound frames: put by the processor, taken by hosts."""
    INBOUND_POST = 1
    """Requests: put by hosts, taken by the processor."""
    OUTBOUND_POST = 2
    """Replies: put by the processor, taken by the host."""
    OUTBOUND_FREE = 3
    """Empty outbound frames: put by the host, taken by the processor."""


class DmaCause(IntEnum):
    """Cause of the last error of the DMA engine."""

    NONE = 0
    DESCRIPTOR = 1
    """No bytes, or the PCI address and the local address differ modulo 8."""
    ABORT = 2
    """The PCI transfer ended by a master or target abort."""


TO_PCI = 1 << 31
"""Flag in the last word of a descriptor: the transfer goes from local memory to the PCI bus."""
DESCRIPTOR_BYTES = 16
"""Size of a descriptor: the address of the next one or 0, PCI address, local address, {TO_PCI, bytes 16}."""
MOST_BYTES = 0xFFFF
"""Largest number of bytes of one descriptor."""


def descriptor(pci: int, local: int, count: int, to_pci: bool, following: int = 0) -> tuple[int, int, int, int]:
    """Return the words of a DMA descriptor.

    Args:
        pci: Byte address on the PCI bus.
        local: Byte address in local memory, equal to `pci` modulo 8.
        count: Number of bytes, 1 to MOST_BYTES.
        to_pci: True to write to the bus, False to read from it.
        following: Local address of the next descriptor, or 0 at the end of the chain.

    Raises:
        ValueError: The DMA engine would reject the descriptor.
    """
    if not 1 <= count <= MOST_BYTES:
        raise ValueError(f"descriptor: {count} bytes; a descriptor moves 1 to {MOST_BYTES}")
    if (pci - local) % 8:
        raise ValueError(f"descriptor: PCI address {pci:#x} and local address {local:#x} differ modulo 8; align one")
    if following % 8:
        raise ValueError(f"descriptor: next descriptor at {following:#x}; its address must be a multiple of 8")
    return following, pci, local, (TO_PCI if to_pci else 0) | count


def package_text() -> str:
    """Return the SystemVerilog package with the constants of this module that hardware uses."""
    lines = [
        "// Register map of the intelligent I/O card. GENERATED from pymodels/iocard/registers.py by",
        "// `python -m pymodels.iocard.registers --sv`; edit that file, never this one.",
        "package myri_io_pkg;",
        "  /* verilator lint_off UNUSEDPARAM */  // a map is whole; no block uses all of it",
        "",
        f"  localparam logic [31:0] IO_EMPTY = 32'h{EMPTY:X};",
        "",
        "  // Registers: byte offsets.",
    ]
    lines += [f"  localparam logic [7:0] IO_{name} = 8'h{int(value):02X};" for name, value in IoReg.__members__.items()]
    for title, prefix, group in (
        ("Bit numbers of INBOUND_STATUS.", "INBOUND", Inbound),
        ("Bit numbers of OUTBOUND_STATUS.", "OUTBOUND", Outbound),
    ):
        lines += ["", f"  // {title}"]
        lines += [f"  localparam int {prefix}_{name} = {int(value)};" for name, value in group.__members__.items()]
    lines += ["", "  // Queues in the order of their entries in local memory."]
    lines += enumeration("io_queue", "QUEUE", Queue, 2)
    lines += ["", "  // Cause of the last error of the DMA engine."]
    lines += enumeration("io_dma_cause", "DMA", DmaCause, 2)
    return "\n".join([*lines, "endpackage", ""])


def main(arguments: Sequence[str]) -> int:
    """Run the command line: `--sv` writes the package; without arguments its text is printed."""
    if list(arguments) not in ([], ["--sv"]):
        print("usage: python -m pymodels.iocard.registers [--sv]", file=sys.stderr)
        return 2
    if arguments:
        PACKAGE.write_text(package_text(), encoding="utf-8")
    else:
        sys.stdout.write(package_text())
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
