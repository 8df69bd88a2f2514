"""What tools show of GRIM: the stages of an active message, a remote write or read, a copy of a multicast."""

from __future__ import annotations

from enum import IntEnum

from firmware.grim.formats import FIRST_CONTROL, GRIM_ID, HEADER_BYTES, Cause, Device, MessageType
from firmware.shown import BEGINS_REPLY, FETCH, NIC_NOTICES, NIC_SEND, WIRE, Boundary, Shown, Waits
from pymodels.trace import Part, TraceEvent

STAGES = (
    Boundary(
        "host_send",
        TraceEvent.PAYLOAD_WRITTEN,
        Part.HOST_CPU,
        0,
        "the CPU of {source} runs the library and hands {bytes} B, header and payload, to the bus",
    ),
    Boundary(
        "host_pointer",
        TraceEvent.POINTER_WRITTEN,
        Part.HOST_CPU,
        0,
        "the CPU of {source} hands the word to the bus that tells its NIC of the message",
    ),
    Boundary(
        "bus_and_channel_search",
        TraceEvent.NIC_NOTICED,
        Part.NIC_CPU,
        0,
        "the word crosses the bus, and the NIC of {source} reaches it in its search",
        Waits.PROCESSOR | Waits.OWN_PACKETS,
    ),
    Boundary("fetch", TraceEvent.DMA_DONE, Part.HOST_DMA, 0, FETCH, Waits.DMA, block="fetch"),
    NIC_SEND,
    Boundary(
        "refused_and_sent_again",
        TraceEvent.NIC_SEND_START,
        Part.NIC_CPU,
        0,
        "{target} refused it, and the NIC of {source} sent it again: {answers}",
        optional=True,
    ),
    *WIRE,
    NIC_NOTICES,
    Boundary(
        "nic_receive",
        TraceEvent.NIC_DMA_START,
        Part.NIC_CPU,
        1,
        "the NIC of {target} checks the packet, finds its place, and starts the host DMA",
    ),
    Boundary(
        "dma_message",
        TraceEvent.DMA_DONE,
        Part.HOST_DMA,
        1,
        "the host DMA of {target} moves the message to host memory",
        Waits.DMA,
        block="message",
    ),
    Boundary(
        "dma_back_pointer",
        TraceEvent.DMA_DONE,
        Part.HOST_DMA,
        1,
        "the host DMA of {target} moves the word that tells the host of the message",
        Waits.DMA,
        block="pointer",
    ),
    Boundary(
        "host_notices",
        TraceEvent.POLL_HIT,
        Part.HOST_CPU,
        1,
        "the CPU of {target} sees that word",
        Waits.PROCESSOR,
    ),
    Boundary(
        "host_dispatch",
        TraceEvent.HANDLER_START,
        Part.HOST_CPU,
        1,
        "the CPU of {target} takes the message and calls its handler",
    ),
    Boundary(
        "card_takes",
        TraceEvent.CARD_TAKE,
        Part.FPGA,
        1,
        "the card's shell gets the bank, reads the header and finds the circuit",
    ),
    BEGINS_REPLY,
    Boundary(
        "nic_copies",
        TraceEvent.NIC_COPY,
        Part.NIC_CPU,
        1,
        "the NIC of {target} copies the message for those below it in the tree",
        optional=True,
    ),
    Boundary(
        "nic_sees_end",
        TraceEvent.NIC_DMA_DONE,
        Part.NIC_CPU,
        1,
        "the NIC of {target} reaches the end of the host DMA in its polling loop",
        Waits.PROCESSOR,
        optional=True,
    ),
)
NUMBERS: dict[str, int | type[IntEnum]] = {
    "GRIM_ID": GRIM_ID,
    "FIRST_CONTROL": FIRST_CONTROL,
    "TYPES": MessageType,
    "CAUSES": Cause,
    "DEVICES": Device,
}
SHOWN = Shown(STAGES, HEADER_BYTES, numbers=NUMBERS)
