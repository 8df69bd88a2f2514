"""Requests to an I/O card: of its host's driver, in frames of the message unit, and of disk clients, as messages.

A frame has FRAME_WORDS little-endian words, the first of which is a `FrameKind`. The answer is an empty outbound frame,
posted when the request has been executed.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

FRAME_WORDS = 16
FRAME_BYTES = 4 * FRAME_WORDS
SERVICE, ANSWER = "disk", "disk_answer"
"""Handler names of the card's service, and of the hosts' handler of its answers."""


class FrameKind(IntEnum):
    """Requests of the driver."""

    OPEN = 1
    """Set the endpoint's parameters; words 1 to 8 are an `Opening`."""
    NUMBERS = 2
    """Set the handler numbers of SERVICE and ANSWER, in words 1 and 2."""
    RESET = 3
    """Abort the disk request in progress and those that wait; each is answered with Status.ABORTED."""


class Opening(NamedTuple):
    """Parameters of the endpoint."""

    nic_queue: int
    """PCI address of the card's channel queue in the NIC."""
    nic_limit: int
    """Limit of that queue."""
    nic_back: int
    """PCI address of its back pointer or doorbell."""
    nic_front: int
    """PCI address of its front pointer."""
    nic_read: int
    """PCI address of the two words with the card's read positions."""
    own: int
    """{own channel 8 [23:16], own endpoint 16}."""
    segment: int
    """Most payload of a message in bytes."""
    error: int
    """Handler number called at the source of a message for an unknown handler."""


class DiskOp(IntEnum):
    """Operation of a disk request: bits 7:0 of argument 0; the bits above are the client's tag."""

    READ = 1
    """Write `bytes` of a block into the client's memory at `address`, then answer."""
    WRITE = 2
    """Write `bytes` from the card's memory at `address`, where the client has written them, into a block."""


class Status(IntEnum):
    """Argument 1 of an answer; argument 0 is the tag, argument 2 the number of bytes moved."""

    DONE = 0
    OPERATION = 1
    """Unknown operation."""
    BLOCK = 2
    """Block beyond the end of the disk."""
    LENGTH = 3
    """No bytes, more than a block, or more than a segment."""
    ADDRESS = 4
    """The card's memory at `address` is outside of the buffers for clients, or not a multiple of 8."""
    ABORTED = 5
    """The card was reset before the operation ended."""
