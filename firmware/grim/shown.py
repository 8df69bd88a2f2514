"""GRIM's stages for trace tools: active message, remote write and read, copy of a multicast."""

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
        "the CPU of {source} runs the library and writes {bytes} B, header and payload, to the bus",
    ),
    Boundary(
        "host_pointer",
        TraceEvent.POINTER_WRITTEN,
        Part.HOST_CPU,
        0,
        "the CPU of {source} writes the word that announces the message to its NIC",
    ),
    Boundary(
        "bus_and_channel_search",
        TraceEvent.NIC_NOTICED,
        Part.NIC_CPU,
        0,
        "the word crosses the bus, and the NIC of {source} finds it in its search",
        Waits.PROCESSOR | Waits.OWN_PACKETS,
    ),
    Boundary("fetch", TraceEvent.DMA_DONE, Part.HOST_DMA, 0, FETCH, Waits.DMA, block="fetch"),
    NIC_SEND,
    Boundary(
        "refused_and_sent_again",
        TraceEvent.NIC_SEND_START,
        Part.NIC_CPU,
        0,
        "{target} rejected it, and the NIC of {source} retransmitted it: {answers}",
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
        "the host DMA of {target} writes the word that announces the message to the host",
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
        "the card's shell acquires the bank, reads the header and finds the circuit",
    ),
    BEGINS_REPLY,
    Boundary(
        "nic_copies",
        TraceEvent.NIC_COPY,
        Part.NIC_CPU,
        1,
        "the NIC of {target} copies the message for its children in the tree",
        optional=True,
    ),
    Boundary(
        "nic_sees_end",
        TraceEvent.NIC_DMA_DONE,
        Part.NIC_CPU,
        1,
        "the NIC of {target} detects the end of the host DMA in its polling loop",
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
