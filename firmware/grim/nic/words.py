"""Words of SRAM through which NI and host communicate, and the NI's counters."""

from __future__ import annotations

from enum import IntEnum

from pymodels.codes import quick


@quick
class Word(IntEnum):
    """First words of SRAM: byte addresses, with the writer in brackets."""

    START = 0x00
    """Start word, written last by the host; the firmware waits for it [host]."""
    STATE = 0x04
    """State of the firmware (`State`) [NI]."""
    RESEND = 0x08
    """Number of streams with messages to send again; polled by the channel search [NI]."""
    NEWS = 0x0C
    """Number of channels with new messages, polled in place of the channels; with doorbells only [NI]."""
    STATUS = 0x10
    """Value that the firmware writes to the host's status word [NI]."""
    SEARCH = 0x30
    """Channels (16 bits) and repetitions (16 bits) of the timed search; option search_timer [host, NI]."""
    TICKS = 0x34
    """Total RTC ticks of the timed searches [NI]."""
    KERNEL = 0x14
    """Physical address of the driver's words for translation requests (`DriverWord`) [host, at enable]."""
    ACTIVE = 0x18
    """Phase 9 of `grim_enable`: operation begins [host]."""
    FREED = 0x38
    """Number of the last block whose translations were revoked [host's driver].

    The NI confirms to the kernel when no DMA that uses them is in progress (`DriverWord`).
    """
    CARD = 0x1C
    """Number of steps of the card's driver after losses of power: odd while it starts the card again, even when the
    card takes messages [host's driver].
    """
    REQUEST = 0x20
    """Translation request to the driver: virtual address, bytes, entry for the answer, number [NI]."""
    BEGINNINGS = 0x3C
    """Highest epoch so far, with time-outs [NI]. Code that clears the SRAM must preserve this word."""


@quick
class DriverWord(IntEnum):
    """Byte offsets from the address in `Word.KERNEL`, in host memory."""

    REQUEST = 0
    """Copy of the request in `Word.REQUEST` [NI, by DMA]."""
    FREED = 16
    """Last `Word.FREED` that the NI has processed, written behind all DMA that used the revoked translations [NI, by
    DMA].
    """


@quick
class State(IntEnum):
    """State of the firmware."""

    WAITING = 0
    SYNCHRONISING = 1
    RUNNING = 2


@quick
class Counter(IntEnum):
    """Event counters, one word each from `Layout.counters`."""

    SENT = 0
    RESENT = 1
    ACCEPTED = 2
    DROPPED = 3
    ACKS_SEEN = 4
    NACKS_SENT = 5
    """NACKs sent. With time-outs senders may count fewer as NACKS_SEEN: a NACK for a message that was already rolled
    back counts as STALE.
    """
    NACKS_SEEN = 6
    """NACKs to messages in flight, each of which has rolled back a stream."""
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
    """Connections that ended because the other NI was down or had restarted."""
    FOREIGN = 34
    """Packets dropped because they belong to no connection, or to one that has ended."""
    UNSENT = 35
    """Answers dropped because the control-message queue was full, with time-outs; a duplicate of the message repeats
    them.
    """
