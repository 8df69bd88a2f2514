"""Calls: datatypes."""

from __future__ import annotations

from enum import IntEnum

from firmware.host.mpi.errors import ErrorClass, Misuse
from tb.program.mpi import abi
from tb.program.mpi.attributes import copied_attributes, drop_attributes
from tb.program.mpi.calls import Address, Aint, Buffer, Handle, call
from tb.program.mpi.layout import Layout, Made, derived, shaped
from tb.program.mpi.rank import Rank

ORDER_C = 56
MATCHED = {number: name.removeprefix("TYPECLASS_") for name, number in abi.TYPECLASSES.items()}
"""The types of a MPI_TYPECLASS: their names without the size."""


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
    RESIZED = 18
    HINDEXED_BLOCK = 19


def _keep(rank: Rank, new: Address, layout: Layout) -> None:
    rank.memory.put_ints(new, rank.types.new(layout))


def _whole(what: str, count: int) -> int:
    if count < 0:
        raise Misuse(ErrorClass.COUNT, f"{what} is {count}", "give 0 or more")
    return count


@call("MPI_Type_contiguous")
async def _contiguous(rank: Rank, count: int, old: Handle, new: Address) -> None:
    kind = rank.types[old]
    made: Made = (Combiner.CONTIGUOUS, [count], [], [kind])
    _keep(rank, new, derived(f"{count} of {kind.name}", [(_whole("count", count), 0, kind)], made))


@call("MPI_Type_vector")
async def _vector(rank: Rank, count: int, length: int, stride: int, old: Handle, new: Address) -> None:
    kind = rank.types[old]
    parts = [(length, at * stride * kind.extent, kind) for at in range(_whole("count", count))]
    _keep(rank, new, derived(f"a vector of {kind.name}", parts, (Combiner.VECTOR, [count, length, stride], [], [kind])))


@call("MPI_Type_create_hvector", "MPI_Type_hvector")
async def _hvector(rank: Rank, count: int, length: int, stride: Aint, old: Handle, new: Address) -> None:
    kind = rank.types[old]
    parts = [(length, at * stride, kind) for at in range(_whole("count", count))]
    made: Made = (Combiner.HVECTOR, [count, length], [stride], [kind])
    _keep(rank, new, derived(f"a vector of {kind.name}", parts, made))


@call("MPI_Type_indexed")
async def _indexed(rank: Rank, count: int, lengths: Address, places: Address, old: Handle, new: Address) -> None:
    kind, count = rank.types[old], _whole("count", count)
    each, at = rank.memory.ints(lengths, count), rank.memory.ints(places, count)
    parts = [(one, place * kind.extent, kind) for one, place in zip(each, at, strict=True)]
    _keep(rank, new, derived(f"blocks of {kind.name}", parts, (Combiner.INDEXED, [count, *each, *at], [], [kind])))


@call("MPI_Type_create_hindexed", "MPI_Type_hindexed")
async def _hindexed(rank: Rank, count: int, lengths: Address, places: Address, old: Handle, new: Address) -> None:
    kind, count = rank.types[old], _whole("count", count)
    each, at = rank.memory.ints(lengths, count), rank.memory.longs(places, count)
    parts = [(one, place, kind) for one, place in zip(each, at, strict=True)]
    _keep(rank, new, derived(f"blocks of {kind.name}", parts, (Combiner.HINDEXED, [count, *each], at, [kind])))


@call("MPI_Type_create_indexed_block")
async def _indexed_block(rank: Rank, count: int, length: int, places: Address, old: Handle, new: Address) -> None:
    kind, at = rank.types[old], rank.memory.ints(places, _whole("count", count))
    parts = [(length, place * kind.extent, kind) for place in at]
    made: Made = (Combiner.INDEXED_BLOCK, [count, length, *at], [], [kind])
    _keep(rank, new, derived(f"blocks of {kind.name}", parts, made))


@call("MPI_Type_create_hindexed_block")
async def _hindexed_block(rank: Rank, count: int, length: int, places: Address, old: Handle, new: Address) -> None:
    kind, at = rank.types[old], rank.memory.longs(places, _whole("count", count))
    made: Made = (Combiner.HINDEXED_BLOCK, [count, length], at, [kind])
    _keep(rank, new, derived(f"blocks of {kind.name}", [(length, place, kind) for place in at], made))


