"""Calls: requests."""

from __future__ import annotations

from collections.abc import Sequence

from firmware.host.mpi.errors import ErrorClass, Misuse
from firmware.host.mpi.requests import Request
from firmware.host.mpi.status import UNDEFINED, Status
from tb.program.mpi import abi
from tb.program.mpi.calls import Address, Given, Handle, call
from tb.program.mpi.point import put_status
from tb.program.mpi.rank import Pending, Rank


def _of(rank: Rank, handles: Sequence[int]) -> list[Pending]:
    """The requests; a null one is done."""
    null = Pending(Request(rank.mpi.engine))
    return [null if handle == abi.REQUEST_NULL else rank.requests[handle] for handle in handles]


def _over(rank: Rank, at: int, handle: int, one: Pending, status: Status) -> None:
    """An operation has been waited for: its data are where the program wants them, and its request is null."""
    if one.into and not status.cancelled:
        one.into.write(status.size)
    if handle != abi.REQUEST_NULL and not one.persistent:
        rank.requests.pop(handle)
        rank.memory.put_ints(at, abi.REQUEST_NULL)


def _put_statuses(rank: Rank, at: int, statuses: Sequence[Status]) -> None:
    if at != abi.IGNORE:
        rank.memory.put(at, b"".join(abi.status_bytes(one, with_error=True) for one in statuses))


@call("MPI_Wait")
async def _wait(rank: Rank, request: Given, status: Address) -> None:
    handle, told = rank.memory.handles(request, 1)[0], Status()
    one = _of(rank, [handle])[0]
    await one.request.Wait(told)
    _over(rank, request, handle, one, told)
    put_status(rank, status, told)


@call("MPI_Test")
async def _test(rank: Rank, request: Given, flag: Address, status: Address) -> None:
    handle, told = rank.memory.handles(request, 1)[0], Status()
    one = _of(rank, [handle])[0]
    done = await one.request.Test(told)
    rank.memory.put_ints(flag, int(done))
    if done:
        _over(rank, request, handle, one, told)
        put_status(rank, status, told)


@call("MPI_Waitall")
async def _waitall(rank: Rank, count: int, requests: Address, statuses: Address) -> None:
    handles = rank.memory.handles(requests, count)
    told: list[Status] = []
    pending = _of(rank, handles)
    await Request.Waitall([one.request for one in pending], told)
    _all_over(rank, requests, handles, pending, told)
    _put_statuses(rank, statuses, told)


@call("MPI_Testall")
async def _testall(rank: Rank, count: int, requests: Address, flag: Address, statuses: Address) -> None:
    handles = rank.memory.handles(requests, count)
    told: list[Status] = []
    pending = _of(rank, handles)
    done = await Request.Testall([one.request for one in pending], told)
    rank.memory.put_ints(flag, int(done))
    if done:
        _all_over(rank, requests, handles, pending, told)
        _put_statuses(rank, statuses, told)


def _all_over(rank: Rank, at: int, handles: Sequence[int], pending: Sequence[Pending], told: Sequence[Status]) -> None:
    for number, (handle, one, status) in enumerate(zip(handles, pending, told, strict=True)):
        _over(rank, at + 4 * number, handle, one, status)


@call("MPI_Waitany")
async def _waitany(rank: Rank, count: int, requests: Address, index: Address, status: Address) -> None:
    handles, told = rank.memory.handles(requests, count), Status()
    pending = _of(rank, handles)
    at = await Request.Waitany([one.request for one in pending], told)
    _any_over(rank, requests, handles, pending, at, told)
    rank.memory.put_ints(index, at)
    put_status(rank, status, told)


@call("MPI_Testany")
async def _testany(rank: Rank, count: int, requests: Address, index: Address, flag: Address, status: Address) -> None:
    handles, told = rank.memory.handles(requests, count), Status()
    pending = _of(rank, handles)
    at, done = await Request.Testany([one.request for one in pending], told)
    rank.memory.put_ints(flag, int(done))
    rank.memory.put_ints(index, at)
    if done:
        _any_over(rank, requests, handles, pending, at, told)
        put_status(rank, status, told)


def _any_over(
    rank: Rank, requests: int, handles: Sequence[int], pending: Sequence[Pending], at: int, told: Status
) -> None:
    if at != UNDEFINED:
        _over(rank, requests + 4 * at, handles[at], pending[at], told)


@call("MPI_Waitsome", "MPI_Testsome")
async def _some(
    rank: Rank, count: int, requests: Address, out_count: Address, indices: Address, statuses: Address
) -> None:
    handles = rank.memory.handles(requests, count)
    told: list[Status] = []
    pending = _of(rank, handles)
    how = Request.Waitsome if rank.call == "MPI_Waitsome" else Request.Testsome
    done = await how([one.request for one in pending], told)
    if done is None:
        rank.memory.put_ints(out_count, UNDEFINED)
        return
    for at, status in zip(done, told, strict=True):
        _over(rank, requests + 4 * at, handles[at], pending[at], status)
    rank.memory.put_ints(out_count, len(done))
    if done:
        rank.memory.put_ints(indices, *done)
        _put_statuses(rank, statuses, told)


@call("MPI_Start")
async def _start(rank: Rank, request: Given) -> None:
    await _begin(rank, rank.memory.handles(request, 1)[0])


@call("MPI_Startall")
async def _startall(rank: Rank, count: int, requests: Address) -> None:
    for handle in rank.memory.handles(requests, count):
        await _begin(rank, handle)


async def _begin(rank: Rank, handle: int) -> None:
    one = rank.requests[handle]
    if one.out:
        one.out.read()
    await one.request.Start()


@call("MPI_Cancel")
async def _cancel(rank: Rank, request: Given) -> None:
    rank.requests[rank.memory.handles(request, 1)[0]].request.Cancel()


@call("MPI_Request_free")
async def _request_free(rank: Rank, request: Given) -> None:
    handle = rank.memory.handles(request, 1)[0]
    if rank.requests[handle].into and rank.requests[handle].request.active:
        cause = "the request is a receive that has not ended"
        raise Misuse(ErrorClass.REQUEST, cause, "wait for it: nobody would learn that its data are there")
    rank.requests.pop(handle).request.Free()
    rank.memory.put_ints(request, abi.REQUEST_NULL)


@call("MPI_Request_get_status")
async def _get_status(rank: Rank, request: Handle, flag: Address, status: Address) -> None:
    one = _of(rank, [request])[0]
    await rank.mpi.engine.poll()
    rank.memory.put_ints(flag, int(one.request.done))
    if one.request.done:
        operation = one.request._operation
        put_status(rank, status, operation.status if operation else Status())
