"""Packet header fields of Pipes for Wireshark."""

from firmware.pipes.host.header import TYPE
from firmware.shown import Plain, Shown

FIELDS = {
    "flags": (2, "Flags: 1 bypasses the pipe, 2 requests an acknowledgement"),
    "position": (4, "Position of the first byte"),
    "come": (4, "Acknowledgement: position of the first missing byte"),
    "room": (4, "End of the room for the reverse stream"),
}
SHOWN = Shown(plain=Plain(TYPE, FIELDS))