@call("MPI_Type_create_struct", "MPI_Type_struct")
async def _struct(rank: Rank, count: int, lengths: Address, places: Address, olds: Address, new: Address) -> None:
    each, at = rank.memory.ints(lengths, _whole("count", count)), rank.memory.longs(places, count)
    kinds = [rank.types[one] for one in rank.memory.handles(olds, count)]
    parts = list(zip(each, at, kinds, strict=True))
    _keep(rank, new, derived("a struct", parts, (Combiner.STRUCT, [count, *each], at, kinds)))


@call("MPI_Type_create_resized")
async def _resized(rank: Rank, old: Handle, lower: Aint, extent: Aint, new: Address) -> None:
    kind = rank.types[old]
    made: Made = (Combiner.RESIZED, [], [lower, extent], [kind])
    _keep(rank, new, shaped(kind.name, kind.blocks, lower, extent, kind.layer.base, made))


@call("MPI_Type_create_subarray")
async def _subarray(
    rank: Rank, dims: int, sizes: Address, parts: Address, starts: Address, order: int, old: Handle, new: Address
) -> None:
    kind = rank.types[old]
    whole, part, begin = (rank.memory.ints(one, dims) for one in (sizes, parts, starts))
    made: Made = (Combiner.SUBARRAY, [dims, *whole, *part, *begin, order], [], [kind])
    axes = list(zip(whole, part, begin, strict=True))
    if any(of < 1 or some < 1 or at < 0 or at + some > of for of, some, at in axes):
        raise Misuse(ErrorClass.ARG, f"a part of {part} at {begin} of an array of {whole}", "stay within the array")
    inner, size = kind, kind.extent
    for of, some, at in reversed(axes) if order == ORDER_C else axes:
        inner = derived(kind.name, [(1, (at + one) * size, inner) for one in range(some)], made)
        inner = shaped(kind.name, inner.blocks, 0, size, kind.layer.base, made)
        size *= of
    _keep(rank, new, shaped(f"a part of an array of {kind.name}", inner.blocks, 0, size, kind.layer.base, made))


@call("MPI_Type_dup")
async def _dup(rank: Rank, old: Handle, new: Address) -> None:
    kind = rank.types[old]
    made = shaped(
        kind.name, kind.blocks, kind.lower_bound, kind.extent, kind.layer.base, (Combiner.DUP, [], [], [kind])
    )
    made.layer.committed = kind.layer.committed
    rank.memory.put_ints(new, abi.DATATYPE_NULL)
    made.attributes = await copied_attributes(rank, old, kind.attributes)
    _keep(rank, new, made)


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
    rank.memory.put_ints(size, rank.types[datatype].layer.size)


@call("MPI_Type_size_x")
async def _size_x(rank: Rank, datatype: Handle, size: Address) -> None:
    rank.memory.put_longs(size, rank.types[datatype].layer.size)


@call("MPI_Type_get_extent", "MPI_Type_get_extent_x")
async def _get_extent(rank: Rank, datatype: Handle, lower: Address, extent: Address) -> None:
    kind = rank.types[datatype]
    rank.memory.put_longs(lower, kind.lower_bound)
    rank.memory.put_longs(extent, kind.extent)


@call("MPI_Type_lb")
async def _lower(rank: Rank, datatype: Handle, bound: Address) -> None:
    rank.memory.put_longs(bound, rank.types[datatype].lower_bound)


@call("MPI_Type_ub")
async def _upper(rank: Rank, datatype: Handle, bound: Address) -> None:
    rank.memory.put_longs(bound, rank.types[datatype].lower_bound + rank.types[datatype].extent)


@call("MPI_Type_extent")
async def _extent(rank: Rank, datatype: Handle, extent: Address) -> None:
    rank.memory.put_longs(extent, rank.types[datatype].extent)


@call("MPI_Type_get_true_extent", "MPI_Type_get_true_extent_x")
async def _get_true_extent(rank: Rank, datatype: Handle, lower: Address, extent: Address) -> None:
    kind = rank.types[datatype]
    rank.memory.put_longs(lower, kind.low)
    rank.memory.put_longs(extent, kind.layer.span(1))


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
    rank.memory.put_ints(size, _whole("count", count) * rank.types[datatype].layer.size)


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
    out = bytearray(_whole("size", out_size))
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
