"""Codes in GRIM's headers: message types, causes of errors, missing resources of NACKs."""

from __future__ import annotations

from enum import IntEnum

from pymodels.codes import quick

FIRST_CONTROL = 0x30
"""First type of control messages. Types of data messages are below 0x10, so no single bit error changes one kind to the
other.
"""


@quick
class MessageType(IntEnum):
    """Message type (6 bits); control messages have types from 0x30 on."""

    ACTIVE = 0x01
    """Active message, or last segment of a long one: the handler runs when the message is complete."""
    SEGMENT = 0x02
    """Segment of a long active message before its last: arguments {total bytes, offset, -, -}."""
    ERROR_REPORT = 0x03
    """Report of the sender's NI to its host that a message, or the transfer that it ends, failed permanently; the
    arguments are a `Report` (ours).
    """
    RM_V = 0x04
    """Remote write to a virtual address: arguments {target, lock address, lock value, span}.

    The span of a transfer's first message is the total number of bytes, that of the others the number of bytes before
    them. The first message carries the lock to have it checked, the last to have it written (readings B7; the span is
    ours).
    """
    RM_P = 0x05
    """Remote write to a physical address: arguments as RM_V; the address of the lock is virtual."""
    RM_RV = 0x06
    """Remote read: arguments {remote VA, local VA, lock VA, span}; the handler field holds the number of bytes. The
    reply acknowledges it.
    """
    RM_REPLY = 0x07
    """Data of a remote read: arguments {local VA, word 0 of the RM_RV, bytes, lock VA}; the handler field holds the
    channel to which the RM_RV went.
    """
    MULTICAST = 0x08
    """Active message of one segment, on its way to the root of a multicast tree (readings B11)."""
    MULTICAST_SEGMENT = 0x09
    MULTICAST_LAST = 0x0A
    """Last of several segments. A receiver that joined the tree after the first segment recognises it by this type
    (ours).
    """
    FORWARDED = 0x0C
    """Multicast message replicated by a NI of the tree: source endpoint = {forwarding NI 8, device NI}; the destination
    endpoint is replaced by {original VNN 8, original channel 8} (ours; the paper: the source endpoint is not accurate).
    """
    FORWARDED_SEGMENT = 0x0D
    FORWARDED_LAST = 0x0E
    CARD_SEGMENT = 0x0F
    """Segment of a long active message to an FPGA card, with the handler and arguments of the message. The flags
    CONTINUES and MORE mark the first and the last (ours).
    """
    ACK = 0x30
    NACK = 0x31
    ERROR = 0x32
    """Permanent failure of a message: it counts as delivered, and its sender gets a report (readings B5, ours)."""
    SYNC = 0x33
    """Notice of a NI that was reset and waits for the notices of the others (paper 003, C.2)."""
    SYNC_ANSWER = 0x34
    """Answer to a notice, which then need not be repeated (readings B9)."""


SEGMENTS = (MessageType.SEGMENT, MessageType.MULTICAST_SEGMENT, MessageType.FORWARDED_SEGMENT)
"""Types of the segments of a long message before its last."""
LASTS = (MessageType.MULTICAST_LAST, MessageType.FORWARDED_LAST)
"""Types of the last segment of a tree's long message. Other long messages end with an ACTIVE message."""
TREES = frozenset(kind for kind in MessageType if MessageType.MULTICAST <= kind <= MessageType.FORWARDED_LAST)
"""Types of messages of multicast trees."""


class Cause(IntEnum):
    """Cause of a permanent failure (5 bits of an ERROR; ours)."""

    UNKNOWN_ENDPOINT = 1
    UNKNOWN_TYPE = 2
    TOO_LONG = 3
    NOT_REGISTERED = 4
    """The address is not in pinned memory, or the memory was freed."""
    BEYOND = 5
    """The transfer begins in a pinned block and ends behind it."""
    LOCK_NOT_REGISTERED = 6
    FREED_HERE = 7
    """Reported by the reader's NI: the target of a remote read is no longer pinned."""
    HOST_DOWN = 8
    """Reported by the sender's NI: the other NI does not answer."""
    UNKNOWN_TREE = 9
    """No multicast tree of this number is rooted here."""
    INTERRUPTED = 10
    """An earlier message of the transfer is missing."""
    RESTARTED = 11
    """Reported by a NI to its host: another NI is down or has restarted, so messages of its host may be incomplete."""
    CARD_DOWN = 12
    """The card does not answer on its bus. Reported also by a NI to the host of the card."""


class Lack(IntEnum):
    """Resource that a NI lacks when it rejects a message, in the cause field of a NACK (ours)."""

    ENDPOINT = 0
    """Room in the endpoint's queue."""
    REPLIES = 1
    """Room in the NI's queue of replies to remote reads."""
    TRANSLATION = 2
    """A translation request: another message already waits for a translation."""
    COPIES = 3
    """Room in the queue of copies for a multicast tree."""
