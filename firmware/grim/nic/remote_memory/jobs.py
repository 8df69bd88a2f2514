"""Remote memory request, decoded from its message header."""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware.grim.formats import CONTINUES, MORE, TAG, Device, MessageType, Words
from firmware.grim.nic.layout import Layout
from firmware.grim.nic.remote_memory.translation import Pieces
from firmware.verbs import Nic


@dataclass
class Job:
    """Remote memory message in execution."""

    buffer: int
    key: int
    kind: int
    stream: int
    source: int
    channels: tuple[int, int]
    """Source channel and channel of this NI."""
    target: int
    """Address of the data to write, or to read (RM-RV); physical for RM-P, otherwise virtual."""
    size: int
    lock: int
    value: int
    request: int
    """RM-RV: the reader's virtual address; reply: word 0 of the RM-RV."""
    whole: int
    """Bytes from the target on that must be in one block. The first message of a transfer names all its bytes."""
    place: int
    """Flags CONTINUES and MORE: the position of this message in its transfer."""
    transfer: tuple[int, int, int]
    """Identity of the transfer: source NI, channels, and for a reply the channel to which the RM-RV went."""
    to_card: bool
    """True if the message is for the node's FPGA card, whose addresses are offsets in its banks."""
    reader: int
    """Endpoint that sent the message, to which the reply to a read goes."""
    pieces: Pieces | None = None
    lock_pieces: Pieces | None = field(default_factory=list)
    forgotten: bool = False
    """True if the sender has restarted since."""


def decode_job(nic: Nic, layout: Layout, buffer: int, head: Words, stream: int) -> Job:
    """Decode the remote memory message in a receive buffer."""
    a0, a1, a2, a3 = nic.load_words(layout.buffers[buffer] + 16, 4)
    kind, source, ends = head.type, head.source, (head.source_channel, head.channel)
    reply, read = kind == MessageType.RM_REPLY, kind == MessageType.RM_RV
    size = head.handler if read else head.bytes
    lock, value = (a3, 0) if reply else (a2, 0) if read else (a1, a2)
    whole = size if reply or head.w1 & CONTINUES else max(size, a3)
    transfer = source, head.channels, head.handler if reply else 0
    place = head.w1 & (CONTINUES | MORE)
    to_card, reader = head.destination & 3 == Device.CELOXICA, head.w1 & 0xFFFF & ~TAG
    return Job(
        buffer, head.w0, kind, stream, source, ends, a0, size, lock, value, a1, whole, place, transfer, to_card, reader
    )
