"""VIA descriptor in the memory of a process (`firmware.via.formats`)."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from firmware.via.formats import ALIGNMENT, Control, Field, Segment, Status
from firmware.via.host.common.checks import WORD, check_integer
from firmware.via.host.common.errors import Result, VipError
from pymodels.host.process import Process

Parts = Sequence[tuple[int, int, int]]
"""Data segments: virtual address, memory handle, size in bytes."""


class Descriptor:
    """Descriptor at the address `va`, in the memory region with handle `handle`."""

    def __init__(self, process: Process, va: int, handle: int) -> None:
        """Create a descriptor object. Raises VipError for an address that is not aligned.

        Args:
            process: Process that owns the memory.
            va: Virtual address of the descriptor.
            handle: Memory handle of its region.
        """
        check_integer("a descriptor's memory handle", handle, 0, WORD)
        check_integer("a descriptor's address", va, 0, WORD)
        if va % ALIGNMENT:
            raise VipError(Result.INVALID_PARAMETER, f"descriptor address {va:#x}", f"align it to {ALIGNMENT} bytes")
        self.process, self.va, self.handle = process, va, handle
        self.size = 0
        """Total size of the data segments in bytes."""

    def send(self, segments: Parts, immediate: int | None = None) -> Descriptor:
        """Write a send of the segments, with optional immediate data (32 bits)."""
        return self._make(Control.SEND_RECEIVE, segments, immediate)

    def receive(self, segments: Parts) -> Descriptor:
        """Write a receive into the segments."""
        return self._make(Control.SEND_RECEIVE, segments, None)

    def rdma_write(self, segments: Parts, va: int, handle: int, immediate: int | None = None) -> Descriptor:
        """Write an RDMA write of the segments.

        Args:
            segments: Local data segments.
            va: Virtual address at the peer.
            handle: Memory handle at the peer.
            immediate: Immediate data (32 bits), or None.
        """
        return self._make(Control.RDMA_WRITE, [(va, handle, 0), *segments], immediate)

    def rdma_read(self, segments: Parts, va: int, handle: int) -> Descriptor:
        """Write an RDMA read into the segments.

        Args:
            segments: Local data segments.
            va: Virtual address at the peer.
            handle: Memory handle at the peer.
        """
        return self._make(Control.RDMA_READ, [(va, handle, 0), *segments], None)

    def _make(self, control: Control, segments: Parts, immediate: int | None) -> Descriptor:
        flags = control | (Control.IMMEDIATE if immediate is not None else 0)
        try:
            first = struct.pack(">IIIHHIIII", 0, 0, 0, len(segments), flags, 0, immediate or 0, 0, 0)
            rest = b"".join(struct.pack(">IIII", va, 0, handle, size) for va, handle, size in segments)
        except (struct.error, TypeError, ValueError) as cause:
            what = f"a descriptor of {segments!r} with immediate data {immediate!r}"
            remedy = "give up to 65535 segments of address, handle and bytes, each a word"
            raise VipError(Result.INVALID_PARAMETER, what, remedy) from cause
        self.size = sum(size for _, _, size in segments)
        self.process.store_bytes(self.va, first + rest)
        return self

    def _word(self, field: Field) -> int:
        return self.process.load_words(self.va + field, 1)[0]

    @property
    def status(self) -> Status:
        """Status; 0 until completion."""
        return Status(self._word(Field.STATUS))

    @property
    def length(self) -> int:
        """Number of bytes transferred."""
        return self._word(Field.LENGTH)

    @property
    def immediate(self) -> int | None:
        """Received immediate data, or None."""
        return self._word(Field.IMMEDIATE) if self.status & Status.IMMEDIATE else None


def size_of(segments: int) -> int:
    """Return the size in bytes of a descriptor with the given number of segments."""
    return Field.SIZE + Segment.SIZE * segments
