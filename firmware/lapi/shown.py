"""Packet header fields of LAPI for Wireshark."""

from firmware.lapi.host.header import TYPE
from firmware.shown import Plain, Shown

FIELDS = {
    "kind": (
        1,
        "Kind: 1 put, 2 active message, 3 get, 4 its data, 5 rmw, 6 its reply, 7 done, 8 collective, 9 set",
    ),
    "flags": (1, "Flags: 1 requests an acknowledgement, 2 at once, 4 first packet of its message"),
    "sequence": (4, "Number of the packet in its pair"),
    "expected": (4, "Acknowledgement: first missing sequence number"),
    "beyond": (4, "Acknowledgement: bit mask of later packets received"),
    "message": (2, "Number of the message in its pair"),
    "user": (2, "Bytes of the user header"),
    "offset": (4, "Offset of the data in the message"),
    "size": (4, "Data bytes of the message"),
    "address": (4, "Destination of data, header handler, or word"),
    "counter": (4, "Counter at the target"),
    "completion": (4, "Counter at the sender, or destination of a reply"),
    "first": (4, "First value"),
    "second": (4, "Second value"),
}
SHOWN = Shown(plain=Plain(TYPE, FIELDS))
