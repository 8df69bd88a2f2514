"""Numbers of messages in every record of a trace, also where hardware of the RTL has recorded none.

The number of a message travels with its bytes (`pymodels.messages`). Hardware of the RTL passes no numbers along, so
that two kinds of records lack them: those of cables and switches, and those of a receiver. The receiver's records have
the number of an arrival instead, drawn by the doorway when the first word of a packet was stored. Both follow from the
packet: it has the number of its TX_START, its way is known (`tb.report.wire`), and so is the arrival at its end.

- Every record of a packet has the packet's number.
- The number of an arrival stands for the number of the packet that arrived, 0 if that belongs to no message.

A packet that is lost has no arrival. A packet that is sent again, or that arrives twice, has the number of its message
each time. A trace whose records have their numbers, such as that of the machine, stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pymodels.trace import CAUSE_SHIFT, PARTS_PER_NODE, SWITCH_BASE, Part, TraceEvent
from tb.report.recorded import Legend
from tb.report.wire import HEADS, Hop, Packet, Row, Wire, rows

MADE = TraceEvent.NIC_REPLY, TraceEvent.NIC_COPY
"""Events whose second argument names a message, too."""
NODE = (1 << CAUSE_SHIFT) - 1
ON_WIRE = (
    *(event for event in TraceEvent if TraceEvent.TX_START <= event <= TraceEvent.RX_TAIL),
    *(event for event in TraceEvent if TraceEvent.SWITCH_HEAD <= event <= TraceEvent.SWITCH_TAIL),
    TraceEvent.FAULT,
)


class Numbers:
    """Numbers of the messages of a run, fed with its records in time order."""

    def __init__(self, legend: Legend) -> None:
        self.wire = Wire(legend)
        self.arrived: dict[int, int] = {}
        """Number of a packet's message, by number of its arrival."""

    def take(self, row: Row) -> tuple[Row, Packet | None]:
        """Return a record with the number of its message, and its packet if it is a record of a packet."""
        number, second = self.arrived.get(row[6], row[6]), row[5]
        if row[2] in MADE:
            second = _caused(second, self.arrived)
        told = row if (number, second) == (row[6], row[5]) else (*row[:5], second, number)
        packet = self.wire.take(told)
        if packet is None:
            return told, None
        if row[6] not in (0, packet.message) and _is_stored(row):
            self.arrived[row[6]] = packet.message
        return (*row[:6], packet.message), packet


def numbered(trace: NDArray[np.void], legend: Legend) -> NDArray[np.void]:
    """Return a trace in time order with the number of its message in every record.

    The way of a packet is known for certain at its end, so that records are numbered after the last of them.
    """
    places = np.flatnonzero(np.isin(trace["event"], ON_WIRE))
    numbers, carried = Numbers(legend), list[tuple[int, Packet | Hop]]()
    for place, row in zip(places.tolist(), rows(trace[places]), strict=True):
        _, packet = numbers.take(row)
        if packet is not None:
            carried.append((place, packet.hops[-1] if row[2] in HEADS else packet))
    owners = {id(hop): packet for packet in numbers.wire.packets for hop in packet.hops}
    found: NDArray[np.void] = trace.copy()
    if numbers.arrived:
        _replace(found, numbers.arrived)
    for place, thing in carried:
        found["message"][place] = (owners[id(thing)] if isinstance(thing, Hop) else thing).message
    return found


def _replace(trace: NDArray[np.void], arrived: Mapping[int, int]) -> None:
    """Replace the numbers of arrivals, also where they name causes."""
    numbers = np.array(sorted(arrived), np.uint64)
    messages = np.array([arrived[number] for number in sorted(arrived)], np.uint64)
    at = np.minimum(np.searchsorted(numbers, trace["message"]), len(numbers) - 1)
    trace["message"] = np.where(numbers[at] == trace["message"], messages[at], trace["message"])
    for place in np.flatnonzero(np.isin(trace["event"], MADE)).tolist():
        trace["argument2"][place] = _caused(int(trace["argument2"][place]), arrived)


def _caused(argument: int, arrived: Mapping[int, int]) -> int:
    """Return the second argument of a message that a NIC makes, with the number of its cause."""
    cause = argument >> CAUSE_SHIFT
    return argument & NODE | arrived.get(cause, cause) << CAUSE_SHIFT


def _is_stored(row: Row) -> bool:
    """Return True for the record of a packet's first word in the memory of its receiver."""
    return row[2] == TraceEvent.RX_HEAD and row[1] < SWITCH_BASE and row[1] % PARTS_PER_NODE == Part.NET_RECV
