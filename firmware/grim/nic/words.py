"""The words of SRAM through which NI and host communicate, and the NI's counters."""

from __future__ import annotations

from enum import IntEnum

from pymodels.codes import quick


@quick
class Word(IntEnum):
    """The first words of SRAM, by byte address."""

    START = 0x00
    """Written by the host last; the firmware waits for it."""
    STATE = 0x04
    """What the firmware does now (`State`)."""
    RESEND = 0x08
    """Streams with messages to send again; the search of the channels looks here too."""
    NEWS = 0x0C
    """With doorbells: channels that have new messages; looked at in place of the channels."""
    STATUS = 0x10
    """What the firmware sends to the host's status word."""
    SEARCH = 0x30
    """With the option search_timer: channels (16 bits) and how often (16 bits) the search shall be timed [host, NI]."""
    TICKS = 0x34
    """Ticks of RTC that the timed searches took together [NI]."""
    KERNEL = 0x14
    """Physical address at which the host's driver takes requests for translations [host, at enable]."""
    ACTIVE = 0x18
    """Phase 9 of `grim_enable`: operation begins [host]."""
    FREED = 0x38
    """Number of the latest block whose translations were taken back [host's driver]; the NI tells the kernel when
    no DMA that uses them is under way (`DriverWord`)."""
    REQUEST = 0x20
    """A request on its way to the driver: virtual address, bytes, entry for the answer, its number."""
    BEGINNINGS = 0x3C
    """How often the firmware began here [NI]; with time-outs. Who clears the memory leaves it alone."""


@quick
class DriverWord(IntEnum):
    """Byte offsets from the address in `Word.KERNEL`, in the host's memory."""

    REQUEST = 0
    """The request that `Word.REQUEST` holds [NI, by DMA]."""
    FREED = 16
    """The `Word.FREED` that the NI has seen, behind all DMA that used what it took back [NI, by DMA]."""


@quick
class State(IntEnum):
    """The firmware's state."""

    WAITING = 0
    SYNCHRONISING = 1
    RUNNING = 2


@quick
class Counter(IntEnum):
    """What the firmware counts, one word each from `Layout.counters`."""

    SENT = 0
    RESENT = 1
    ACCEPTED = 2
    DROPPED = 3
    ACKS_SEEN = 4
    NACKS_SENT = 5
    """With time-outs others may see fewer: a NACK to a copy comes when its message is rolled back already, and is
    `STALE` there."""
    NACKS_SEEN = 6
    """Those to a message in flight: each has rolled back a stream."""
    ROLLED_BACK = 7
    CONTROL_QUEUED = 8
    ERRORS_SENT = 9
    ERRORS_SEEN = 10
    EARLY = 11
    STARVED = 12
    BLOCKED = 13
    BAD_CRC = 14
    OUT_OF_SEQUENCE = 15
    STRANGE = 16
    OVERLONG = 17
    SYNC_SENT = 18
    HITS_STATIC = 19
    HITS_RUNTIME = 20
    MISSES = 21
    REMOTE_WRITES = 22
    REMOTE_READS = 23
    REPLIES = 24
    FRAGMENTS = 25
    PARKED = 26
    TIMEOUTS = 27
    DUPLICATES = 28
    STALE = 29
    UNREACHABLE = 30
    QUEUED = 31
    COPIES = 32
    """Copies made for the children of multicast trees."""
    PARTED = 33
    """Connections with other NIs that ended: one was down, or has restarted."""
    FOREIGN = 34
    """Packets dropped because they are of no connection, or of one that ended."""
    UNSENT = 35
    """With time-outs: answers that found the control-message queue full. A copy of the message brings them again."""
