"""A made-up run of two hosts on one switch, as a trace: for the tests of everything that reads one.

Times are in nanoseconds here, picoseconds in the records. Ping and pong have the same key, as in a real ping-pong, and
so have their answers.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pymodels.trace import CAUSE_SHIFT, RECORD, Part, TraceEvent, switch_port, unit
from tb.report.recorded import LEGEND, TRACE, Legend, write_legend, write_trace

KEY = 0x06360303
LEGEND_OF_TWO = Legend(
    ("paris", "metz"),
    (("sw0", 8),),
    (("paris", 0, "sw0", 0), ("metz", 0, "sw0", 1)),
    ("grim/nic:send_message", "grim/host:send"),
    {"nic": 7500, "link": 6250, "pci": 15000},
    layers=("grim",),
)
Row = tuple[int, ...]
"""A record as in `tb.report.wire`; its number of a message may be left out."""
E = TraceEvent
AT_SENDER = (
    *(E.SEND_CALL, E.SEND_RETURN, E.PAYLOAD_WRITTEN, E.POINTER_WRITTEN, E.POSTED, E.TRAPPED),
    *(
        E.NIC_NOTICED,
        E.NIC_DESCRIPTOR,
        E.NIC_SEND_START,
        E.NIC_SEND_DONE,
        E.RESEND,
        E.ROLLBACK,
        E.ACK_SEEN,
        E.NACK_SEEN,
    ),
)
"""Events of software with the number of their message."""


def record(
    ns: int, node: int, part: Part, event: TraceEvent, key: int = 0, a: int = 0, b: int = 0, message: int = 0
) -> Row:
    """Return a record of a node."""
    return ns * 1000, unit(node, part), event, key, a, b, message


def of_message(number: int, rows: list[Row]) -> list[Row]:
    """Return the records, with the number of a message in those that have none."""
    return [row if len(row) > 6 and row[6] else (*row[:6], number) for row in rows]


def made_for(cause: int, node: int) -> int:
    """Return the second argument of a message that a NIC makes for another one: the number of that, and a node."""
    return cause << CAUSE_SHIFT | node


def packet(at: int, source: int, size: int, key: int = KEY) -> list[Row]:
    """Make a packet over the switch: 10 ns to its head on the wire, 100 ns to the far end, one ns per byte long."""
    target, port = 1 - source, switch_port(0, source)
    return [
        record(at, source, Part.NET_SEND, E.TX_START, key),
        record(at + 10, source, Part.LINK, E.TX_HEAD, key),
        record(at + 20, source, Part.NET_SEND, E.TX_TAIL, key, size + 1),
        ((at + 50) * 1000, port, E.SWITCH_HEAD, 0, target, 0, 0),
        ((at + 80) * 1000, port, E.SWITCH_GRANT, 0, target, 0, 0),
        record(at + 10 + size, source, Part.LINK, E.TX_TAIL, key),
        ((at + 85 + size) * 1000, port, E.SWITCH_TAIL, key, target, 0, 0),
        record(at + 110, target, Part.LINK, E.RX_HEAD, key),
        record(at + 120, target, Part.NET_RECV, E.RX_HEAD, key),
        record(at + 110 + size, target, Part.LINK, E.RX_TAIL, key, size + 1),
        record(at + 120 + size, target, Part.NET_RECV, E.RX_TAIL, key, size + 1),
    ]


def message(at: int, source: int, number: int = 1, size: int = 64, key: int = KEY) -> list[Row]:
    """Make a message of `size` bytes, the `number`-th send of its host, from `send` at `at` to its handler
    3000 ns later.

    Its acknowledgement is back after 3500 ns.
    """
    target, whole = 1 - source, size + 32
    rows = [
        record(at, source, Part.HOST_CPU, E.SEND_CALL, key, size),
        record(at, source, Part.HOST_CPU, E.SPEND_START, 0, 1, 200_000),
        record(at + 200, source, Part.HOST_CPU, E.SPEND_END, 0, 1, 200_000),
        record(at + 300, source, Part.HOST_CPU, E.PAYLOAD_WRITTEN, key, whole),
        record(at + 350, source, Part.HOST_CPU, E.POINTER_WRITTEN, key, 40),
        record(at + 360, source, Part.HOST_CPU, E.SEND_RETURN, 0, size),
        record(at + 500, source, Part.NIC_CPU, E.NIC_NOTICED, key),
        record(at + 510, source, Part.NIC_CPU, E.WORK_START, 0, 0, 80),
        record(at + 1110, source, Part.NIC_CPU, E.WORK_END, 0, 0, 80),
        record(at + 1111, source, Part.NIC_CPU, E.NIC_SEND_START, key, whole),
        *packet(at + 1120, source, whole, key),
        record(at + 1800, target, Part.NIC_CPU, E.NIC_RECV_START, key, source),
        record(at + 1800, target, Part.NIC_CPU, E.NIC_ACCEPT, key, source),
        record(at + 1900, target, Part.NIC_CPU, E.NIC_DMA_START, key, whole, 4),
        record(at + 1950, target, Part.HOST_DMA, E.DMA_START, 0x3A00, 0, -whole),
        record(at + 2000, target, Part.NIC_CPU, E.ACK_SENT, key, source),
        *packet(at + 2010, target, 8, key),
        record(at + 2300, target, Part.HOST_DMA, E.DMA_DONE, 0x3A00, 0, -whole),
        record(at + 2400, target, Part.HOST_DMA, E.DMA_START, 0x1800, 0, -4),
        record(at + 2600, target, Part.HOST_DMA, E.DMA_DONE, 0x1800, 0, -4),
        record(at + 2650, target, Part.NIC_CPU, E.NIC_DMA_DONE, key, whole),
        record(at + 2900, target, Part.HOST_CPU, E.POLL_HIT, key, 0, source),
        record(at + 3000, target, Part.HOST_CPU, E.HANDLER_START, key, 16, source),
        record(at + 3050, target, Part.HOST_CPU, E.HANDLER_END, key, 16, source),
        record(at + 3500, source, Part.NIC_CPU, E.NIC_RECV_START, key, target),
        record(at + 3500, source, Part.NIC_CPU, E.ACK_SEEN, key, target),
    ]
    return of_message(2 * number - 1 + source, rows)


def through_a_card(at: int) -> list[Row]:
    """Make a message from host 0 to a circuit of host 1's card, at 2950 ns.

    The result goes to host 0, 3250 to 6000 ns.
    """
    host = (E.POLL_HIT, E.HANDLER_START, E.HANDLER_END)
    call = (E.SEND_CALL, E.SPEND_START, E.SPEND_END, E.PAYLOAD_WRITTEN, E.POINTER_WRITTEN, E.SEND_RETURN)
    return [
        *(row for row in message(at, 0) if row[2] not in host),
        record(at + 2950, 1, Part.FPGA, E.CARD_TAKE, KEY),
        record(at + 3250, 1, Part.FPGA, E.CARD_GIVE, KEY),
        *(row for row in message(at + 3000, 1, key=KEY + 0x100) if row[2] not in call),
    ]


def trace(*parts: list[Row]) -> NDArray[np.void]:
    """Records in time order, shape (n,)."""
    ordered = sorted((row for part in parts for row in part), key=lambda row: row[0])
    return np.array([(*row[:3], 0, *row[3:], 0)[: len(RECORD.names or ())] for row in ordered], RECORD)


def ping_pong(rounds: int = 2) -> NDArray[np.void]:
    """So many messages there and back, all of one key."""
    return trace(*(message(8000 * i + 3050 * side, side, i + 1) for i in range(rounds) for side in (0, 1)))


def leave(folder: Path, records: NDArray[np.void] | None = None, legend: Legend = LEGEND_OF_TWO) -> Path:
    """Write a trace and its legend as a run does; the folder."""
    write_trace(ping_pong() if records is None else records, folder / TRACE)
    write_legend(legend, folder / LEGEND)
    return folder
