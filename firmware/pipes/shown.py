"""What tools show of Pipes: the header of its packets."""

from firmware.pipes.host.header import TYPE
from firmware.shown import Plain, Shown

FIELDS = {
    "flags": (2, "Flags: 1 past the pipe, 2 asks for an answer"),
    "position": (4, "Position of the first byte"),
    "come": (4, "All before has come of the stream back"),
    "room": (4, "Room of the stream back ends here"),
}
SHOWN = Shown(plain=Plain(TYPE, FIELDS))
