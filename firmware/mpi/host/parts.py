"""Division of a collective's buffer into one part for each rank."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from firmware.mpi.host.buffers import Spec, View, view
from firmware.mpi.host.datatypes import Datatype, whole
from firmware.mpi.host.errors import ErrorClass, Misuse


class InPlace(Enum):
    """Placeholder for a send buffer whose data are already in the receive buffer."""

    IN_PLACE = 0


IN_PLACE = InPlace.IN_PLACE


def part(data: View, at: int, count: int) -> View:
    """Return `count` elements from element `at`. Raises Misuse."""
    begin, datatype = at * data.datatype.extent, data.datatype
    if datatype.span(count) > max(len(data.data) - begin, 0):
        cause = f"{count} elements from {at} on end behind the buffer of {len(data.data)} bytes"
        raise Misuse(ErrorClass.BUFFER, cause, "give a larger buffer, or other counts and displacements")
    return View(data.data[begin:], count, datatype)


def equal_parts(spec: Spec, size: int, writable: bool = False) -> list[View]:
    """Return a buffer as equal parts; a count in `spec` is that of one part. Raises Misuse."""
    if isinstance(spec, list | tuple) and any(type(one) is int for one in spec[1:]):
        kinds = [one for one in spec[1:] if isinstance(one, Datatype)]
        each = next(one for one in spec[1:] if type(one) is int)
        data = view([spec[0], each * size, *kinds], writable)
        return [part(data, rank * each, each) for rank in range(size)]
    data = view(spec, writable)
    if data.count % size:
        cause = f"{data.count} elements for {size} ranks"
        raise Misuse(ErrorClass.COUNT, cause, "give a multiple of the number of ranks")
    each = data.count // size
    return [part(data, rank * each, each) for rank in range(size)]


def parts_of(spec: Spec, size: int, writable: bool = False) -> list[View]:
    """Return the parts of [buffer, counts, displacements, datatype]. Raises Misuse.

    Without displacements the parts are contiguous; counts and displacements may be one tuple.
    """
    if not isinstance(spec, list | tuple) or len(spec) < 2:
        raise Misuse(ErrorClass.BUFFER, f"{type(spec).__name__} has no counts", "give [buffer, counts, displacements]")
    lists: list[Any] = [one for one in spec[1:] if not isinstance(one, Datatype)]
    kinds = [one for one in spec[1:] if isinstance(one, Datatype)]
    if len(lists) == 1 and isinstance(lists[0], tuple) and len(lists[0]) == 2 and not isinstance(lists[0][0], int):
        lists = list(lists[0])
    counts = [whole("count", one, ErrorClass.COUNT) for one in lists[0]]
    places = [whole("displacement", one) for one in (lists[1] if len(lists) > 1 else _sums(counts))]
    if len(counts) != size or len(places) != size:
        cause = f"{len(counts)} counts and {len(places)} displacements for {size} ranks"
        raise Misuse(ErrorClass.COUNT, cause, "give one of each for every rank")
    data = view([spec[0], *kinds], writable)
    return [part(data, at, count) for at, count in zip(places, counts, strict=True)]


def _sums(counts: Sequence[int]) -> list[int]:
    return [sum(counts[:rank]) for rank in range(len(counts))]
