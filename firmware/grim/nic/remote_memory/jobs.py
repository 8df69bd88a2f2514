"""What a remote memory message asks for, read from its header."""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware.grim.formats import CONTINUES, MORE, MessageType, Words
from firmware.grim.nic.layout import Layout
from firmware.grim.nic.remote_memory.translation import Pieces
from firmware.verbs import Nic


@dataclass
class Job:
    """A remote memory message that is being executed."""

    buffer: int
    key: int
    kind: int
    stream: int
    source: int
    channels: tuple[int, int]
    """Source and own logical channel."""
    target: int
    """Where the data go, or stand (RM-RV): virtual, for RM-P physical."""
    size: int
    lock: int
    value: int
    request: int
    """RM-RV: the local virtual address; a reply: word 0 of the RM-RV."""
    whole: int
    """Bytes from the target on that must be one block: those of the transfer, in its first message."""
    place: int
    """CONTINUES, MORE."""
    transfer: tuple[int, int, int]
    """Whose transfer it is a part of: NI, channels, and of a reply where the RM-RV went."""
    pieces: Pieces | None = None
    lock_pieces: Pieces | None = field(default_factory=list)
    forgotten: bool = False
    """Its sender has restarted."""


def job_in(nic: Nic, layout: Layout, buffer: int, head: Words, stream: int) -> Job:
    """The remote memory message in a receive buffer."""
    a0, a1, a2, a3 = nic.load_words(layout.buffers[buffer] + 16, 4)
    kind, source, ends = head.type, head.source, (head.source_channel, head.channel)
    reply, read = kind == MessageType.RM_REPLY, kind == MessageType.RM_RV
    size = head.handler if read else head.bytes
    lock, value = (a3, 0) if reply else (a2, 0) if read else (a1, a2)
    whole = size if reply or head.w1 & CONTINUES else max(size, a3)
    transfer = source, head.channels, head.handler if reply else 0
    place = head.w1 & (CONTINUES | MORE)
    return Job(buffer, head.w0, kind, stream, source, ends, a0, size, lock, value, a1, whole, place, transfer)
