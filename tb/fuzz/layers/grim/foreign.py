"""Packets that no NIC of the cluster has sent: a NI must drop them, and whatever else it does must go on."""

from __future__ import annotations

from firmware.nic.grim.layout import NONE
from firmware.nic.grim.scan import Firmware
from pymodels.formats.grim import (
    CONTROL,
    COUNTER_MASK,
    GRIM_ID,
    HEADER,
    TAG,
    TAG_SHIFT,
    TOKENS,
    MessageType,
    control,
)
from tb.fuzz.layers.grim.mail import INK

UNKNOWN_CONTROL, ABSENT_CHANNEL = 0x3E, 0xF0
SORTS = ("overlong", "noise", "stranger", "answer", "unknown control", "other connection")
"""What a packet is: longer than any message; not GRIM's; of a stream that the NI does not have; an answer to no message
in flight; of no known type; of a connection that has ended.
"""


def foreign(firmware: Firmware, sort: str, number: int) -> bytes:
    """A packet of a sort for a NI, from its word 0 on; `number` tells those of one sort apart. Empty when everything of
    the sort means something to the NI.
    """
    ni, nobody = firmware.ni, firmware.ni.me  # nothing of a NI comes to itself over the network
    key, a_peer = GRIM_ID << 16 | number % TOKENS << 8, ni.peers[number % len(ni.peers)]
    if sort == "overlong":
        return HEADER.pack(key, MessageType.ACTIVE << 26 | a_peer << 8, *[0] * 6) + INK[: ni.layout.buffer_bytes + 64]
    if sort == "noise":
        return INK[number : number + 8 + (number % 300 & ~7)]
    if sort == "stranger":
        return HEADER.pack(key, MessageType.ACTIVE << 26 | nobody << 8, ni.me << 8, ABSENT_CHANNEL << 24, *[0] * 4)
    if sort == "answer":
        kinds = (MessageType.ACK, MessageType.NACK, MessageType.ERROR)
        token = TOKENS - 1 - number % TOKENS  # the last ones are often nobody's
        return CONTROL.pack(*control(kinds[number % len(kinds)], token, number & COUNTER_MASK, nobody))
    if sort == "unknown control":
        return CONTROL.pack(key, UNKNOWN_CONTROL << 26 | nobody << 8)
    if not ni.lossy:
        return b""
    tag = ni.tags[a_peer]
    other = 0 if tag == NONE else tag + (1 << TAG_SHIFT) & TAG
    return HEADER.pack(key, MessageType.ACTIVE << 26 | a_peer << 8 | other, ni.me << 8, *[0] * 5)
