"""What tools show of LAPI: the header of its packets."""

from firmware.lapi.host.header import TYPE
from firmware.shown import Plain, Shown

FIELDS = {
    "kind": (
        1,
        "Kind: 1 put, 2 active message, 3 get, 4 its data, 5 rmw, 6 its answer, 7 done, 8 collective, 9 set",
    ),
    "flags": (1, "Flags: 1 asks for an acknowledgement, 2 at once, 4 first packet of its message"),
    "sequence": (4, "Number of the packet in its pair"),
    "expected": (4, "Of the other direction all before are here"),
    "beyond": (4, "And those, a bit each from there on"),
    "message": (2, "Number of the message in its pair"),
    "user": (2, "Bytes of the user header"),
    "offset": (4, "Of the data behind the header"),
    "size": (4, "Data bytes of the message"),
    "address": (4, "Where data go, a header handler, or a word"),
    "counter": (4, "Rises at the target"),
    "completion": (4, "Rises at the sender, or where an answer goes"),
    "first": (4, "First value"),
    "second": (4, "Second value"),
}
SHOWN = Shown(plain=Plain(TYPE, FIELDS))
