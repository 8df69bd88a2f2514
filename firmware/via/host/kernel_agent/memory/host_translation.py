"""From a VIA descriptor to a physical descriptor: every address checked against registered memory, and translated
(paper 001, 3.2.2: AT1). What is wrong is told by the status that the specification has for it.
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
"""What a descriptor may ask for: no queue fence, as sends are done in their order."""
MOST_SEGMENTS = 0xFFFF // 17
"""Segments of a descriptor: its list of pages must be counted in 16 bits (ours)."""


@dataclass(frozen=True)
class Translation:
    """A descriptor, checked and translated."""

    kind: Kind
    status: int
    """Physical address of the user's descriptor."""
    length: int
    pages: tuple[tuple[int, int], ...]
    regions: tuple[Region, ...]
    target: tuple[int, int] | None = None
    immediate: int | None = None
    inline: bytes | None = None
    refused: Status = RIGHT
    """What is wrong with it."""

    def head(self, vi: int) -> tuple[int, ...]:
        """The physical descriptor's words before its list of pages; inline data among them."""
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
    """What is the same for all descriptors of a host."""

    def __init__(self, registry: Registry, inline: int, moves_bytes: bool) -> None:
        """`inline`: bytes that go into the queue instead of their address at most; `moves_bytes`: the NIC moves any
        bytes. A LANai 4 moves whole words.
        """
        self.registry, self._inline, self._moves_bytes = registry, inline, moves_bytes

    def translate(self, process: Process, vi: ViAttributes, side: int, va: int, handle: int) -> Translation:
        """A descriptor of a process at a virtual address, in the region of a handle, translated or refused. Raises
        VipError when it does not stand in registered memory.
        """
        try:
            home = self.registry.check(process, vi.tag, va, handle, Field.SIZE)
        except Refused as cause:
            what = f"posting a descriptor at {va:#x} in region {handle:#x}"
            raise VipError(Result.INVALID_PARAMETER, what, "let it stand in memory under the VI's tag") from cause
        try:
            return self._translate(process, vi, side, va, home)
        except Refused as cause:
            kind = Kind.SEND if side == SENT else Kind.RECEIVE
            return Translation(kind, home.pieces(va, Field.SIZE)[0][0], 0, (), (home,), refused=cause.status)

    def _translate(self, process: Process, vi: ViAttributes, side: int, va: int, home: Region) -> Translation:
        """Check a descriptor in a region, and translate it. Raises Refused."""
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
        """Data segments: their regions, the pages they name, and how many bytes. Raises Refused."""
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
        """Whether the NIC can move a segment."""
        return self._moves_bytes or not (va & 3 or (size & 3 and not last))


def _target(process: Process, at: int) -> tuple[int, int]:
    """The address segment of an RDMA write or read."""
    va, _, handle, _ = process.load_words(at, 4)
    return va, handle


def _gather(process: Process, at: int, count: int) -> bytes:
    """The bytes of data segments, for a message that goes into the queue as it is."""
    segments = [process.load_words(at + Segment.SIZE * i, 4) for i in range(count)]
    return b"".join(process.load_bytes(va, size) for va, _, _, size in segments)
