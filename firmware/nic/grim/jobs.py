"""What a remote memory message asks for, read from its header."""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware.nic.grim.layout import Layout
from firmware.nic.grim.translation import Pieces
from firmware.verbs import Nic
from pymodels.formats.grim import MessageType


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
    pieces: Pieces | None = None
    lock_pieces: Pieces | None = field(default_factory=list)


def job_in(nic: Nic, layout: Layout, buffer: int, words: tuple[int, int, int, int], stream: int) -> Job:
    """The remote memory message in a receive buffer, `words` the first of its header."""
    w0, w1, w2, w3 = words
    a0, a1, a2, a3 = nic.load_words(layout.buffers[buffer] + 16, 4)
    kind, size = w1 >> 26, 4 * (w2 >> 16) - (w1 >> 24 & 3)
    ends = w3 >> 24, w3 >> 16 & 0xFF
    if kind == MessageType.RM_RV:
        return Job(buffer, w0, kind, stream, w1 >> 8 & 0xFF, ends, a0, a2, a3, 0, a1)
    if kind == MessageType.RM_REPLY:
        return Job(buffer, w0, kind, stream, w1 >> 8 & 0xFF, ends, a0, size, a3, 0, a1)
    return Job(buffer, w0, kind, stream, w1 >> 8 & 0xFF, ends, a0, size, a1, a2, 0)
