"""Report data of AM-II: the stages of a message."""

from __future__ import annotations

from firmware.am2.nic.layout import NODES
from firmware.am2.nic.words import CONTROL_WORDS, HEAD, LEAD, TAG, Code, Kind
from firmware.shown import FETCH, NIC_NOTICES, NIC_SEND, WIRE, Boundary, Shown, Waits
from pymodels.trace import Part, TraceEvent

STAGES = (
    Boundary(
        "host_send",
        TraceEvent.PAYLOAD_WRITTEN,
        Part.HOST_CPU,
        0,
        "the CPU of {source} copies {bytes} B of payload into a staging block, and stores the descriptor's words",
    ),
    Boundary(
        "host_owner",
        TraceEvent.POINTER_WRITTEN,
        Part.HOST_CPU,
        0,
        "the CPU of {source} stores the descriptor's first word, which gives it to the NIC",
    ),
    Boundary(
        "bus_and_turn",
        TraceEvent.NIC_NOTICED,
        Part.NIC_CPU,
        0,
        "the word crosses the bus, and the endpoint waits for its turn at the NIC of {source}",
        Waits.PROCESSOR | Waits.OWN_PACKETS | Waits.ENGINE,
    ),
    Boundary("nic_fetch", TraceEvent.NIC_DMA_START, Part.NIC_CPU, 0, FETCH, Waits.DMA, optional=True),
    NIC_SEND,
    *WIRE,
    NIC_NOTICES,
    Boundary(
        "nic_receive",
        TraceEvent.NIC_RECV_DONE,
        Part.NIC_CPU,
        1,
        "the NIC of {target} checks endpoint and tag, moves the message into the endpoint's frame, its payload into a "
        "staging block, and reports it",
        Waits.DMA,
    ),
    Boundary(
        "host_notices",
        TraceEvent.POLL_HIT,
        Part.HOST_CPU,
        1,
        "the CPU of {target} reads over the bus that a message has come",
        Waits.PROCESSOR,
    ),
    Boundary(
        "host_dispatch",
        TraceEvent.HANDLER_START,
        Part.HOST_CPU,
        1,
        "the CPU of {target} reads the descriptor word by word, and calls the handler of its index",
    ),
)
SHOWN = Shown(
    STAGES,
    numbers={
        "NODES": NODES,
        "HEAD": 4 * (HEAD + TAG),
        "LEAD": LEAD,
        "CONTROL": 4 * CONTROL_WORDS,
        "KINDS": Kind,
        "CODES": Code,
    },
)
