"""Calls: point-to-point messages."""

from __future__ import annotations

from collections.abc import Awaitable

from firmware.mpi.host.comm import Null
from firmware.mpi.host.matched import MatchedMessage
from firmware.mpi.host.requests import Request
from firmware.mpi.host.status import ANY_SOURCE, PROC_NULL, UNDEFINED, Status
from tb.program.mpi import abi
from tb.program.mpi.calls import Address, Aint, Buffer, Count, Counts, Given, Handle, call
from tb.program.mpi.layout import Layout, Place
from tb.program.mpi.rank import Pending, Rank


def put_status(rank: Rank, at: int, status: Status) -> None:
    """Write the status of an operation unless it is ignored. Only an empty status includes its error."""
    if at != abi.IGNORE:
        rank.memory.put(at, abi.status_bytes(status, with_error=status.source == ANY_SOURCE))


async def _received(rank: Rank, receiving: Awaitable[None], into: Place, at: int, outcome: Status) -> None:
    """Wait for a receive and write its data and status, also after an error with a message."""
    try:
        await receiving
    finally:
        if outcome.source != ANY_SOURCE:
            into.write(outcome.size)
            put_status(rank, at, outcome)


def _short(rank: Rank) -> str:
    return rank.call.removeprefix("MPI_")


@call("MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend")
async def _send(rank: Rank, buf: Buffer, count: Count, datatype: Handle, dest: int, tag: int, comm: Handle) -> None:
    of = rank.comm(comm)
    await getattr(of, _short(rank))(rank.data(buf, count, datatype).spec, dest, tag)


@call("MPI_Recv")
async def _recv(
    rank: Rank, buf: Address, count: Count, datatype: Handle, source: int, tag: int, comm: Handle, status: Address
) -> None:
    of, into, outcome = rank.comm(comm), rank.place(buf, count, datatype), Status()
    await _received(rank, of.Recv(into.spec, source, tag, outcome), into, status, outcome)


@call("MPI_Sendrecv")
async def _sendrecv(
    rank: Rank,
    buf: Buffer,
    count: Count,
    datatype: Handle,
    dest: int,
    tag: int,
    into_buf: Address,
    into_count: Count,
    into_datatype: Handle,
    source: int,
    into_tag: int,
    comm: Handle,
    status: Address,
) -> None:
    of, outcome = rank.comm(comm), Status()
    out, into = rank.data(buf, count, datatype), rank.place(into_buf, into_count, into_datatype)
    await _received(rank, of.Sendrecv(out.spec, dest, tag, into.spec, source, into_tag, outcome), into, status, outcome)


@call("MPI_Sendrecv_replace")
async def _sendrecv_replace(
    rank: Rank,
    buf: Address,
    count: Count,
    datatype: Handle,
    dest: int,
    tag: int,
    source: int,
    into_tag: int,
    comm: Handle,
    status: Address,
) -> None:
    await _sendrecv(rank, Buffer(buf), count, datatype, dest, tag, buf, count, datatype, source, into_tag, comm, status)


@call("MPI_Isend", "MPI_Issend", "MPI_Irsend", "MPI_Ibsend")
async def _isend(
    rank: Rank, buf: Buffer, count: Count, datatype: Handle, dest: int, tag: int, comm: Handle, request: Address
) -> None:
    of = rank.comm(comm)
    begun: Request = await getattr(of, _short(rank))(rank.data(buf, count, datatype).spec, dest, tag)
    rank.memory.put_ints(request, rank.requests.new(Pending(begun, rank.within)))


@call("MPI_Irecv")
async def _irecv(
    rank: Rank, buf: Address, count: Count, datatype: Handle, source: int, tag: int, comm: Handle, request: Address
) -> None:
    of, into = rank.comm(comm), rank.place(buf, count, datatype)
    begun = await of.Irecv(into.spec, source, tag)
    rank.memory.put_ints(request, rank.requests.new(Pending(begun, rank.within, into)))


@call("MPI_Isendrecv")
async def _isendrecv(
    rank: Rank,
    buf: Buffer,
    count: Count,
    datatype: Handle,
    dest: int,
    tag: int,
    into_buf: Address,
    into_count: Count,
    into_datatype: Handle,
    source: int,
    into_tag: int,
    comm: Handle,
    request: Address,
) -> None:
    of = rank.comm(comm)
    out, into = rank.data(buf, count, datatype), rank.place(into_buf, into_count, into_datatype)
    begun = await of.Isendrecv(out.spec, dest, tag, into.spec, source, into_tag)
    rank.memory.put_ints(request, rank.requests.new(Pending(begun, rank.within, into)))


@call("MPI_Isendrecv_replace")
async def _isendrecv_replace(
    rank: Rank,
    buf: Address,
    count: Count,
    datatype: Handle,
    dest: int,
    tag: int,
    source: int,
    into_tag: int,
    comm: Handle,
    request: Address,
) -> None:
    out = Buffer(buf)
    await _isendrecv(rank, out, count, datatype, dest, tag, buf, count, datatype, source, into_tag, comm, request)


@call("MPI_Send_init", "MPI_Ssend_init", "MPI_Rsend_init", "MPI_Bsend_init")
async def _send_init(
    rank: Rank, buf: Address, count: Count, datatype: Handle, dest: int, tag: int, comm: Handle, request: Address
) -> None:
    of, out = rank.comm(comm), rank.place(buf, count, datatype)
    made: Request = getattr(of, _short(rank))(out.spec, dest, tag)
    rank.memory.put_ints(request, rank.requests.new(Pending(made, rank.within, out=out, persistent=True)))


