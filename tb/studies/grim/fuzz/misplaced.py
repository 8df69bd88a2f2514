"""Messages that no library sends, in order in an unused stream. A NI must answer them by an ERROR, and continue."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.grim.formats import GRIM_ID, HEADER, TAG, Device, MessageType, Words
from firmware.grim.nic.layout import NONE
from firmware.grim.nic.scan import Firmware
from tb.fuzz.program import Program
from tb.studies.grim.fuzz.in_c import ExecutingNi

UNKNOWN_KIND, ABSENT_TREE, OF_ALL = 0xF, 0xFF, 0
KINDS: Mapping[str, tuple[int, int, int]] = {
    "unknown type": (UNKNOWN_KIND, 0, Device.HOST),
    "unknown endpoint": (MessageType.ACTIVE, 0, Device.FRAME_BUFFER),
    "no bytes": (MessageType.RM_V, 0, Device.HOST),
    "absent tree": (MessageType.MULTICAST, ABSENT_TREE, Device.HOST),
    "tree of another root": (MessageType.MULTICAST, OF_ALL, Device.HOST),
}
"""Type, tree and device of each sort. The root of the tree of all hosts is node 0."""


def misplaced(firmware: Firmware | ExecutingNi, program: Program, sort: str, number: int) -> bytes:
    """Return a message of a sort for a NI, from its word 0 on.

    The result is empty if no stream is unused or if the message would be valid. It is also empty if the NI executes
    firmware in C, whose expected sequence numbers are unknown.
    """
    if not isinstance(firmware, Firmware):
        return b""
    ni, verdicts = firmware.ni, firmware.parts.verdicts
    peer = ni.peers[number % len(ni.peers)]
    channel = _unused(program, peer, ni.options.channels)
    kind, tree, device = KINDS[sort]
    its_own = kind == MessageType.MULTICAST and tree == OF_ALL and ni.me == 0
    if channel is None or ni.options.sequencing == "per-ni" or ni.tags[peer] == NONE or its_own:
        return b""
    w1 = kind << 26 | tree << 16 | peer << 8 | ni.tags[peer] & TAG
    w3 = channel << 24
    stream = verdicts.stream(Words(0, w1, 0, w3))
    key = GRIM_ID << 16 | channel * ni.layout.slots << 8 | verdicts.expected[stream]
    return HEADER.pack(key, w1, ni.me << 8 | device, w3, *[0] * 4)


def _unused(program: Program, node: int, channels: int) -> int | None:
    """Return a channel that a node does not use, or None; libraries and handlers use channel 0."""
    used = {
        int(act.values["channel"]) % channels for act in program.acts if act.node == node and "channel" in act.values
    }
    return next((channel for channel in range(1, channels) if channel not in used), None)
