"""Register map of the SP adapter: registers, status bits, commands of the left engine, PCI map, sizes.

Paper 001, 3.1.2 describes the adapter; offsets and bits are unpublished, so that they are all *ours*. The processor
accesses 32-bit registers every 4 bytes, with the numbers of `firmware.verbs.Nic.read` and `write`. Two registers in an
aligned group of 8 bytes are one access of the internal bus; the processor port of the model transfers its halves in
turn.

The left engine executes the commands of the Recv/Cmd FIFO in order. A command has two words, operation and host
address, written to COMMAND_HIGH and COMMAND_LOW:

- FETCH moves bytes of host memory into the Send FIFO.
- STORE moves bytes to host memory: those that follow it in the FIFO, written by the processor (DATA_HIGH and DATA_LOW,
  or DATA_ONE), or, with PACKET, the next ones of the packet's user data, written by the right engine.
- READ moves up to 128 bytes of host memory to READ0.., where the processor reads them.
- ALARM asserts the PCI interrupt.

RECV_NEXT frees a packet's buffer after all earlier commands. Written entries wait in a queue of `QUEUE` entries; ROOM
in STATUS is set while there is room for another `QUEUE_ROOM`.

A write of SEND_START sends a packet from the words SEND0..SEND5 and the Send FIFO; its user data are one whole FETCH,
or up to 64 bytes that the processor has written to OWN0...

`python -m pymodels.nics.sp.registers --sv` rewrites `hdl/nic/sp/sp_adapter_pkg.sv` from this module; a parity test
compares.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path

from pymodels.codes import quick
from pymodels.registers import Group, command, declarations, enumeration
from pymodels.settings import OWN


@quick
class SpReg(IntEnum):
    """Registers of the SP adapter: byte offsets as its processor sees them."""

    STATUS = 0x000  # read: see SpStatus; the word that a polling loop reads
    ACK = 0x004  # write: a one clears TIME
    INTERRUPT = 0x008  # write: bit 0 asserts the PCI interrupt, which the host clears; read: its level
    ERRORS = 0x00C  # sticky; writing 1 clears
    TIME = 0x010  # read: clocks of the NIC, the lowest 32 bits
    TIMER = 0x014  # write n: TIME in STATUS after n clocks; 0 stops it
    COMMAND_HIGH = 0x020
    COMMAND_LOW = 0x024  # write: queues the command
    DATA_HIGH = 0x028
    DATA_LOW = 0x02C  # write: queues both words
    DATA_ONE = 0x030  # write: queues one word
    RECV_NEXT = 0x034  # write: releases the packet at the head
    RECV_STATUS = 0x038  # read: see RecvStatus
    SEND_START = 0x03C  # write: sends; bytes from the Send FIFO in 11:0, bytes from OWN0 on in 22:16
    SEND0 = 0x040  # switch header, four words
    SEND1 = 0x044
    SEND2 = 0x048
    SEND3 = 0x04C
    SEND4 = 0x050  # VIA header, two words
    SEND5 = 0x054
    RECV0 = 0x060  # packet at the head: switch header, four words
    RECV1 = 0x064
    RECV2 = 0x068
    RECV3 = 0x06C
    RECV4 = 0x070  # VIA header,
    RECV5 = 0x074
    RECV6 = 0x078  # first user data, two words
    RECV7 = 0x07C
    BELL_PRODUCER = 0x080  # doorbell FIFO (sp-future): entries written
    BELL_CONSUMER = 0x084  # entries consumed by firmware
    BELL_BASE = 0x088  # address of the doorbell FIFO in SRAM
    BELL_OVERFLOWS = 0x08C  # entries dropped
    READ0 = 0x100  # first of 32 words returned by READ
    OWN0 = 0x180  # first of 16 words of user data written by the processor


@quick
class SpStatus(IntEnum):
    """Bit numbers of STATUS; the last three are counters of 8 bits."""

    ARRIVED = 0  # a whole packet is at the head of the receive side
    SEND_FREE = 1  # SEND0..SEND5, OWN0.., and SEND_START may be written
    ROOM = 2  # the command queue has room for QUEUE_ROOM entries
    LEFT_IDLE = 3  # all commands are complete
    BELL = 4  # the doorbell FIFO is not empty
    TIME = 5  # the timer has run out
    ERROR = 6  # ERRORS is not 0
    READ = 7  # the last queued READ is complete
    FETCHED = 8  # FETCH commands whose bytes are in the Send FIFO
    STORED = 16  # STORE commands whose bytes are in host memory
    SENT = 24  # packets that are complete in the link interface


class SpError(IntEnum):
    """Bit numbers of ERRORS."""

    SEND_MISUSE = 0  # SEND_START while another is pending, or with invalid sizes
    QUEUE_OVERFLOW = 1  # an entry for the command queue was lost
    PACKET_MISUSE = 2  # RECV_NEXT or STORE with PACKET without a packet or beyond its end
    BUS = 3  # a command was ended by an abort on the PCI bus
    BELL_OVERFLOW = 4  # a doorbell entry was dropped
    PIO_MISUSE = 5  # host store to an unmapped address


@quick
class SpCommand(IntEnum):
    """Bit numbers of the first word of a command; the byte count is in 15:0."""

    FETCH = 28  # host memory to Send FIFO; otherwise STORE
    PACKET = 29  # STORE: the bytes are user data of the packet at the head
    READ = 30  # with FETCH: the bytes go to READ0 and on instead of the Send FIFO
    ALARM = 31  # asserts the interrupt; no data


class SpInsertion(IntEnum):
    """Insertions into the command queue (internal to the adapter)."""

    COMMAND = 0
    DATA = 1
    """Two words for the STORE before."""
    NEXT = 2
    """RECV_NEXT: release the packet at the head."""


@quick
class RecvStatus(IntEnum):
    """Bit numbers of RECV_STATUS; the count of user bytes is in 11:0."""

    BAD_CRC = 16
    BAD_SIZE = 17  # size differs from the header's, is less than the headers, or exceeds the largest packet


class SpPci(IntEnum):
    """Byte offsets within the adapter's 16 MB PCI region."""

    SRAM = 0x000000
    CONTROL = 0x800040
    DOORBELL = 0x808000
    END = 0x1000000