@call("MPI_Recv_init")
async def _recv_init(
    rank: Rank, buf: Address, count: Count, datatype: Handle, source: int, tag: int, comm: Handle, request: Address
) -> None:
    of, into = rank.comm(comm), rank.place(buf, count, datatype)
    made = of.Recv_init(into.spec, source, tag)
    rank.memory.put_ints(request, rank.requests.new(Pending(made, rank.within, into, persistent=True)))


@call("MPI_Probe")
async def _probe(rank: Rank, source: int, tag: int, comm: Handle, status: Address) -> None:
    outcome = Status()
    await rank.comm(comm).Probe(source, tag, outcome)
    put_status(rank, status, outcome)


@call("MPI_Iprobe")
async def _iprobe(rank: Rank, source: int, tag: int, comm: Handle, flag: Address, status: Address) -> None:
    outcome = Status()
    found = await rank.comm(comm).Iprobe(source, tag, outcome)
    rank.memory.put_ints(flag, int(found))
    if found:
        put_status(rank, status, outcome)


@call("MPI_Mprobe")
async def _mprobe(rank: Rank, source: int, tag: int, comm: Handle, message: Address, status: Address) -> None:
    outcome = Status()
    found = await rank.comm(comm).Mprobe(source, tag, outcome)
    rank.memory.put_ints(message, rank.messages.new(found) if outcome.source != PROC_NULL else abi.MESSAGE_NO_PROC)
    put_status(rank, status, outcome)


@call("MPI_Improbe")
async def _improbe(
    rank: Rank, source: int, tag: int, comm: Handle, flag: Address, message: Address, status: Address
) -> None:
    outcome = Status()
    found = await rank.comm(comm).Improbe(source, tag, outcome)
    rank.memory.put_ints(flag, int(found is not None))
    if found is not None:
        rank.memory.put_ints(message, rank.messages.new(found) if outcome.source != PROC_NULL else abi.MESSAGE_NO_PROC)
        put_status(rank, status, outcome)


def _taken(rank: Rank, message: int) -> MatchedMessage:
    """Return the message of a handle and invalidate the handle."""
    handle = rank.memory.handles(message, 1)[0]
    rank.memory.put_ints(message, abi.REQUEST_NULL)
    if handle == abi.MESSAGE_NO_PROC:
        return MatchedMessage(rank.comms[abi.COMM_SELF].comm, Null.NO_PROC)
    return rank.messages.pop(handle)


@call("MPI_Mrecv")
async def _mrecv(rank: Rank, buf: Address, count: Count, datatype: Handle, message: Given, status: Address) -> None:
    into, outcome = rank.place(buf, count, datatype), Status()
    await _received(rank, _taken(rank, message).Recv(into.spec, outcome), into, status, outcome)


@call("MPI_Imrecv")
async def _imrecv(rank: Rank, buf: Address, count: Count, datatype: Handle, message: Given, request: Address) -> None:
    into = rank.place(buf, count, datatype)
    begun = await _taken(rank, message).Irecv(into.spec)
    rank.memory.put_ints(request, rank.requests.new(Pending(begun, None, into)))


@call("MPI_Get_elements", "MPI_Get_elements_x")
async def _get_elements(rank: Rank, status: Address, datatype: Handle, count: Counts) -> None:
    layout, outcome = rank.types[datatype], _status_at(rank, status)
    number = layout.shape.elements_in(outcome.size)
    if (layout.handle >> 24 == abi.BUILTIN or not layout.shape.size) and _whole_elements(layout, outcome) == UNDEFINED:
        number = UNDEFINED
    rank.put_count(count, number)


def _whole_elements(layout: Layout, outcome: Status) -> int:
    """Return the number of elements of a message, UNDEFINED for a part of one."""
    count, rest = divmod(outcome.size, layout.shape.size) if layout.shape.size else (0, outcome.size)
    return UNDEFINED if rest else count


@call("MPI_Get_count")
async def _get_count(rank: Rank, status: Address, datatype: Handle, count: Counts) -> None:
    rank.put_count(count, _whole_elements(rank.types[datatype], _status_at(rank, status)))


@call("MPI_Test_cancelled")
async def _test_cancelled(rank: Rank, status: Address, flag: Address) -> None:
    rank.memory.put_ints(flag, int(_status_at(rank, status).cancelled))


@call("MPI_Status_set_cancelled")
async def _set_cancelled(rank: Rank, status: Address, flag: int) -> None:
    outcome = _status_at(rank, status)
    outcome.cancelled = bool(flag)
    put_status(rank, status, outcome)


@call("MPI_Status_set_elements_x")
async def _set_elements_x(rank: Rank, status: Address, datatype: Handle, count: Aint) -> None:
    await _set_elements(rank, status, datatype, count)


@call("MPI_Status_set_elements")
async def _set_elements(rank: Rank, status: Address, datatype: Handle, count: int) -> None:
    outcome = _status_at(rank, status)
    outcome.size = rank.types[datatype].shape.size_of(count)
    put_status(rank, status, outcome)


def _status_at(rank: Rank, status: int) -> Status:
    return abi.status_of(rank.memory.get(status, abi.STATUS_BYTES))
