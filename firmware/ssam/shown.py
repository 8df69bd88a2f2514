"""Message stages of SSAM for reports; with several cells, the stages of the last one."""

from __future__ import annotations

from firmware.nics.fifo.cells import FIRST, PART, WORD
from firmware.shown import WIRE, Boundary, Shown, Waits
from firmware.ssam.host.message import FORMAT
from pymodels.nics.fifo.cells import Cell
from pymodels.nics.fifo.registers import HEC_COSET, Size
from pymodels.trace import Part, TraceEvent

STAGES = (
    Boundary(
        "host_writes",
        TraceEvent.TRAPPED,
        Part.HOST_CPU,
        0,
        "the CPU of {source} writes {bytes} B into the mapped buffer and traps; the kernel checks the message",
    ),
    Boundary(
        "kernel_sends",
        TraceEvent.PAYLOAD_WRITTEN,
        Part.HOST_CPU,
        0,
        "the kernel of {source} copies the message into the card's FIFO, cell by cell",
    ),
    Boundary(
        "bus_and_turn",
        TraceEvent.TX_START,
        Part.NET_SEND,
        0,
        "the last store crosses the bus, and the card of {source} starts the cell",
        Waits.OWN_PACKETS,
    ),
    *WIRE,
    Boundary(
        "kernel_notices",
        TraceEvent.POLL_HIT,
        Part.HOST_CPU,
        1,
        "a trap of {target} polls the card and takes the cells before this one",
        Waits.PROCESSOR,
    ),
    Boundary(
        "kernel_takes",
        TraceEvent.IN_KERNEL,
        Part.HOST_CPU,
        1,
        "the kernel of {target} has loaded the cell word by word into its memory",
    ),
    Boundary(
        "kernel_copies",
        TraceEvent.IN_PROCESS,
        Part.HOST_CPU,
        1,
        "the kernel of {target} copies the message into the buffer of its process",
    ),
    Boundary(
        "trap_returns",
        TraceEvent.HANDLER_START,
        Part.HOST_CPU,
        1,
        "the trap of {target} returns, and the library calls the handler",
    ),
)
NUMBERS = {"CELL": int(Size.CELL), "COSET": HEC_COSET, "HEADER": FORMAT.size}
SHOWN = Shown(STAGES, numbers=NUMBERS)


def cell_in_words(wire: bytes) -> str:
    """Return a description of a cell on a link."""
    cell = Cell.read(wire)
    if cell is None:
        return "an invalid cell"
    source, number, left = WORD.unpack(cell.payload[: WORD.size])
    which = "first" if left >= FIRST else "next"
    last = ", its last" if left % FIRST <= PART else ""
    return f"the {which} cell of a message of node {source}{last}, number {number}"
