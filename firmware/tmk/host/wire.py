"""Message formats of TreadMarks: header, intervals with their notices, diffs.

    header     kind (8) | from (8) | part (8) | parts (8) | number (32) | sequence (32) | bytes (32)
    interval   process (32) | index (32) | vector (32 each) | runs (32), each run: first page (32) | pages (32)
    diff       process (32) | first (32) | last (32) | bytes (32), then runs
    run        offset in words (16) | words (16), then the words

All numbers are big-endian. The formats are ours: those of TreadMarks are not published.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from pymodels.host import PAGE

WORD = 4
"""Granularity of a diff in bytes."""


class Kind(IntEnum):
    """Kind of a message: an unsolicited Request, or the Response to one."""

    LOCK = 1
    """Request for a lock: requester and its vector."""
    ARRIVAL = 2
    """Request at a barrier: collection wanted, vector, own intervals."""
    PAGE = 3
    """Request for a complete page."""
    DIFFS = 4
    """Request for diffs of a page."""
    DISTRIBUTE = 5
    """Request with bytes for all processes."""
    NEXT = 6
    """Request for the next part of a long Response."""
    GRANT = 17
    """Response to LOCK: vector, intervals."""
    DEPARTURE = 18
    """Response to ARRIVAL: collect, vector, intervals."""
    WHOLE = 19
    """Response to PAGE: vector of the page's contents, its bytes."""
    FOUND = 20
    """Response to DIFFS: diffs."""
    ACK = 21
    """Response to DISTRIBUTE."""
    GO_ON = 22
    """Response to a part of a long Request, asking for the next part."""


RESPONSES = Kind.GRANT
"""First kind that is a Response."""
_HEADER = struct.Struct(">4B3I")
HEADER_BYTES = _HEADER.size


class Message(NamedTuple):
    """Message, or a part of one."""

    kind: Kind
    source: int
    number: int
    """Number of the lock, barrier or page."""
    sequence: int
    """Sequence number of the Request at its sender, repeated in the Response."""
    body: bytes = b""
    part: int = 0
    parts: int = 1

    def pack(self) -> bytes:
        """Return the encoded message."""
        place = self.kind, self.source, self.part, self.parts
        return _HEADER.pack(*place, self.number, self.sequence, len(self.body)) + self.body

    @classmethod
    def unpack(cls, data: bytes) -> Message:
        """Decode a message."""
        kind, source, part, parts, number, sequence, size = _HEADER.unpack_from(data)
        return cls(Kind(kind), source, number, sequence, data[HEADER_BYTES : HEADER_BYTES + size], part, parts)


class Interval(NamedTuple):
    """Interval of a process between two synchronisations."""

    process: int
    number: int
    vector: tuple[int, ...]
    """Knowledge of the process: last known interval of each process, including its own."""
    pages: tuple[int, ...]
    """Write notices: pages that the process may have written, ascending."""


class Diff(NamedTuple):
    """Changes of a process to a page over some of its intervals."""

    process: int
    first: int
    last: int
    runs: bytes


def words(numbers: Iterable[int]) -> bytes:
    """Return numbers as 32-bit words."""
    listed = list(numbers)
    return struct.pack(f">{len(listed)}I", *listed)


def numbers(data: bytes, at: int, count: int) -> tuple[int, ...]:
    """Return `count` 32-bit words from an offset."""
    return struct.unpack_from(f">{count}I", data, at)


def runs_of(pages: Sequence[int]) -> list[tuple[int, int]]:
    """Return runs of consecutive pages as (first, count)."""
    found: list[tuple[int, int]] = []
    for page in pages:
        if found and sum(found[-1]) == page:
            found[-1] = found[-1][0], found[-1][1] + 1
        else:
            found.append((page, 1))
    return found


def pack_intervals(intervals: Sequence[Interval]) -> bytes:
    """Return encoded intervals, preceded by their number."""
    packed = [words([len(intervals)])]
    for one in intervals:
        runs = runs_of(one.pages)
        packed.append(words([one.process, one.number, *one.vector, len(runs), *(part for run in runs for part in run)]))
    return b"".join(packed)


def unpack_intervals(data: bytes, at: int, processes: int) -> list[Interval]:
    """Decode intervals from an offset."""
    (count,), at, found = numbers(data, at, 1), at + 4, []
    for _ in range(count):
        process, index, *vector, runs = numbers(data, at, processes + 3)
        at += 4 * (processes + 3)
        flat = numbers(data, at, 2 * runs)
        at += 8 * runs
        pages = [first + page for first, many in zip(flat[::2], flat[1::2], strict=True) for page in range(many)]
        found.append(Interval(process, index, tuple(vector), tuple(pages)))
    return found


def pack_diffs(diffs: Sequence[Diff]) -> bytes:
    """Return encoded diffs."""
    return b"".join(words([one.process, one.first, one.last, len(one.runs)]) + one.runs for one in diffs)


def unpack_diffs(data: bytes) -> list[Diff]:
    """Decode diffs."""
    at, found = 0, []
    while at < len(data):
        process, first, last, size = numbers(data, at, 4)
        found.append(Diff(process, first, last, data[at + 16 : at + 16 + size]))
        at += 16 + size
    return found


def encode(twin: bytes, page: bytes) -> bytes:
    """Return the runs of words in which a page differs from its twin."""
    now = np.frombuffer(page, np.uint32)
    changed = np.flatnonzero(np.frombuffer(twin, np.uint32) != now)
    runs = np.split(changed, np.flatnonzero(np.diff(changed) != 1) + 1) if changed.size else []
    return b"".join(struct.pack(">2H", run[0], run.size) + now[run[0] : run[-1] + 1].tobytes() for run in runs)


def apply(runs: bytes, page: bytearray) -> int:
    """Apply the runs of a diff to a page and return their number."""
    at = count = 0
    while at < len(runs):
        offset, size = struct.unpack_from(">2H", runs, at)
        begin, end = WORD * offset, WORD * (offset + size)
        assert end <= PAGE
        page[begin:end] = runs[at + 4 : at + 4 + end - begin]
        at += 4 + end - begin
        count += 1
    return count
