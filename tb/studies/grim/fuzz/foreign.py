"""Packets that no NIC of the cluster has sent. A NI must drop them, and continue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from firmware.grim.formats import (
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
from firmware.grim.nic.layout import NONE, Layout
from tb.studies.grim.fuzz.mail import INK

UNKNOWN_CONTROL, ABSENT_CHANNEL = 0x3E, 0xF0
SORTS = ("overlong", "noise", "stranger", "answer", "unknown control", "other connection")
"""Sorts of packets: longer than any message; not GRIM's; of an unknown stream; an answer to no message in flight; of an
unknown control type; of a connection that has ended.
"""


class Target(Protocol):
    """NI that a packet is for."""

    @property
    def me(self) -> int:
        """VNN of the NI."""

    @property
    def peers(self) -> Sequence[int]:
        """VNNs of the other NIs."""

    @property
    def layout(self) -> Layout:
        """Map of its memory."""

    @property
    def lossy(self) -> bool:
        """True if the time-out extension is enabled."""

    @property
    def tags(self) -> Sequence[int]:
        """Tags of its connections, by VNN."""


def foreign(ni: Target, sort: str, number: int) -> bytes:
    """Return a packet of a sort for a NI, from its word 0 on.

    `number` distinguishes packets of one sort. The result is empty if every packet of the sort would be valid for the
    NI.
    """
    nobody = ni.me  # a NI never sends to itself over the network
    key, a_peer = GRIM_ID << 16 | number % TOKENS << 8, ni.peers[number % len(ni.peers)]
    if sort == "overlong":
        return HEADER.pack(key, MessageType.ACTIVE << 26 | a_peer << 8, *[0] * 6) + INK[: ni.layout.buffer_bytes + 64]
    if sort == "noise":
        return INK[number : number + 8 + (number % 300 & ~7)]
    if sort == "stranger":
        return HEADER.pack(key, MessageType.ACTIVE << 26 | nobody << 8, ni.me << 8, ABSENT_CHANNEL << 24, *[0] * 4)
    if sort == "answer":
        kinds = (MessageType.ACK, MessageType.NACK, MessageType.ERROR)
        token = TOKENS - 1 - number % TOKENS  # the highest tokens are often unused
        return CONTROL.pack(*control(kinds[number % len(kinds)], token, number & COUNTER_MASK, nobody))
    if sort == "unknown control":
        return CONTROL.pack(key, UNKNOWN_CONTROL << 26 | nobody << 8)
    if not ni.lossy:
        return b""
    tag = ni.tags[a_peer]
    other = 0 if tag == NONE else tag + (1 << TAG_SHIFT) & TAG
    return HEADER.pack(key, MessageType.ACTIVE << 26 | a_peer << 8 | other, ni.me << 8, *[0] * 5)
