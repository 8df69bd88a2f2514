"""Calls: datatypes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, TypeVar

import numpy as np

from firmware.host.mpi.errors import ErrorClass, Misuse
from tb.program.mpi import abi, shapes
from tb.program.mpi.attributes import copied_attributes, drop_attributes
from tb.program.mpi.calls import Address, Aint, Buffer, Handle, call
from tb.program.mpi.layout import Layout, derived
from tb.program.mpi.rank import Rank
from tb.program.mpi.shapes import Distribution, Order, Shape

MATCHED = {number: name.removeprefix("TYPECLASS_") for name, number in abi.TYPECLASSES.items()}
"""The types of a MPI_TYPECLASS: their names without the size."""
Word = TypeVar("Word", bound=IntEnum)


class Combiner(IntEnum):
    """How a type was made."""

    NAMED = 1
    DUP = 2
    CONTIGUOUS = 3
    VECTOR = 4
    HVECTOR = 6
    INDEXED = 7
    HINDEXED = 9
    INDEXED_BLOCK = 10
    STRUCT = 12
    SUBARRAY = 13
    DARRAY = 14
    RESIZED = 18
    HINDEXED_BLOCK = 19


class _Making:
    """A constructor call: its arguments, and the type that it makes."""

    def __init__(self, rank: Rank, new: Address, old: int) -> None:
        self._rank, self._new, self.kind = rank, new, rank.types[old]

    def end(
        self, name: str, shape: Shape, combiner: Combiner, numbers: Sequence[int], places: Sequence[int] = ()
    ) -> None:
        """Give the program the handle of the new type."""
        made = derived(f"{name} of {self.kind.name}", shape, [self.kind], (combiner, numbers, places, [self.kind]))
        self._rank.memory.put_ints(self._new, self._rank.types.new(made))


def _count(what: str, count: int) -> int:
    if count < 0:
        raise Misuse(ErrorClass.COUNT, f"{what} is {count}", "give 0 or more")
    return count


def _length(*lengths: int) -> None:
    if min(lengths, default=0) < 0:
        raise Misuse(ErrorClass.ARG, f"a block has {min(lengths)} elements", "give 0 or more")


def _word(kind: type[Word], value: int) -> Word:
    try:
        return kind(value)
    except ValueError:
        names = " or ".join(f"MPI_{kind.__name__.upper()}_{one.name}" for one in kind)
        raise Misuse(ErrorClass.ARG, f"{value} is not a valid {kind.__name__.lower()}", f"give {names}") from None


@call("MPI_Type_contiguous")
async def _contiguous(rank: Rank, count: int, old: Handle, new: Address) -> None:
    making = _Making(rank, new, old)
    shape = shapes.contiguous(making.kind.shape, _count("count", count))
    making.end(f"{count} elements", shape, Combiner.CONTIGUOUS, [count])


@call("MPI_Type_vector")
async def _vector(rank: Rank, count: int, length: int, stride: int, old: Handle, new: Address) -> None:
    making = _Making(rank, new, old)
    kind = making.kind.shape
    _length(length)
    shape = shapes.hvector(kind, _count("count", count), length, stride * kind.extent)
    making.end("a vector", shape, Combiner.VECTOR, [count, length, stride])


@call("MPI_Type_create_hvector", "MPI_Type_hvector")
async def _hvector(rank: Rank, count: int, length: int, stride: Aint, old: Handle, new: Address) -> None:
    making = _Making(rank, new, old)
    _length(length)
    shape = shapes.hvector(making.kind.shape, _count("count", count), length, stride)
    making.end("a vector", shape, Combiner.HVECTOR, [count, length], [stride])


@call("MPI_Type_indexed")
async def _indexed(rank: Rank, count: int, lengths: Address, places: Address, old: Handle, new: Address) -> None:
    making = _Making(rank, new, old)
    kind = making.kind.shape
    each, at = rank.memory.ints(lengths, _count("count", count)), rank.memory.ints(places, count)
    _length(*each)
    shape = shapes.hindexed(kind, each, [place * kind.extent for place in at])
    making.end("blocks", shape, Combiner.INDEXED, [count, *each, *at])


@call("MPI_Type_create_hindexed", "MPI_Type_hindexed")
async def _hindexed(rank: Rank, count: int, lengths: Address, places: Address, old: Handle, new: Address) -> None:
    making = _Making(rank, new, old)
    each, at = rank.memory.ints(lengths, _count("count", count)), rank.memory.longs(places, count)
    _length(*each)
    making.end("blocks", shapes.hindexed(making.kind.shape, each, at), Combiner.HINDEXED, [count, *each], at)


@call("MPI_Type_create_indexed_block")
async def _indexed_block(rank: Rank, count: int, length: int, places: Address, old: Handle, new: Address) -> None:
    making = _Making(rank, new, old)
    kind, at = making.kind.shape, rank.memory.ints(places, _count("count", count))
    _length(length)
    shape = shapes.hindexed_block(kind, length, [place * kind.extent for place in at])
    making.end("blocks", shape, Combiner.INDEXED_BLOCK, [count, length, *at])


@call("MPI_Type_create_hindexed_block")
async def _hindexed_block(rank: Rank, count: int, length: int, places: Address, old: Handle, new: Address) -> None:
    making = _Making(rank, new, old)
    at = rank.memory.longs(places, _count("count", count))
    _length(length)
    shape = shapes.hindexed_block(making.kind.shape, length, at)
    making.end("blocks", shape, Combiner.HINDEXED_BLOCK, [count, length], at)


@call("MPI_Type_create_struct", "MPI_Type_struct")
async def _struct(rank: Rank, count: int, lengths: Address, places: Address, olds: Address, new: Address) -> None:
    each, at = rank.memory.ints(lengths, _count("count", count)), rank.memory.longs(places, count)
    kinds = [rank.types[one] for one in rank.memory.handles(olds, count)]
    _length(*each)
    parts = [part for part in zip(each, at, kinds, strict=True) if part[2].handle not in abi.MARKERS.values()]
    shape = shapes.struct([part[0] for part in parts], [part[1] for part in parts], [part[2].shape for part in parts])
    bounds = {kind.handle: place for place, kind in zip(at, kinds, strict=True)}
    lower, upper = bounds.get(abi.MARKERS["LB"], shape.lower), bounds.get(abi.MARKERS["UB"], shape.upper)
    used = [kind for length, _, kind in parts if length]
    made = derived(
        "a struct", shapes.resized(shape, lower, upper - lower), used, (Combiner.STRUCT, [count, *each], at, kinds)
    )
    rank.memory.put_ints(new, rank.types.new(made))


@call("MPI_Type_create_resized")
async def _resized(rank: Rank, old: Handle, lower: Aint, extent: Aint, new: Address) -> None:
    making = _Making(rank, new, old)
    shape = shapes.resized(making.kind.shape, lower, extent)
    making.end("a resized type", shape, Combiner.RESIZED, [], [lower, extent])


@call("MPI_Type_create_subarray")
async def _subarray(
    rank: Rank, dims: int, sizes: Address, parts: Address, starts: Address, order: int, old: Handle, new: Address
) -> None:
    making = _Making(rank, new, old)
    _dims(dims)
    whole, part, begin = (rank.memory.ints(one, dims) for one in (sizes, parts, starts))
    axes = zip(whole, part, begin, strict=True)
    if any(of < 1 or some < 1 or at < 0 or at + some > of for of, some, at in axes):
        raise Misuse(ErrorClass.ARG, f"a part of {part} at {begin} of an array of {whole}", "stay within the array")
    shape = shapes.subarray(making.kind.shape, whole, part, begin, _word(Order, order))
    making.end("a part of an array", shape, Combiner.SUBARRAY, [dims, *whole, *part, *begin, order])


@call("MPI_Type_create_darray")
async def _darray(
    rank: Rank,
    size: int,
    number: int,
    dims: int,
    sizes: Address,
    distributions: Address,
    arguments: Address,
    grid: Address,
    order: int,
    old: Handle,
    new: Address,
) -> None:
    making = _Making(rank, new, old)
    _dims(dims)
    whole, how, argument, processes = (rank.memory.ints(one, dims) for one in (sizes, distributions, arguments, grid))
    if min(whole) < 1 or min(processes) < 1 or math.prod(processes) != size or not 0 <= number < size:
        cause = f"rank {number} of {size} in a grid of {processes}, for an array of {whole}"
        raise Misuse(ErrorClass.ARG, cause, "give a rank in a grid of that size, and sizes above 0")
    each = [_word(Distribution, one) for one in how]
    if any(one is Distribution.NONE and extent > 1 for one, extent in zip(each, processes, strict=True)):
        raise Misuse(ErrorClass.ARG, "a dimension that is not distributed has several processes", "give it 1 process")
    shape = shapes.darray(making.kind.shape, number, whole, each, argument, processes, _word(Order, order))
    numbers = [size, number, dims, *whole, *how, *argument, *processes, order]
    making.end("a part of a distributed array", shape, Combiner.DARRAY, numbers)


def _dims(dims: int) -> None:
    if dims < 1:
        raise Misuse(ErrorClass.ARG, f"an array of {dims} dimensions", "give 1 or more")


@call("MPI_Type_dup")
async def _dup(rank: Rank, old: Handle, new: Address) -> None:
    kind = rank.types[old]
    made = derived(kind.name, kind.shape, [kind], (Combiner.DUP, [], [], [kind]))
    made.layer.committed = kind.layer.committed
    rank.memory.put_ints(new, abi.DATATYPE_NULL)
    made.attributes = await copied_attributes(rank, old, kind.attributes)
    rank.memory.put_ints(new, rank.types.new(made))


@call("MPI_Type_commit")
async def _commit(rank: Rank, datatype: Address) -> None:
    rank.types[rank.memory.handles(datatype, 1)[0]].layer.Commit()


@call("MPI_Type_free")
async def _free(rank: Rank, datatype: Address) -> None:
    handle = rank.memory.handles(datatype, 1)[0]
    if rank.types[handle].layer.basic:
        cause = f"{rank.types[handle].name} is a type of the standard"
        raise Misuse(ErrorClass.TYPE, cause, "free derived types only")
    await drop_attributes(rank, handle, rank.types[handle].attributes)
    rank.types.pop(handle)
    rank.memory.put_ints(datatype, abi.DATATYPE_NULL)


@call("MPI_Type_size")
async def _size(rank: Rank, datatype: Handle, size: Address) -> None:
    rank.memory.put_ints(size, abi.as_int(rank.types[datatype].shape.size))


@call("MPI_Type_size_x")
async def _size_x(rank: Rank, datatype: Handle, size: Address) -> None:
    rank.memory.put_longs(size, rank.types[datatype].shape.size)


@call("MPI_Type_get_extent", "MPI_Type_get_extent_x")
async def _get_extent(rank: Rank, datatype: Handle, lower: Address, extent: Address) -> None:
    shape = rank.types[datatype].shape
    rank.memory.put_longs(lower, shape.lower)
    rank.memory.put_longs(extent, shape.extent)


@call("MPI_Type_extent")
async def _extent(rank: Rank, datatype: Handle, extent: Address) -> None:
    rank.memory.put_longs(extent, rank.types[datatype].shape.extent)


@call("MPI_Type_lb")
async def _lower(rank: Rank, datatype: Handle, lower: Address) -> None:
    rank.memory.put_longs(lower, rank.types[datatype].shape.lower)


@call("MPI_Type_ub")
async def _upper(rank: Rank, datatype: Handle, upper: Address) -> None:
    rank.memory.put_longs(upper, rank.types[datatype].shape.upper)


@call("MPI_Type_get_true_extent", "MPI_Type_get_true_extent_x")
async def _get_true_extent(rank: Rank, datatype: Handle, lower: Address, extent: Address) -> None:
    shape = rank.types[datatype].shape
    rank.memory.put_longs(lower, shape.true_lower)
    rank.memory.put_longs(extent, shape.true_extent)


@call("MPI_Type_match_size")
async def _match_size(rank: Rank, kind: int, size: int, datatype: Address) -> None:
    known = MATCHED.get(kind)
    if known is None:
        raise Misuse(ErrorClass.ARG, f"{kind} is no class of types", "give MPI_TYPECLASS_INTEGER, _REAL or _COMPLEX")
    handle, _ = abi.DATATYPES.get(f"{known}{size}", (None, None))
    if handle is None:
        raise Misuse(ErrorClass.ARG, f"no type of this class has {size} bytes", "give a size that there is")
    rank.memory.put_ints(datatype, handle)


@call("MPI_Type_set_name")
async def _set_name(rank: Rank, datatype: Handle, name: Address) -> None:
    rank.types[datatype].name = rank.memory.text(name)


@call("MPI_Type_get_name")
async def _get_name(rank: Rank, datatype: Handle, name: Address, length: Address) -> None:
    rank.memory.put_text(name, length, rank.types[datatype].name, abi.MAX_NAME)


@call("MPI_Type_get_envelope")
async def _envelope(
    rank: Rank, datatype: Handle, ints: Address, places: Address, types: Address, combiner: Address
) -> None:
    how, *lists = rank.types[datatype].made
    for at, one in zip((ints, places, types), lists, strict=True):
        rank.memory.put_ints(at, len(one))
    rank.memory.put_ints(combiner, how)


@call("MPI_Type_get_contents")
async def _contents(
    rank: Rank,
    datatype: Handle,
    most_ints: int,
    most_places: int,
    most_types: int,
    ints: Address,
    places: Address,
    types: Address,
) -> None:
    how, numbers, at, kinds = rank.types[datatype].made
    if how == Combiner.NAMED:
        raise Misuse(ErrorClass.TYPE, "the type is one of the standard", "ask for derived types only")
    if (most_ints, most_places, most_types) < (len(numbers), len(at), len(kinds)):
        raise Misuse(ErrorClass.ARG, "there is too little room", "ask MPI_Type_get_envelope")
    rank.memory.put_ints(ints, *numbers)
    rank.memory.put_longs(places, *at)
    rank.memory.put_ints(types, *(kind.handle or rank.types.new(kind) for kind in kinds))


@call("MPI_Pack_size")
async def _pack_size(rank: Rank, count: int, datatype: Handle, comm: Handle, size: Address) -> None:
    rank.comm(comm)
    rank.memory.put_ints(size, abi.as_int(_count("count", count) * rank.types[datatype].shape.size))


@call("MPI_Pack")
async def _pack(
    rank: Rank,
    buf: Buffer,
    count: int,
    datatype: Handle,
    out_buf: Address,
    out_size: int,
    position: Address,
    comm: Handle,
) -> None:
    data, at = rank.data(buf, count, datatype), rank.memory.ints(position, 1)[0]
    out = bytearray(_count("size", out_size))
    end = await rank.comm(comm).Pack(data.spec, out, at)
    rank.memory.put(out_buf + at, out[at:end])
    rank.memory.put_ints(position, end)


@call("MPI_Unpack")
async def _unpack(
    rank: Rank,
    buf: Address,
    size: int,
    position: Address,
    out_buf: Address,
    count: int,
    datatype: Handle,
    comm: Handle,
) -> None:
    into, at = rank.place(out_buf, count, datatype), rank.memory.ints(position, 1)[0]
    end = await rank.comm(comm).Unpack(rank.memory.get(buf, size), at, into.spec)
    into.write()
    rank.memory.put_ints(position, end)


EXTERNAL = {
    abi.DATATYPES[name][0]: kind for name, kind in (("LONG", ">i4"), ("UNSIGNED_LONG", ">u4"), ("WCHAR", ">u2"))
}
"""Elements that have another size in external32; all others only have another byte order."""


def _external(rank: Rank, representation: Address, layout: Layout) -> np.dtype[Any]:
    """Return the elements of a datatype in external32. Raises Misuse for other representations and mixed types."""
    if rank.memory.text(representation) != "external32":
        raise Misuse(ErrorClass.ARG, "the representation is not external32", "give that one")
    kind: np.dtype[Any] = layout.base
    if layout.shape.size and (not layout.basic or kind.char in "gGV"):
        cause = f"{layout.name} has elements of several types, or long doubles"
        raise Misuse(ErrorClass.TYPE, cause, "pack elements of one other type")
    other = EXTERNAL.get(layout.basic)
    return np.dtype(other) if other else kind.newbyteorder(">")


def _external_size(layout: Layout, kind: np.dtype[Any], count: int) -> int:
    return _count("count", count) * layout.shape.size // layout.base.itemsize * kind.itemsize


@call("MPI_Pack_external_size")
async def _pack_external_size(rank: Rank, representation: Address, count: int, datatype: Handle, size: Address) -> None:
    layout = rank.types[datatype]
    rank.memory.put_longs(size, _external_size(layout, _external(rank, representation, layout), count))


@call("MPI_Pack_external")
async def _pack_external(
    rank: Rank,
    representation: Address,
    buf: Buffer,
    count: int,
    datatype: Handle,
    out_buf: Address,
    out_size: Aint,
    position: Address,
) -> None:
    layout, at = rank.types[datatype], rank.memory.longs(position, 1)[0]
    kind, data = _external(rank, representation, layout), rank.data(buf, count, datatype)
    end = _external_end(at, _external_size(layout, kind, count), out_size)
    native = bytearray(data.size)
    await rank.comms[abi.COMM_SELF].comm.Pack(data.spec, native, 0)
    rank.memory.put(out_buf + at, np.frombuffer(native, layout.base).astype(kind).tobytes())
    rank.memory.put_longs(position, end)


@call("MPI_Unpack_external")
async def _unpack_external(
    rank: Rank,
    representation: Address,
    buf: Address,
    size: Aint,
    position: Address,
    out_buf: Address,
    count: int,
    datatype: Handle,
) -> None:
    layout, at = rank.types[datatype], rank.memory.longs(position, 1)[0]
    kind, into = _external(rank, representation, layout), rank.place(out_buf, count, datatype)
    end = _external_end(at, _external_size(layout, kind, count), size)
    native = np.frombuffer(rank.memory.get(buf + at, end - at), kind).astype(layout.base).tobytes()
    await rank.comms[abi.COMM_SELF].comm.Unpack(native, 0, into.spec)
    into.write()
    rank.memory.put_longs(position, end)


def _external_end(at: int, size: int, room: int) -> int:
    """Return where external data end. Raises Misuse if they do not fit."""
    if not 0 <= at <= room - size:
        cause = f"{size} bytes from {at} on end behind the buffer of {room}"
        raise Misuse(ErrorClass.TRUNCATE, cause, "give a larger buffer or fewer elements")
    return at + size
