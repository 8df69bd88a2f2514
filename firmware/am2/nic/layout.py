"""Layout of the NIC's memory, for NIC and host.

| from | contents |
|---|---|
| 0x0000 | words of the driver; never mapped into a process |
| 0x0100 | rows of endpoints, written by the driver |
| 0x0900 | notices to the driver |
| 0x1000 | frames, 8 KB each, mapped into the processes that own them |
| then | the NIC's own: endpoints, channels of each node, the packet port |

A frame is four queues of 32 descriptors of 64 bytes. The NIC uses the last words of the first descriptors of the send
queues for its counts of freed descriptors and of received messages.
"""

from __future__ import annotations

from enum import IntEnum

from firmware.am2.nic.words import Queue
from firmware.common.nic.transfers import PortMap
from pymodels.codes import quick
from pymodels.host.pages import PAGE
from pymodels.messages import BESIDE

DESCRIPTORS, STRIDE = 32, 64
"""Descriptors of a queue, and bytes of a descriptor."""
QUEUE = DESCRIPTORS * STRIDE
FRAME = 4 * QUEUE
FRAME_PAGES = FRAME // PAGE
NOTES = BESIDE
"""For the trace, messages begin in a frame of their endpoint from this address on: frames move."""
ENDPOINTS = 64
"""Rows: endpoints of a node."""
NODES = 64
ROW = 32
BLOCKS = 16
"""Staging blocks of an endpoint, a quarter for each queue: requests and replies, sent and received."""
BLOCKS_A_QUEUE = BLOCKS // 4
CHANNEL_BYTES = 20
"""Bytes of a channel: 16 at the sender, 4 at the receiver."""


@quick
class Word(IntEnum):
    """Byte addresses of the driver's words [writer]."""

    READY = 0x00
    """Nonzero when the driver is loaded [host]."""
    COMMAND = 0x04
    """1 + the endpoint whose row has changed [host]; 0: carried out; NOT_YET: repeat the command [NIC]."""
    BAD = 0x08
    """Number of damaged packets [NIC]."""
    DUPLICATES = 0x0C
    """Number of duplicate messages [NIC]."""
    RESENT = 0x10
    """Number of retransmissions [NIC]."""
    REFUSED = 0x14
    """Number of messages that this NIC has rejected as their receiver [NIC]."""
    DROPPED = 0x18
    """Number of messages dropped without acknowledgement because of a full queue [NIC]."""
    ROWS = 0x100


@quick
class Notice(IntEnum):
    """Notice about an endpoint to the driver. Word of the ring: owned (1) | 0 | notice (8) | endpoint (8)."""

    WANTED = 1
    """The endpoint is absent, and has a message to receive or to send."""
    EVENT = 2
    """A message has arrived for a sleeping owner."""


@quick
class Row(IntEnum):
    """Byte offsets in the row of an endpoint [host]."""

    FRAME = 0
    """Requested SRAM address of the frame; ABSENT for none; 0 if the endpoint does not exist."""
    TAG = 4
    STAGING = 12
    """Physical address of the staging blocks."""
    WEIGHT = 16
    IMAGE = 20
    """Physical address of the frame in host memory, while it is absent."""
    ASLEEP = 24
    """Nonzero if the next message interrupts."""


FRAMES = 0x1000
NOT_YET, MOVING = 1 << 31, 1 << 31 | 1 << 8
"""Replies to a command.

NOT_YET: messages of the endpoint are in flight, and the driver has to repeat the command. MOVING: the frame is being
moved, and 0 will follow.
"""
ABSENT = 1
"""Value of a frame address for an absent frame."""
NOTICES, NOTICE_WORDS = 0x900, 256
"""Ring of words that the NIC writes and the driver clears. Never full: an endpoint has one of each notice at most."""
ENDPOINT_BYTES = 224
"""Bytes of the NIC's state of an endpoint outside of its frame (state.h)."""
FREED = {
    Queue.REQUEST_SEND: Queue.REQUEST_SEND * QUEUE + STRIDE - 4,
    Queue.REPLY_SEND: Queue.REPLY_SEND * QUEUE + STRIDE - 4,
}
"""Offset in a frame of the status word of each send queue.

The upper half has the number of freed descriptors since the start, in order. The lower half has the number of returned
messages, whose payload is in their staging blocks.
"""
ARRIVED = Queue.REQUEST_SEND * QUEUE + STRIDE - 8
"""Offset in a frame of the numbers of received requests (16) and replies (16)."""


def row(endpoint: int) -> int:
    """Return the address of an endpoint's row."""
    return Word.ROWS + ROW * endpoint


def descriptor(frame: int, queue: int, index: int) -> int:
    """Return the address of a descriptor in the frame at `frame`."""
    return frame + QUEUE * queue + STRIDE * (index % DESCRIPTORS)


class Place:
    """Addresses that depend on options and number of nodes."""

    def __init__(self, frames: int, channels: int, nodes: int, medium: int) -> None:
        """Compute the addresses; `medium` is the size of a staging block in bytes."""
        self.frames = [FRAMES + FRAME * index for index in range(frames)]
        self.channels = FRAMES + FRAME * frames + ENDPOINT_BYTES * ENDPOINTS
        self.port = self.channels + CHANNEL_BYTES * channels * nodes + 7 & -8
        self._medium, self._nodes = medium, nodes

    def end(self, lead: int) -> int:
        """Return the first unused address; `lead` is the number of bytes before a packet's payload."""
        return PortMap(self.port, self._medium + lead, self._nodes).end
