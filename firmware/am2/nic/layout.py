"""Where things stand in the NIC's memory. Both sides read this file.

| from | what |
|---|---|
| 0x0000 | words of the driver; they are never mapped into a process |
| 0x0100 | rows of endpoints: what the driver says of each |
| 0x0900 | notices to the driver |
| 0x1000 | frames, 8 KB each, mapped into the processes that own them |
| behind | the NIC's own: endpoints, channels of each node, then the packet port |

A frame is four queues of 32 descriptors of 64 bytes. The last words of the first descriptors of the send queues are the
NIC's: how many descriptors it has given back, how many messages have come.
"""

from __future__ import annotations

from enum import IntEnum

from firmware.am2.nic.words import Queue
from firmware.common.nic.transfers import PortMap
from pymodels.codes import quick
from pymodels.host.pages import PAGE

DESCRIPTORS, STRIDE = 32, 64
"""Of a queue; bytes of one."""
QUEUE = DESCRIPTORS * STRIDE
FRAME = 4 * QUEUE
FRAME_PAGES = FRAME // PAGE
ENDPOINTS = 64
"""Rows: endpoints of a node."""
NODES = 64
ROW = 32
BLOCKS = 16
"""Staging blocks of an endpoint: for requests and replies that leave, for requests and replies that have come."""
BLOCKS_A_QUEUE = BLOCKS // 4
CHANNEL_BYTES = 20
"""A channel as its sender keeps it (16), and as its receiver does (4)."""


@quick
class Word(IntEnum):
    """Words of the driver [who writes], byte addresses."""

    READY = 0x00
    """Not 0: the driver is there [host]."""
    COMMAND = 0x04
    """1 + the endpoint whose row has changed [host]; 0: the NIC has done what it says; NOT_YET: ask again [NIC]."""
    BAD = 0x08
    """Packets that came damaged [NIC]."""
    DUPLICATES = 0x0C
    """Messages that came again [NIC]."""
    RESENT = 0x10
    """Retransmissions [NIC]."""
    REFUSED = 0x14
    """Messages that were returned by this NIC as their receiver [NIC]."""
    DROPPED = 0x18
    """Messages dropped without an answer: their queue was full [NIC]."""
    ROWS = 0x100


@quick
class Notice(IntEnum):
    """What the NIC tells the driver of an endpoint. A word of the ring: owned (1) | 0 | notice (8) | endpoint (8)."""

    WANTED = 1
    """It is absent, and a message has come for it, or of it one waits to leave."""
    EVENT = 2
    """It was asleep, and a message has come."""


@quick
class Row(IntEnum):
    """A row of an endpoint [host], offsets."""

    FRAME = 0
    """Where its frame is to be in the NIC's memory; ABSENT: not there; 0: there is no such endpoint."""
    TAG = 4
    STAGING = 12
    """Physical address of its staging blocks."""
    WEIGHT = 16
    IMAGE = 20
    """Physical address of its frame in host memory, while it is absent."""
    ASLEEP = 24
    """Not 0: the next message of it interrupts."""


FRAMES = 0x1000
NOT_YET, MOVING = 1 << 31, 1 << 31 | 1 << 8
"""Answers to a command: messages of the endpoint are under way, and the driver is to ask again; its frame is under way,
and 0 will tell when it is there.
"""
ABSENT = 1
"""In place of the address of a frame."""
NOTICES, NOTICE_WORDS = 0x900, 256
"""A ring of words that the NIC writes, and the driver clears: never full, since an endpoint has one of each at most."""
ENDPOINT_BYTES = 224
"""What the NIC keeps of an endpoint outside of its frame (state.h)."""
FREED = {
    Queue.REQUEST_SEND: Queue.REQUEST_SEND * QUEUE + STRIDE - 4,
    Queue.REPLY_SEND: Queue.REPLY_SEND * QUEUE + STRIDE - 4,
}
"""By send queue: where a frame says how many of its descriptors were given back (16), in order, counted from the start,
and how many messages came back (16): their payload is in their staging blocks."""
ARRIVED = Queue.REQUEST_SEND * QUEUE + STRIDE - 8
"""Where a frame says how many requests (16) and replies (16) have come."""


def row(endpoint: int) -> int:
    """Address of an endpoint's row."""
    return Word.ROWS + ROW * endpoint


def descriptor(frame: int, queue: int, index: int) -> int:
    """Address of a descriptor, in a frame that stands at `frame`."""
    return frame + QUEUE * queue + STRIDE * (index % DESCRIPTORS)


class Place:
    """What depends on options and nodes."""

    def __init__(self, frames: int, channels: int, nodes: int, medium: int) -> None:
        """`medium`: bytes of a staging block."""
        self.frames = [FRAMES + FRAME * index for index in range(frames)]
        self.channels = FRAMES + FRAME * frames + ENDPOINT_BYTES * ENDPOINTS
        self.port = self.channels + CHANNEL_BYTES * channels * nodes + 7 & -8
        self._medium, self._nodes = medium, nodes

    def end(self, lead: int) -> int:
        """First byte that nobody uses; `lead`: bytes in front of a packet's payload."""
        return PortMap(self.port, self._medium + lead, self._nodes).end
