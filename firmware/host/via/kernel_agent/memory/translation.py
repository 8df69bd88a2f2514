"""From a VIA descriptor to a physical descriptor: every address checked against registered memory, and translated
(paper 001, 3.2.2: AT1). What is wrong is told by the status that the specification has for it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from firmware.host.via.kernel_agent.memory.registry import Refused, Region
from firmware.host.via.kernel_agent.rings.cache import words_of
from firmware.nic.via.layout import Control, Kind
from pymodels.formats import via
from pymodels.formats.via import Field, Reliability, Segment, Status
from pymodels.host.process import Process

if TYPE_CHECKING:
    from firmware.host.via.kernel_agent.vis.context import KernelVi

SENT, RECEIVED = 1, 2
"""A VI's two work queues; bits of Vi.NOTIFY."""
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


def refusal(side: int, va: int, home: Region, status: Status) -> Translation:
    """A descriptor in a region that the NIC is to complete with a status."""
    kind = Kind.SEND if side == SENT else Kind.RECEIVE
    return Translation(kind, home.pieces(va, Field.SIZE)[0][0], 0, (), (home,), refused=status)


def translate(vi: KernelVi, side: int, va: int, handle: int, home: Region) -> Translation:
    """Check a descriptor at a virtual address, in the region of a handle, and translate it. Raises Refused."""
    process = vi.owner
    registry = vi.registry
    count, flags = struct.unpack(">HH", process.load_bytes(va + Field.CONTROL, 4))
    operation = flags & via.Control.OPERATION
    send = side == SENT
    if count > MOST_SEGMENTS or flags & ~FLAGS or operation > (via.Control.RDMA_READ if send else 0):
        raise Refused(Status.FORMAT_ERROR)
    read = operation == via.Control.RDMA_READ
    if read and (flags & via.Control.IMMEDIATE or vi.reliability == Reliability.UNRELIABLE):
        raise Refused(Status.FORMAT_ERROR)
    first = va + Field.SIZE
    write = bool(operation)
    registry.check(process, vi.tag, va, handle, Field.SIZE + Segment.SIZE * count)
    target: tuple[int, int] | None = None
    if write:
        if not count:
            raise Refused(Status.FORMAT_ERROR)
        target = _target(process, first)
        first, count = first + Segment.SIZE, count - 1
    regions, pages, length = _segments(vi, first, count)
    immediate = process.load_words(va + Field.IMMEDIATE, 1)[0] if send and flags & via.Control.IMMEDIATE else None
    kind = OPERATIONS[operation] if send else Kind.RECEIVE
    place = home.pieces(va, Field.SIZE)[0][0]
    inline: bytes | None = None
    if send and not read and 0 < length <= vi.inline:
        inline, pages = _gather(process, first, count), ()
    return Translation(kind, place, length, pages, (home, *regions), target, immediate, inline)


def _target(process: Process, at: int) -> tuple[int, int]:
    """The address segment of an RDMA write or read."""
    va, _, handle, _ = process.load_words(at, 4)
    return va, handle


def _segments(vi: KernelVi, at: int, count: int) -> tuple[list[Region], tuple[tuple[int, int], ...], int]:
    """Data segments: their regions, the pages they name, and how many bytes. Raises Refused."""
    process, length = vi.owner, 0
    regions: list[Region] = []
    pages: list[tuple[int, int]] = []
    for i in range(count):
        va, _, handle, size = process.load_words(at + Segment.SIZE * i, 4)
        region = vi.registry.check(process, vi.tag, va, handle, size)
        if not vi.aligned(va, size, last=i + 1 == count):
            raise Refused(Status.FORMAT_ERROR)
        regions.append(region)
        pages += region.pieces(va, size)
        length += size
        if length > vi.most:
            raise Refused(Status.LENGTH_ERROR)
    return regions, tuple(pages), length


def _gather(process: Process, at: int, count: int) -> bytes:
    """The bytes of data segments, for a message that goes into the queue as it is."""
    segments = [process.load_words(at + Segment.SIZE * i, 4) for i in range(count)]
    return b"".join(process.load_bytes(va, size) for va, _, _, size in segments)
