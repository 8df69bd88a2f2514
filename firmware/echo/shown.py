"""Message stages and header fields of echo for reports, `make explain` and Wireshark."""

from firmware.echo.nic import layout as at
from firmware.shown import WIRE, Boundary, Plain, Shown
from pymodels.trace import Part, TraceEvent

SEND = "the CPU of {source} stores the packet into its NIC's slot"
START = "the NIC of {source} reaches the slot in its polling loop and starts the send engine"
RECEIVE = "the host DMA of {target} copies packet and flag to host memory, where the CPU's poll finds them"
STAGES = (
    Boundary("host_send", TraceEvent.PAYLOAD_WRITTEN, Part.HOST_CPU, 0, SEND),
    Boundary("nic_send", TraceEvent.TX_START, Part.NET_SEND, 0, START),
    *WIRE,
    Boundary("nic_receive", TraceEvent.POLL_HIT, Part.HOST_CPU, 1, RECEIVE),
)
FIELDS = {"source": (1, "Source VNN"), "number": (1, "Number"), "destination": (2, "Destination VNN")}
SHOWN = Shown(STAGES, plain=Plain(at.TYPE, {**FIELDS, "bytes": (2, "Payload bytes")}))
