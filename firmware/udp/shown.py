"""Message stages of UDP for reports; with several frames, the stages of the last one."""

from __future__ import annotations

from firmware.shown import WIRE, Boundary, Shown, Waits, receive_stages, send_stages
from firmware.udp.nic.layout import MOST
from pymodels.trace import Part, TraceEvent

STAGES = (
    *send_stages(
        "a system call of {source} copies {bytes} B into frames, adds up their checksum and writes the headers",
        "the driver of {source} stores the order of the frame over the bus",
        "order",
        "frame",
        names=("kernel_sends", "driver_orders"),
    ),
    *WIRE,
    *receive_stages(
        "the NIC of {target} takes a receive buffer and starts the host DMA",
        "the frame is stored, the NIC of {target} interrupts, and the interrupt routine takes the frame",
        name="interrupt",
    ),
    Boundary(
        "kernel_receives",
        TraceEvent.IN_KERNEL,
        Part.HOST_CPU,
        1,
        "the kernel of {target} checks the IP header, reassembles the datagram and finds its socket",
    ),
    Boundary(
        "wake_and_copy",
        TraceEvent.IN_PROCESS,
        Part.HOST_CPU,
        1,
        "the process of {target} wakes, and its system call copies the datagram and checks its checksum",
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
