"""Translation of VIA descriptors to physical descriptors by the host's kernel (paper 001, 3.2.2: AT1).

Every address is checked against registered memory. An error becomes the status that the specification defines for it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from firmware.via import formats as via
from firmware.via.formats import Field, Reliability, Segment, Status
from firmware.via.host.common.attributes import ViAttributes
from firmware.via.host.common.cache_words import words_of
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.common.work_queues import SENT
from firmware.via.host.kernel_agent.memory.registry import Refused, Region, Registry
from firmware.via.nic.layout import Control, Kind
from pymodels.host.process import Process

OPERATIONS = (Kind.SEND, Kind.WRITE, Kind.READ)
RIGHT = Status(0)
FLAGS = int(via.Control.OPERATION | via.Control.IMMEDIATE)
"""Valid control bits of a descriptor. The queue fence is not among them, because sends complete in order."""
MOST_SEGMENTS = 0xFFFF // 17
"""Maximum number of segments of a descriptor, whose page count must fit in 16 bits (not from the paper)."""


@dataclass(frozen=True)
class Translation:
    """Checked and translated descriptor."""

    kind: Kind
    status: int
    """Physical address of the user's descriptor, which gets the status."""
    length: int
    pages: tuple[tuple[int, int], ...]
    regions: tuple[Region, ...]
    target: tuple[int, int] | None = None
    immediate: int | None = None
    inline: bytes | None = None
    refused: Status = RIGHT
    """Error in the descriptor, if any."""

    def head(self, vi: int) -> tuple[int, ...]:
        """Return the words of the physical descriptor before its page list, including inline data."""
        entries = len(self.pages)
        inline = self.inline is not None
        if self.refused:
            return Control(self.kind, False, False, vi, 0, refused=True).word(), self.status, self.refused
        control = Control(self.kind, self.immediate is not None, inline, vi, entries)
        words = [control.word(), self.status, self.length, *(self.target or ())]
        if self.immediate is not None:
            words.append(self.immediate)
        return (*words, *words_of(self.inline or b""))


class Translator:
    """Translator of the descriptors of one host."""

    def __init__(self, registry: Registry, inline: int, moves_bytes: bool) -> None:
        """Create the translator.

        Args:
            registry: Registered memory of the host.
            inline: Maximum size in bytes of messages that go into the queue itself.
            moves_bytes: True if the NIC can move any bytes; a LANai 4 moves whole words.
        """
        self.registry, self._inline, self._moves_bytes = registry, inline, moves_bytes

    def translate(self, process: Process, vi: ViAttributes, side: int, va: int, handle: int) -> Translation:
        """Translate or reject a descriptor. Raises VipError if it is not in registered memory.

        Args:
            process: Process that posts the descriptor.
            vi: Attributes of the VI.
            side: Work queue, SENT or RECEIVED.
            va: Virtual address of the descriptor.
            handle: Handle of the descriptor's region.
        """
        try:
            home = self.registry.check(process, vi.tag, va, handle, Field.SIZE)
        except Refused as cause:
            what = f"posting the descriptor at {va:#x} in region {handle:#x}"
            raise VipError(
                Result.INVALID_PARAMETER, what, "place it in memory registered under the VI's tag"
            ) from cause
        try:
            return self._translate(process, vi, side, va, home)
        except Refused as cause:
            kind = Kind.SEND if side == SENT else Kind.RECEIVE
            return Translation(kind, home.pieces(va, Field.SIZE)[0][0], 0, (), (home,), refused=cause.status)

    def _translate(self, process: Process, vi: ViAttributes, side: int, va: int, home: Region) -> Translation:
        """Check and translate a descriptor in a region. Raises Refused."""
        count, flags = struct.unpack(">HH", process.load_bytes(va + Field.CONTROL, 4))
        operation = flags & via.Control.OPERATION
        send = side == SENT
        if count > MOST_SEGMENTS or flags & ~FLAGS or operation > (via.Control.RDMA_READ if send else 0):
            raise Refused(Status.FORMAT_ERROR)
        read = operation == via.Control.RDMA_READ
        if read and (flags & via.Control.IMMEDIATE or vi.reliability == Reliability.UNRELIABLE):
            raise Refused(Status.FORMAT_ERROR)
        first = va + Field.SIZE
        self.registry.check(process, vi.tag, va, home.handle, Field.SIZE + Segment.SIZE * count)
        target: tuple[int, int] | None = None
        if operation:
            if not count:
                raise Refused(Status.FORMAT_ERROR)
            target = _target(process, first)
            first, count = first + Segment.SIZE, count - 1
        regions, pages, length = self._segments(process, vi, first, count)
        immediate = process.load_words(va + Field.IMMEDIATE, 1)[0] if send and flags & via.Control.IMMEDIATE else None
        kind = OPERATIONS[operation] if send else Kind.RECEIVE
        place = home.pieces(va, Field.SIZE)[0][0]
        inline: bytes | None = None
        if send and not read and 0 < length <= self._inline:
            inline, pages = _gather(process, first, count), ()
        return Translation(kind, place, length, pages, (home, *regions), target, immediate, inline)

    def _segments(
        self, process: Process, vi: ViAttributes, at: int, count: int
    ) -> tuple[list[Region], tuple[tuple[int, int], ...], int]:
        """Return regions, page list and total size of the data segments. Raises Refused."""
        length = 0
        regions: list[Region] = []
        pages: list[tuple[int, int]] = []
        for i in range(count):
            va, _, handle, size = process.load_words(at + Segment.SIZE * i, 4)
            region = self.registry.check(process, vi.tag, va, handle, size)
            if not self._aligned(va, size, last=i + 1 == count):
                raise Refused(Status.FORMAT_ERROR)
            regions.append(region)
            pages += region.pieces(va, size)
            length += size
            if length > vi.most:
                raise Refused(Status.LENGTH_ERROR)
        return regions, tuple(pages), length

    def _aligned(self, va: int, size: int, last: bool) -> bool:
        """Return True if the NIC can move a segment."""
        return self._moves_bytes or not (va & 3 or (size & 3 and not last))


def _target(process: Process, at: int) -> tuple[int, int]:
    """Return address and handle of an RDMA operation's address segment."""
    va, _, handle, _ = process.load_words(at, 4)
    return va, handle


def _gather(process: Process, at: int, count: int) -> bytes:
    """Return the bytes of data segments, for an inline message."""
    segments = [process.load_words(at + Segment.SIZE * i, 4) for i in range(count)]
    return b"".join(process.load_bytes(va, size) for va, _, _, size in segments)