class SpControl(IntEnum):
    """Bit numbers of the control register, a big-endian word."""

    INTERRUPT = 0  # read: the interrupt is asserted; write 1: clears it


@quick
class SpSize(IntEnum):
    """Sizes and counts."""

    FIFO = 4096  # bytes of the Send FIFO and of the Recv/Cmd FIFO
    QUEUE = 32  # entries of the command queue
    QUEUE_ROOM = 12  # free entries signalled by ROOM
    PACKETS = 2  # packet buffers of the receive side
    HEADERS = 24  # bytes of switch header and VIA header
    USER = 2032  # largest user data of a packet, in bytes
    INLINE = 64  # largest user data written by the processor, in bytes
    READ = 128  # largest READ, in bytes
    BELL_ENTRIES = 512  # entries of the doorbell FIFO, 8 bytes each


class SpSetting(IntEnum):
    """Run-time settings that only this NIC has (ports cfg_* of sp_adapter): keys of the doorway's table."""

    BUS_BEAT = OWN
    BUS_ACCESS = OWN + 1
    DOORBELL = OWN + 2


PACKAGE = Path(__file__).resolve().parents[3] / "hdl" / "nic" / "sp" / "sp_adapter_pkg.sv"
"""Path of the generated SystemVerilog package."""

_GROUPS: tuple[Group, ...] = (
    ("REG", SpReg, 9),
    ("STATUS", SpStatus, 0),
    ("ERR", SpError, 0),
    ("COMMAND", SpCommand, 0),
    ("RECV", RecvStatus, 0),
    ("PCI", SpPci, 25),
    ("CTL", SpControl, 0),
    ("SIZE", SpSize, 0),
    ("SET", SpSetting, 0),
)


def fetch_command(size: int) -> int:
    """Return the first word of FETCH. Raises ValueError for more bytes than the Send FIFO holds."""
    if not 0 <= size <= SpSize.FIFO:
        raise ValueError(f"FETCH of {size} bytes: the Send FIFO holds {int(SpSize.FIFO)}")
    return 1 << SpCommand.FETCH | size


def read_command(size: int) -> int:
    """Return the first word of READ. Raises ValueError for more bytes than READ can return."""
    if not 0 <= size <= SpSize.READ:
        raise ValueError(f"READ of {size} bytes: at most {int(SpSize.READ)}")
    return 1 << SpCommand.READ | 1 << SpCommand.FETCH | size


def store_command(size: int, packet: bool) -> int:
    """Return the first word of STORE, of the packet's user data if `packet`. Raises ValueError for an invalid size."""
    if not 0 <= size < 1 << 16:
        raise ValueError(f"STORE of {size} bytes: a command has 16 bits for them")
    return int(packet) << SpCommand.PACKET | size


def package_text() -> str:
    """Return the SystemVerilog package with every constant of this module."""
    return declarations("sp_adapter_pkg", "pymodels/nics/sp/registers.py", _GROUPS, list(_types()))


def _types() -> Iterator[str]:
    """Yield the types of the package: a command of the left engine, and an insertion of the processor."""
    flags = sorted(SpCommand, reverse=True)
    yield from ("", "  // A command: both words.", "  typedef struct packed {")
    yield from (f"    logic {flag.name.lower()};" for flag in flags)
    yield f"    logic [{min(flags) - 17}:0] reserved;"
    yield from ("    logic [15:0] bytes;", "    logic [31:0] address;  // in the host", "  } sp_command_t;")
    yield from ("", "  // SEND_START: user bytes from OWN0 on, or from the Send FIFO.", "  typedef struct packed {")
    yield from (
        "    logic [8:0]  reserved;",
        "    logic [6:0]  own;",
        "    logic [3:0]  spare;",
        "    logic [11:0] fifo;",
    )
    yield "  } sp_start_t;"
    yield from (
        "",
        "  // RECV_STATUS.",
        "  typedef struct packed {",
        f"    logic [{30 - RecvStatus.BAD_SIZE}:0] reserved;",
    )
    yield from ("    logic bad_size;", "    logic bad_crc;", "    logic [3:0] spare;")
    yield from ("    logic [11:0] bytes;  // user bytes", "  } sp_recv_status_t;")
    yield from ("", "  // An insertion into the command queue.")
    yield from enumeration("sp_insertion_kind", "INSERT", SpInsertion, 2)
    yield from ("  typedef struct packed {", "    sp_insertion_kind_t kind;")
    yield from ("    logic [63:0] data;  // command, or byte lanes", "  } sp_insertion_t;")


def main(arguments: list[str]) -> int:
    """Run the command line of this register map."""
    return command(arguments, "pymodels.nics.sp.registers", PACKAGE, package_text())


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
