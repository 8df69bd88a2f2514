"""Calls: datatypes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, TypeVar

import numpy as np

from firmware.mpi.host.errors import ErrorClass, Misuse
from tb.program.mpi import abi, shapes
from tb.program.mpi.attributes import copied_attributes, drop_attributes
from tb.program.mpi.calls import Address, Aint, Buffer, Count, Counts, Handle, call
from tb.program.mpi.layout import Layout, Made, derived
from tb.program.mpi.rank import Rank
from tb.program.mpi.shapes import Distribution, Order, Shape

MATCHED = {number: name.removeprefix("TYPECLASS_") for name, number in abi.TYPECLASSES.items()}
"""Names (without size) of the types of each MPI_TYPECLASS."""
Word = TypeVar("Word", bound=IntEnum)


class Combiner(IntEnum):
    """Constructor of a datatype."""

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
    F90_REAL = 15
    F90_COMPLEX = 16
    F90_INTEGER = 17
    RESIZED = 18
    HINDEXED_BLOCK = 19


PREDEFINED = (Combiner.NAMED,)
"""Combiners of types that no constructor call of the program has created."""


class _Making:
    """Constructor call: its arguments and the resulting type."""

    def __init__(self, rank: Rank, new: Address, old: int) -> None:
        self._rank, self._new, self.kind = rank, new, rank.types[old]

    def end(
        self,
        name: str,
        shape: Shape,
        combiner: Combiner,
        numbers: Sequence[int],
        places: Sequence[int] = (),
        large: Sequence[int] = (),
    ) -> None:
        """Write the handle of the new type to the program's memory.

        In a call of large counts, all `numbers` and `places` are large counts unless `large` has those.
        """
        made = _made(self._rank, combiner, [self.kind], numbers, places, large)
        new = derived(f"{name} of {self.kind.name}", shape, [self.kind], made)
        self._rank.memory.put_ints(self._new, self._rank.types.new(new))


def _made(
    rank: Rank,
    combiner: Combiner,
    kinds: Sequence[Layout],
    numbers: Sequence[int],
    places: Sequence[int] = (),
    large: Sequence[int] = (),
) -> Made:
    """Return the present call in the form of MPI_Type_get_contents."""
    if rank.large and not large:
        return Made(combiner, [], [], kinds, [*numbers, *places])
    return Made(combiner, numbers, places, kinds, large)


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
async def _contiguous(rank: Rank, count: Count, old: Handle, new: Address) -> None:
    making = _Making(rank, new, old)
    shape = shapes.contiguous(making.kind.shape, _count("count", count))
    making.end(f"{count} elements", shape, Combiner.CONTIGUOUS, [count])


@call("MPI_Type_vector")
async def _vector(rank: Rank, count: Count, length: Count, stride: Count, old: Handle, new: Address) -> None:
    making = _Making(rank, new, old)
    kind = making.kind.shape
    _length(length)
    shape = shapes.hvector(kind, _count("count", count), length, stride * kind.extent)
    making.end("a vector", shape, Combiner.VECTOR, [count, length, stride])


@call("MPI_Type_create_hvector", "MPI_Type_hvector")
async def _hvector(rank: Rank, count: Count, length: Count, stride: Aint, old: Handle, new: Address) -> None:
    making = _Making(rank, new, old)
    _length(length)
    shape = shapes.hvector(making.kind.shape, _count("count", count), length, stride)
    making.end("a vector", shape, Combiner.HVECTOR, [count, length], [stride])


@call("MPI_Type_indexed")
async def _indexed(rank: Rank, count: Count, lengths: Counts, places: Counts, old: Handle, new: Address) -> None:
    making = _Making(rank, new, old)
    kind = making.kind.shape
    each, at = rank.counts(lengths, _count("count", count)), rank.counts(places, count)
    _length(*each)
    shape = shapes.hindexed(kind, each, [place * kind.extent for place in at])
    making.end("blocks", shape, Combiner.INDEXED, [count, *each, *at])


@call("MPI_Type_create_hindexed", "MPI_Type_hindexed")
async def _hindexed(rank: Rank, count: Count, lengths: Counts, places: Address, old: Handle, new: Address) -> None:
    making = _Making(rank, new, old)
    each, at = rank.counts(lengths, _count("count", count)), rank.memory.longs(places, count)
    _length(*each)
    making.end("blocks", shapes.hindexed(making.kind.shape, each, at), Combiner.HINDEXED, [count, *each], at)


@call("MPI_Type_create_indexed_block")
async def _indexed_block(rank: Rank, count: Count, length: Count, places: Counts, old: Handle, new: Address) -> None:
    making = _Making(rank, new, old)
    kind, at = making.kind.shape, rank.counts(places, _count("count", count))
    _length(length)
    shape = shapes.hindexed_block(kind, length, [place * kind.extent for place in at])
    making.end("blocks", shape, Combiner.INDEXED_BLOCK, [count, length, *at])


@call("MPI_Type_create_hindexed_block")
async def _hindexed_block(rank: Rank, count: Count, length: Count, places: Address, old: Handle, new: Address) -> None:
    making = _Making(rank, new, old)
    at = rank.memory.longs(places, _count("count", count))
    _length(length)
    shape = shapes.hindexed_block(making.kind.shape, length, at)
    making.end("blocks", shape, Combiner.HINDEXED_BLOCK, [count, length], at)


@call("MPI_Type_create_struct", "MPI_Type_struct")
async def _struct(rank: Rank, count: Count, lengths: Counts, places: Address, olds: Address, new: Address) -> None:
    each, at = rank.counts(lengths, _count("count", count)), rank.memory.longs(places, count)
    kinds = [rank.types[one] for one in rank.memory.handles(olds, count)]
    _length(*each)
    parts = [part for part in zip(each, at, kinds, strict=True) if part[2].handle not in abi.MARKERS.values()]
    shape = shapes.struct([part[0] for part in parts], [part[1] for part in parts], [part[2].shape for part in parts])
    bounds = {kind.handle: place for place, kind in zip(at, kinds, strict=True)}
    lower, upper = bounds.get(abi.MARKERS["LB"], shape.lower), bounds.get(abi.MARKERS["UB"], shape.upper)
    used = [kind for length, _, kind in parts if length]
    made = _made(rank, Combiner.STRUCT, kinds, [count, *each], at)
    rank.memory.put_ints(
        new, rank.types.new(derived("a struct", shapes.resized(shape, lower, upper - lower), used, made))
    )


@call("MPI_Type_create_resized", "MPI_Type_create_resized_c")
async def _resized(rank: Rank, old: Handle, lower: Aint, extent: Aint, new: Address) -> None:
    making = _Making(rank, new, old)
    shape = shapes.resized(making.kind.shape, lower, extent)
    making.end("a resized type", shape, Combiner.RESIZED, [], [lower, extent])


@call("MPI_Type_create_subarray")
async def _subarray(
    rank: Rank, dims: int, sizes: Counts, parts: Counts, starts: Counts, order: int, old: Handle, new: Address
) -> None:
    making = _Making(rank, new, old)
    _dims(dims)
    whole, part, begin = (rank.counts(one, dims) for one in (sizes, parts, starts))
    axes = zip(whole, part, begin, strict=True)
    if any(of < 1 or some < 1 or at < 0 or at + some > of for of, some, at in axes):
        raise Misuse(ErrorClass.ARG, f"a part of {part} at {begin} of an array of {whole}", "stay within the array")
    shape = shapes.subarray(making.kind.shape, whole, part, begin, _word(Order, order))
    array = [*whole, *part, *begin]
    if rank.large:
        making.end("a part of an array", shape, Combiner.SUBARRAY, [dims, order], large=array)
    else:
        making.end("a part of an array", shape, Combiner.SUBARRAY, [dims, *array, order])


@call("MPI_Type_create_darray")
async def _darray(
    rank: Rank,
    size: int,
    number: int,
    dims: int,
    sizes: Counts,
    distributions: Address,
    arguments: Address,
    grid: Address,
    order: int,
    old: Handle,
    new: Address,
) -> None:
    making = _Making(rank, new, old)
    _dims(dims)
    whole = rank.counts(sizes, dims)
    how, argument, processes = (rank.memory.ints(one, dims) for one in (distributions, arguments, grid))
    if min(whole) < 1 or min(processes) < 1 or math.prod(processes) != size or not 0 <= number < size:
        cause = f"rank {number} of {size} in a grid of {processes}, for an array of {whole}"
        raise Misuse(ErrorClass.ARG, cause, "give a rank in a grid of that size, and sizes above 0")
    each = [_word(Distribution, one) for one in how]
    if any(one is Distribution.NONE and extent > 1 for one, extent in zip(each, processes, strict=True)):
        raise Misuse(ErrorClass.ARG, "a dimension that is not distributed has several processes", "give it 1 process")
    shape = shapes.darray(making.kind.shape, number, whole, each, argument, processes, _word(Order, order))
    ints, large = ([], whole) if rank.large else (whole, [])
    numbers = [size, number, dims, *ints, *how, *argument, *processes, order]
    making.end("a part of a distributed array", shape, Combiner.DARRAY, numbers, large=large)


def _dims(dims: int) -> None:
    if dims < 1:
        raise Misuse(ErrorClass.ARG, f"an array of {dims} dimensions", "give 1 or more")


@call("MPI_Type_dup")
async def _dup(rank: Rank, old: Handle, new: Address) -> None:
    kind = rank.types[old]
    made = derived(kind.name, kind.shape, [kind], Made(Combiner.DUP, [], [], [kind]))
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
        cause = f"{rank.types[handle].name} is predefined"
        raise Misuse(ErrorClass.TYPE, cause, "free derived types only")
    await drop_attributes(rank, handle, rank.types[handle].attributes)
    rank.types.pop(handle)
    rank.memory.put_ints(datatype, abi.DATATYPE_NULL)


@call("MPI_Type_size", "MPI_Type_size_x")
async def _size(rank: Rank, datatype: Handle, size: Counts) -> None:
    rank.put_count(size, rank.types[datatype].shape.size)


@call("MPI_Type_get_extent", "MPI_Type_get_extent_x", "MPI_Type_get_extent_c")
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


@call("MPI_Type_get_true_extent", "MPI_Type_get_true_extent_x", "MPI_Type_get_true_extent_c")
async def _get_true_extent(rank: Rank, datatype: Handle, lower: Address, extent: Address) -> None:
    shape = rank.types[datatype].shape
    rank.memory.put_longs(lower, shape.true_lower)
    rank.memory.put_longs(extent, shape.true_extent)


@call("MPI_Type_match_size")
async def _match_size(rank: Rank, kind: int, size: int, datatype: Address) -> None:
    known = MATCHED.get(kind)
    if known is None:
        raise Misuse(ErrorClass.ARG, f"invalid type class {kind}", "give MPI_TYPECLASS_INTEGER, _REAL or _COMPLEX")
    handle, _ = abi.DATATYPES.get(f"{known}{size}", (None, None))
    if handle is None:
        raise Misuse(ErrorClass.ARG, f"no type of this class has {size} bytes", "give the size of an existing type")
    rank.memory.put_ints(datatype, handle)


F90_INTEGERS = {2: "INTEGER1", 4: "INTEGER2", 9: "INTEGER4", 18: "INTEGER8"}
"""Largest decimal range of each Fortran integer type."""
F90_REALS = {(6, 37): ("REAL", "COMPLEX"), (15, 307): ("DOUBLE_PRECISION", "DOUBLE_COMPLEX")}
"""Largest decimal precision and exponent of each Fortran real type, with its complex type."""


@call("MPI_Type_create_f90_integer")
async def _f90_integer(rank: Rank, decimals: int, new: Address) -> None:
    name = next((one for most, one in F90_INTEGERS.items() if decimals <= most), None)
    _f90(rank, Combiner.F90_INTEGER, [decimals], name, new)


@call("MPI_Type_create_f90_real", "MPI_Type_create_f90_complex")
async def _f90_real(rank: Rank, precision: int, exponent: int, new: Address) -> None:
    found = [names for most, names in F90_REALS.items() if precision <= most[0] and exponent <= most[1]]
    is_complex = rank.call.endswith("complex")
    combiner = Combiner.F90_COMPLEX if is_complex else Combiner.F90_REAL
    _f90(rank, combiner, [precision, exponent], found[0][is_complex] if found else None, new)


def _f90(rank: Rank, combiner: Combiner, numbers: list[int], name: str | None, new: Address) -> None:
    """Write the handle of the Fortran type of a range; equal arguments give equal handles. Raises Misuse for
    no such type.
    """
    rank.memory.put_ints(new, abi.DATATYPE_NULL)
    if name is None:
        raise Misuse(ErrorClass.OTHER, f"no type of Fortran has the range {numbers}", "give a smaller one")
    key = combiner, *numbers
    if key not in rank.f90_types:
        kind = rank.types[abi.DATATYPES[name][0]]
        made = derived(kind.name, kind.shape, [kind], Made(combiner, numbers, [], []))
        made.layer.Commit()
        made.layer.basic = True
        rank.f90_types[key] = made.handle = rank.types.new(made)
    rank.memory.put_ints(new, rank.f90_types[key])


@call("MPI_Type_set_name")
async def _set_name(rank: Rank, datatype: Handle, name: Address) -> None:
    layout = rank.types[datatype]
    layout.name = layout.title = rank.memory.text(name)


@call("MPI_Type_get_name")
async def _get_name(rank: Rank, datatype: Handle, name: Address, length: Address) -> None:
    rank.memory.put_text(name, length, rank.types[datatype].title, abi.MAX_NAME)


@call("MPI_Type_get_envelope")
async def _envelope(
    rank: Rank, datatype: Handle, ints: Address, places: Address, types: Address, combiner: Address
) -> None:
    made = _small(rank.types[datatype])
    for at, one in ((ints, made.numbers), (places, made.places), (types, made.kinds)):
        rank.memory.put_ints(at, len(one))
    rank.memory.put_ints(combiner, made.combiner)


@call("MPI_Type_get_envelope_c")
async def _envelope_large(
    rank: Rank, datatype: Handle, ints: Address, places: Address, large: Address, types: Address, combiner: Address
) -> None:
    made = rank.types[datatype].made
    for at, one in ((ints, made.numbers), (places, made.places), (large, made.large), (types, made.kinds)):
        rank.memory.put_longs(at, len(one))
    rank.memory.put_ints(combiner, made.combiner)


def _small(layout: Layout) -> Made:
    """Return the constructor call of a type. Raises Misuse for a call of large counts."""
    if layout.made.large:
        cause = f"{layout.name} was made with large counts"
        raise Misuse(ErrorClass.TYPE, cause, "call MPI_Type_get_envelope_c and MPI_Type_get_contents_c")
    return layout.made


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
    _put_contents(rank, _small(rank.types[datatype]), (most_ints, most_places, 0, most_types), ints, places, 0, types)


@call("MPI_Type_get_contents_c")
async def _contents_large(
    rank: Rank,
    datatype: Handle,
    most_ints: Aint,
    most_places: Aint,
    most_large: Aint,
    most_types: Aint,
    ints: Address,
    places: Address,
    large: Address,
    types: Address,
) -> None:
    most = (most_ints, most_places, most_large, most_types)
    _put_contents(rank, rank.types[datatype].made, most, ints, places, large, types)


def _put_contents(
    rank: Rank, made: Made, most: tuple[int, int, int, int], ints: int, places: int, large: int, types: int
) -> None:
    """Write the arguments of a constructor call. Raises Misuse for predefined types and short arrays."""
    if made.combiner in PREDEFINED:
        raise Misuse(ErrorClass.TYPE, "the type is predefined", "call it for derived types only")
    if any(
        room < len(one) for room, one in zip(most, (made.numbers, made.places, made.large, made.kinds), strict=True)
    ):
        raise Misuse(ErrorClass.ARG, "the arrays are too short", "call MPI_Type_get_envelope for their lengths")
    rank.memory.put_ints(ints, *made.numbers)
    rank.memory.put_longs(places, *made.places)
    rank.memory.put_longs(large, *made.large)
    rank.memory.put_ints(types, *(kind.handle or rank.types.new(kind) for kind in made.kinds))


@call("MPI_Pack_size")
async def _pack_size(rank: Rank, count: Count, datatype: Handle, comm: Handle, size: Counts) -> None:
    rank.comm(comm)
    rank.put_count(size, _count("count", count) * rank.types[datatype].shape.size)


@call("MPI_Pack")
async def _pack(
    rank: Rank,
    buf: Buffer,
    count: Count,
    datatype: Handle,
    out_buf: Address,
    out_size: Count,
    position: Counts,
    comm: Handle,
) -> None:
    data, at = rank.data(buf, count, datatype), rank.counts(position, 1)[0]
    out = bytearray(_count("size", out_size))
    end = await rank.comm(comm).Pack(data.spec, out, at)
    rank.memory.put(out_buf + at, out[at:end])
    rank.put_count(position, end)


@call("MPI_Unpack")
async def _unpack(
    rank: Rank,
    buf: Address,
    size: Count,
    position: Counts,
    out_buf: Address,
    count: Count,
    datatype: Handle,
    comm: Handle,
) -> None:
    into, at = rank.place(out_buf, count, datatype), rank.counts(position, 1)[0]
    end = await rank.comm(comm).Unpack(rank.memory.get(buf, size), at, into.spec)
    into.write()
    rank.put_count(position, end)


EXTERNAL = {
    abi.DATATYPES[name][0]: kind for name, kind in (("LONG", ">i4"), ("UNSIGNED_LONG", ">u4"), ("WCHAR", ">u2"))
}
"""Elements with another size in external32; other elements differ only in byte order."""


def _external(rank: Rank, representation: Address, layout: Layout) -> np.dtype[Any]:
    """Return the elements of a datatype in external32. Raises Misuse for other representations and mixed types."""
    if rank.memory.text(representation) != "external32":
        raise Misuse(ErrorClass.ARG, "the representation is not external32", "give external32")
    kind: np.dtype[Any] = layout.base
    if layout.shape.size and (not layout.basic or kind.char in "gGV"):
        cause = f"{layout.name} has elements of several types, or long doubles"
        raise Misuse(ErrorClass.TYPE, cause, "pack elements of one supported type")
    other = EXTERNAL.get(layout.basic)
    return np.dtype(other) if other else kind.newbyteorder(">")


def _external_size(layout: Layout, kind: np.dtype[Any], count: int) -> int:
    return _count("count", count) * layout.shape.size // layout.base.itemsize * kind.itemsize


@call("MPI_Pack_external_size")
async def _pack_external_size(
    rank: Rank, representation: Address, count: Count, datatype: Handle, size: Address
) -> None:
    layout = rank.types[datatype]
    rank.memory.put_longs(size, _external_size(layout, _external(rank, representation, layout), count))


@call("MPI_Pack_external")
async def _pack_external(
    rank: Rank,
    representation: Address,
    buf: Buffer,
    count: Count,
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
    count: Count,
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
    """Return the end of external data. Raises Misuse if they do not fit."""
    if not 0 <= at <= room - size:
        cause = f"{size} bytes from {at} on exceed the buffer of {room} bytes"
        raise Misuse(ErrorClass.TRUNCATE, cause, "give a larger buffer or fewer elements")
    return at + size
