"""Trace format: event codes, unit numbers and the 40-byte record, shared by hardware, firmware and readers.

`python -m pymodels.trace_points` prints `hdl/sim/probe/sim_trace_pkg.sv`; a test compares the committed file. Codes
never change, so that old trace files stay readable. Software events are below 0x100, hardware events at 0x100 and
above.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from pymodels.codes import quick

RECORD = np.dtype(
    [
        ("time", "<i8"),  # picoseconds
        ("unit", "<u4"),  # who: see `unit`, `switch_port`, `cable`
        ("event", "<u2"),  # TraceEvent
        ("pad", "<u2"),
        ("packet", "<u4"),  # key: the first four bytes after the route, big-endian; 0 when there is none
        ("argument", "<u4"),  # as the event says
        ("argument2", "<i8"),  # as the event says
        ("message", "<u8"),  # number of the message (`pymodels.messages`); 0 where the record does not say it
    ]
)
"""Trace record of 40 bytes, little-endian, as the C ring buffer of the doorway writes it."""

PARTS_PER_NODE = 16
PORTS_PER_SWITCH = 64
SWITCH_BASE = 0x10000
CENTRAL_QUEUE = PORTS_PER_SWITCH - 1
"""Port number of the central queue of an SP switch in unit numbers."""
CABLE_BASE = 0x20000


class Part(IntEnum):
    """Traced parts of a node."""

    HOST_CPU = 0
    BRIDGE = 1
    NIC_CPU = 2
    NET_SEND = 3
    NET_RECV = 4
    HOST_DMA = 5
    DOORBELL = 6
    LINK = 7
    SRAM = 8
    PCI = 9
    FPGA = 10
    FRAME = 11
    PCI_FAR = 12
    IO_CPU = 13


@quick
class TraceEvent(IntEnum):
    """Event codes of the trace. Comments describe the arguments (a: argument, b: argument2).

    Records of a message carry its number, from SEND_CALL to HANDLER_END: those of hosts, NICs, host DMA, cables and
    switches, and ACK_SENT to ACK_SEEN. The packet of an answer carries the number of the message that it answers.
    NIC_REPLY and NIC_COPY carry the number of the message that they begin, and in argument b that of its cause.
    """

    # The host library.
    SEND_CALL = 0x01  # a: bytes of the message
    SEND_RETURN = 0x02  # a: bytes of the message
    PAYLOAD_WRITTEN = 0x03  # header and payload passed to the bus; a: bytes
    POINTER_WRITTEN = 0x04  # the word that notifies the NIC passed to the bus; a: its value
    POLL_HIT = 0x05  # the host read the word that announces a message; a: index of the watch, b: source node
    HANDLER_START = 0x06  # a: handler number, b: source node
    HANDLER_END = 0x07  # a: handler number, b: source node
    POSTED = 0x08  # VIA: the descriptor of a SEND_CALL; a: its physical address
    TRAPPED = 0x09  # the kernel has a message to send; a: bytes
    IN_KERNEL = 0x0A  # all of a message is in the kernel's memory; packet: its last one; a: bytes, b: source node
    IN_PROCESS = 0x0B  # all of a message is in its process's memory; packet: its last one; a: bytes, b: source node
    CALL_START = 0x0C  # the application calls a library; a: number of the call, as shown by its layer
    CALL_END = 0x0D  # the call returns; a: number of the call
    # Time charged by software.
    WORK_START = 0x20  # NIC processor; a: number of the path, b: its clocks
    WORK_END = 0x21  # NIC processor; a: number of the path, b: its clocks
    SPEND_START = 0x22  # host CPU; a: number of the path, b: picoseconds
    SPEND_END = 0x23  # host CPU; a: number of the path, b: picoseconds
    FUNCTION = 0x24  # NIC that executes machine code: change of function; a: its number, b: 1 = from its start
    INSTRUCTION = 0x25  # NIC that executes machine code, on demand: an instruction; a: its address
    # NIC firmware.
    NIC_NOTICED = 0x40  # the scan found a new message of the host; a: channel
    NIC_SEND_START = 0x41  # the limit is written, the send engine starts; a: bytes
    NIC_SEND_DONE = 0x42  # the firmware read SEND_INT; a: bytes
    NIC_RECV_START = 0x43  # the firmware noticed a packet; a: source node
    NIC_ACCEPT = 0x44  # packet in sequence and room for it; a: source node, b: 0, or its destination (ACCEPT_...)
    NIC_RECV_DONE = 0x45  # the data are at the endpoint, or their transfer is started; a: bytes
    NIC_DMA_START = 0x46  # the firmware started a chain; a: bytes, b: bytes of the word after them that announces them
    NIC_DMA_DONE = 0x47  # the firmware noticed its end; a: bytes
    NIC_DROPPED = 0x48  # a packet dropped without an answer; a: reason of the layer
    TRANSLATION_MISS = 0x49  # a remote memory message waits for the driver; a: virtual address
    TRANSLATION_DONE = 0x4A  # the driver has answered; a: 0, or the reason of an error
    NIC_REPLY = 0x4B  # the reply to a remote read starts; packet: its key, a: key of the read, b: CAUSE_SHIFT
    NIC_COPY = 0x4C  # the copy of a multicast; packet: its key, a: key of the original, b: CAUSE_SHIFT
    NIC_DESCRIPTOR = 0x4D  # VIA: the descriptor of a send is read; a: its physical address, b: VI, from bit 8 Control
    # Reliability.
    ACK_SENT = 0x60  # a: peer node, b: 0, or (VIA, where packet is the key of the ACK) the peer's VI
    ACK_SEEN = 0x61  # a: peer node
    NACK_SENT = 0x62  # a: peer node, b: as for ACK_SENT
    NACK_SEEN = 0x63  # a: peer node
    ROLLBACK = 0x64  # a: messages to retransmit
    RESEND = 0x65  # a: peer node
    CONTROL_QUEUED = 0x66  # an ACK or NACK waits for the outgoing link; a: number of waiting ones
    SYNC_SENT = 0x67  # a: peer node
    SYNC_SEEN = 0x68  # a: peer node
    TIMEOUT = 0x69  # no ACK in time; a: messages to retransmit
    PARTED = 0x6A  # a connection has ended: the peer is down, or has restarted; a: peer node
    JOINED = 0x6B  # a new connection has begun; a: peer node

    # Packets in hardware (NET_SEND, NET_RECV, LINK).
    # `address` below is in the NIC's SRAM, or in the FIFO card's memory. It is 0 on an SP adapter, whose packets do not
    # pass through SRAM.
    TX_START = 0x100  # a limit register was written, or a packet started; a: address of its first byte
    TX_HEAD = 0x101  # first character on the wire
    TX_TAIL = 0x102  # NET_SEND: passed to the link; a: its bytes with the route (SP: user bytes); LINK: GAP on the wire
    RX_HEAD = 0x103  # NET_RECV: first word of a packet stored; a: its address; LINK: first character arrived
    RX_TAIL = 0x104  # tail stored (NET_RECV), or arrived (LINK); a: bytes with the CRC character, b: syndrome
    # Host DMA; packet: SRAM address of the block.
    DMA_START = 0x110  # a: chain, b: bytes, negative for L2E
    DMA_DONE = 0x111  # a: chain, b: bytes, negative for L2E
    # SP adapter: DMA_START and DMA_DONE are those of the left engine; packet: number of the command among the FETCHes
    # (a: 0) or the STOREs (a: 1). The right engine's work on a received packet:
    MOVE_START = 0x112  # user bytes of a packet to the Recv/Cmd FIFO; a: number of their STORE, b: bytes
    MOVE_DONE = 0x113  # the move has ended; a: number of their STORE, b: bytes
    # Programmed I/O and doorbells.
    PIO_WRITE = 0x120  # a store command of the CPU begins: a copy, or 32 bytes at most; a: bus address, b: bytes
    PIO_ACCEPT = 0x121  # a beat arrived, not in the 64-bit word after the last one; a: offset of its word
    PIO_READ = 0x122  # a load of the CPU has ended; a: bus address, b: the word
    DOORBELL = 0x123  # an entry was appended; a: address offset in the BAR, b: data
    INTERRUPT = 0x124  # INTA# changed; a: 1 asserted, 0 released
    # Switches and cables.
    SWITCH_HEAD = 0x130  # route byte decoded; a: output port
    SWITCH_GRANT = 0x131  # crossbar connected, or (SP switch) queued for the output; a: output port
    SWITCH_TAIL = 0x132  # tail passed; a: output port
    STALL_START = 0x133  # a head waits for its output, or STOP holds a sender; a: output port
    STALL_END = 0x134  # a: output port
    SWITCH_QUEUE = 0x135  # output busy, the packet enters the central queue (SP switch); a: output port
    # The FPGA card.
    CARD_TAKE = 0x148  # a message is passed to its circuit; a: its byte offset in the banks
    CARD_GIVE = 0x149  # the result is written and can be sent
    # The frame buffer card.
    FRAME_START = 0x14A  # the first data of a transaction with it
    FRAME_END = 0x14B  # it has ended; a: byte offset of its first lane group, b: bytes written, 0 for a read
    # Use of a resource, in windows of its clock with any use.
    SRAM_USE = 0x150  # accesses by DMA engines and PIO in 1024 clocks, two a clock at most; a: accesses
    PCI_USE = 0x151  # use of the bus in 512 clocks; a: clocks in which it was not idle, b: data phases
    SLACK_FILL = 0x152  # a slack buffer has reached another multiple of 16 characters, or 8 below one; a: characters
    QUEUE_FILL = 0x153  # a central queue likewise, in chunks of 8 bytes, or a new maximum; a: bytes
    # Faults.
    FAULT = 0x140  # an injected fault took effect; a: kind, b: detail
    # Continuity of the link that arrives at a NIC (LINK).
    BEAT_MISSED = 0x141  # another character in place of a due BEAT
    BEAT_BACK = 0x142  # a BEAT arrived again
    LINK_DOWN = 0x143  # three successive BEATs did not arrive
    LINK_UP = 0x144  # a BEAT arrived again


CAUSE_SHIFT = 16
"""Bit of argument b of NIC_REPLY and NIC_COPY from which on it is the number of the message that caused the reply or
copy. Lower bits are the reading node, or the child.
"""
ACCEPT_IN_NIC = -1
"""Argument b of NIC_ACCEPT if the NIC executes the message itself. Values from 1 on are the number plus 1 of the VI in
whose queue the host finds the message.
"""
SOFTWARE_EVENTS = tuple(event for event in TraceEvent if event < 0x100)
HARDWARE_EVENTS = tuple(event for event in TraceEvent if event >= 0x100)


def unit(node: int, part: Part) -> int:
    """Return the unit number of a part of a node (VNN 0..4095)."""
    return node * PARTS_PER_NODE + part


def switch_port(switch: int, port: int) -> int:
    """Return the unit number of an input port of a switch."""
    return SWITCH_BASE + switch * PORTS_PER_SWITCH + port


def cable(number: int) -> int:
    """Return the unit number of a cable."""
    return CABLE_BASE + number


def unit_name(number: int) -> str:
    """Return the display name of a unit, such as `node 1 NIC CPU`, `switch 0 port 3`, `cable 2`."""
    if number >= CABLE_BASE:
        return f"cable {number - CABLE_BASE}"
    if number >= SWITCH_BASE:
        switch, port = divmod(number - SWITCH_BASE, PORTS_PER_SWITCH)
        return f"switch {switch} central queue" if port == CENTRAL_QUEUE else f"switch {switch} port {port}"
    node, part = divmod(number, PARTS_PER_NODE)
    return f"node {node} {_part_name(part)}"


def event_name(code: int) -> str:
    """Return the display name of an event code (`send call`), or the code in hexadecimal if it is unknown."""
    try:
        return TraceEvent(code).name.lower().replace("_", " ")
    except ValueError:
        return f"event {code:#x}"


def _part_name(part: int) -> str:
    try:
        words = Part(part).name.split("_")
    except ValueError:
        return f"part {part}"
    return " ".join(
        word if word in ("CPU", "NIC", "DMA", "SRAM", "PCI", "FPGA", "IO") else word.lower() for word in words
    )


def in_time_order(records: NDArray[np.void]) -> NDArray[np.void]:
    """Return records, shape (n,), in time order, and at equal times as they were recorded.

    A switch may grant an output at the edge at which it decodes the head. The grant then follows the head.
    """
    order = records["time"].astype(np.int64) * 2 + (records["event"] == TraceEvent.SWITCH_GRANT)
    return np.take(records, np.argsort(order, kind="stable"))  # faster than records[...]


def systemverilog() -> str:
    """Return the text of `hdl/sim/probe/sim_trace_pkg.sv`. Software events are left out, so that new ones need no new
    build.
    """
    lines = [
        "// Trace event codes and unit numbers. Generated by `python -m pymodels.trace_points`.",
        "package sim_trace_pkg;",
        f"  localparam int PARTS_PER_NODE = {PARTS_PER_NODE};",
        f"  localparam int PORTS_PER_SWITCH = {PORTS_PER_SWITCH};",
        f"  localparam int CENTRAL_QUEUE = {CENTRAL_QUEUE};",
        f"  localparam int SWITCH_BASE = 32'h{SWITCH_BASE:08X};",
        f"  localparam int CABLE_BASE = 32'h{CABLE_BASE:08X};",
        *(f"  localparam int PART_{part.name} = {part.value};" for part in Part),
        *(f"  localparam logic [15:0] EV_{event.name} = 16'h{event.value:04X};" for event in HARDWARE_EVENTS),
        "endpackage",
    ]
    return "\n".join(lines) + "\n"
