"""What tools show of UDP: the stages of a datagram, of its last frame where there are several."""

from __future__ import annotations

from firmware.nic.udp.layout import MOST
from firmware.shown import NIC_NOTICES, NIC_SEND, WIRE, Boundary, Shown, Waits
from pymodels.trace import Part, TraceEvent

STAGES = (
    Boundary(
        "kernel_sends",
        TraceEvent.PAYLOAD_WRITTEN,
        Part.HOST_CPU,
        0,
        "a system call of {source} copies {bytes} B into frames, adds up their checksum and writes the headers",
    ),
    Boundary(
        "driver_orders",
        TraceEvent.POINTER_WRITTEN,
        Part.HOST_CPU,
        0,
        "the driver of {source} hands the order of the frame to the bus",
    ),
    Boundary(
        "bus_and_turn",
        TraceEvent.NIC_NOTICED,
        Part.NIC_CPU,
        0,
        "the order crosses the bus, and the NIC of {source} comes to it when it has room for the frame",
        Waits.PROCESSOR | Waits.OWN_PACKETS | Waits.ENGINE,
    ),
    NIC_SEND,
    *WIRE,
    NIC_NOTICES,
    Boundary(
        "nic_receive",
        TraceEvent.NIC_DMA_START,
        Part.NIC_CPU,
        1,
        "the NIC of {target} takes a buffer of the driver, and starts the host DMA",
    ),
    Boundary(
        "interrupt",
        TraceEvent.POLL_HIT,
        Part.HOST_CPU,
        1,
        "the frame is moved, the NIC of {target} interrupts, and the service routine comes to the frame",
        Waits.PROCESSOR | Waits.DMA,
    ),
    Boundary(
        "kernel_receives",
        TraceEvent.IN_KERNEL,
        Part.HOST_CPU,
        1,
        "the kernel of {target} checks the IP header, puts the datagram together and finds its socket",
    ),
    Boundary(
        "wake_and_copy",
        TraceEvent.IN_PROCESS,
        Part.HOST_CPU,
        1,
        "the process of {target} comes to its system call, which copies the datagram and adds up its checksum",
        Waits.PROCESSOR,
    ),
    Boundary(
        "returns",
        TraceEvent.HANDLER_START,
        Part.HOST_CPU,
        1,
        "the system call of {target} returns",
    ),
)
SHOWN = Shown(STAGES, numbers={"MOST": MOST})
