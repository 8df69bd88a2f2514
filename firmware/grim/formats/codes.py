"""The numbers in GRIM's headers: message types, causes of errors, what a NI lacks."""

from __future__ import annotations

from enum import IntEnum

from pymodels.codes import quick

FIRST_CONTROL = 0x30
"""Control messages have types from here on; those of data messages are below 0x10, so that no single flipped bit
makes one the other."""


@quick
class MessageType(IntEnum):
    """The 6-bit message type; control messages stand at 0x30 and above."""

    ACTIVE = 0x01
    """An active message, or the last segment of a long one: the handler runs when it is complete."""
    SEGMENT = 0x02
    """A segment of a long active message before its last: arguments {total bytes, offset, -, -}."""
    ERROR_REPORT = 0x03
    """The sender's NI tells its host that a message, or the transfer that it ends, cannot succeed; its arguments are a
    `Report` (ours)."""
    RM_V = 0x04
    """Remote write to a virtual address: arguments {target, lock address, lock value, span}. The span says where a
    message stands in its transfer: the bytes of the whole in the first, of those before it in the others. The first has
    the lock to have it checked, the last to have it set (readings B7; the span is ours)."""
    RM_P = 0x05
    """Remote write to a physical address: the same arguments; the lock's address is virtual."""
    RM_RV = 0x06
    """Remote read: arguments {remote VA, local VA, lock VA, span}; the bytes stand where the handler of others does.
    Acknowledged by its reply."""
    RM_REPLY = 0x07
    """What was read, from the NI that read it: arguments {local VA, word 0 of the RM_RV, bytes, lock VA}; where the
    handler of others stands, the channel to which the RM_RV went."""
    MULTICAST = 0x08
    """An active message of one segment, on its way to the root of a multicast tree (readings B11)."""
    MULTICAST_SEGMENT = 0x09
    MULTICAST_LAST = 0x0A
    """The last of several segments: who has joined the tree behind the first one knows it by its type (ours)."""
    FORWARDED = 0x0C
    """The same, replicated by a NI of the tree: source endpoint = {forwarding NI 8, device NI}, in the place of the
    destination endpoint {original VNN 8, original channel 8} (ours; the paper: the source endpoint is not accurate)."""
    FORWARDED_SEGMENT = 0x0D
    FORWARDED_LAST = 0x0E
    ACK = 0x30
    NACK = 0x31
    ERROR = 0x32
    """The message can never succeed; it counts as delivered, and its sender is told (readings B5, ours)."""
    SYNC = 0x33
    """A NI is reset and waits to hear from the others (paper 003, C.2)."""
    SYNC_ANSWER = 0x34
    """Heard: the notice need not be repeated (readings B9)."""


SEGMENTS = (MessageType.SEGMENT, MessageType.MULTICAST_SEGMENT, MessageType.FORWARDED_SEGMENT)
"""Parts of a long message before its last."""
LASTS = (MessageType.MULTICAST_LAST, MessageType.FORWARDED_LAST)
"""Last parts of a tree's long message; that of others is an ACTIVE one."""
TREES = frozenset(kind for kind in MessageType if MessageType.MULTICAST <= kind <= MessageType.FORWARDED_LAST)
"""Messages of multicast trees."""


class Cause(IntEnum):
    """Why a message cannot succeed (5 bits of an ERROR; ours)."""

    UNKNOWN_ENDPOINT = 1
    UNKNOWN_TYPE = 2
    TOO_LONG = 3
    NOT_REGISTERED = 4
    """No pinned memory at the address, or it was freed."""
    BEYOND = 5
    """It begins in pinned memory and ends behind it."""
    LOCK_NOT_REGISTERED = 6
    FREED_HERE = 7
    """Reported by the reader's NI: the target of a remote read no longer exists."""
    HOST_DOWN = 8
    """Reported by the sender's NI: the other NI does not answer."""
    UNKNOWN_TREE = 9
    """No multicast tree of this number has its root here."""
    INTERRUPTED = 10
    """It continues a transfer of which what stands before it did not come."""
    RESTARTED = 11
    """Reported by a NI to its host: another NI is down, or has restarted, so messages of its host may be incomplete."""


class Lack(IntEnum):
    """What a NI has no room for when it refuses a message, in the place of the cause of a NACK (ours)."""

    ENDPOINT = 0
    """In the queue of the endpoint."""
    REPLIES = 1
    """In the queue of its own replies to remote reads."""
    TRANSLATION = 2
    """One message waits for a translation already."""
    COPIES = 3
    """In the queue of the copies of a multicast tree."""
