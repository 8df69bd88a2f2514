"""Calls: requests."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TypeVar

from firmware.mpi.host.errors import MpiError
from firmware.mpi.host.requests import Request
from firmware.mpi.host.status import UNDEFINED, Status
from tb.program.mpi import abi
from tb.program.mpi.calls import Address, Given, Handle, call
from tb.program.mpi.error_codes import FunctionFailed
from tb.program.mpi.point import put_status
from tb.program.mpi.rank import Generalized, Pending, Rank

T = TypeVar("T")
QUERY_AT = 384
"""Offset in the library's scratch memory of the status that a query function writes."""
COMPLETE_AT, ERROR_AT = QUERY_AT + 32, QUERY_AT + 40
"""Offsets of the flag and the error code of Fortran functions."""


async def query(rank: Rank, made: Generalized, status: Status) -> None:
    """Update the status of a generalized request by the program's function. Raises Misuse if that fails."""
    at = rank.scratch() + QUERY_AT
    rank.memory.put(at, abi.status_bytes(Status(), with_error=True))
    await _call(rank, made, made.query, at)
    status.take(abi.status_of(rank.memory.get(at, abi.STATUS_BYTES)))


async def free(rank: Rank, made: Generalized) -> None:
    """Call the program's free function of a generalized request. Raises Misuse if that fails."""
    await _call(rank, made, made.free)


async def cancel(rank: Rank, made: Generalized) -> None:
    """Call the program's cancel function of a generalized request. Raises Misuse if that fails."""
    complete = int(made.operation.done)
    if made.fortran:
        at = rank.scratch() + COMPLETE_AT
        rank.memory.put_ints(at, complete)
        complete = at
    await _call(rank, made, made.cancel, complete)


async def _call(rank: Rank, made: Generalized, function: int, *arguments: int) -> None:
    if made.fortran:
        at = rank.scratch() + ERROR_AT
        rank.memory.put_ints(at, 0)
        await rank.callback(function, made.extra, *arguments, at)
        code = rank.memory.ints(at, 1)[0]
    else:
        code = await rank.callback(function, made.extra, *arguments)
    if code:
        raise FunctionFailed(code, rank.errors.text(code), "see MPI_Grequest_start")


class _Waiting:
    """Requests of a call that waits. Requests that end during the call, also with an error, are reported to
    the program.
    """

    def __init__(self, rank: Rank, at: int, count: int = 1) -> None:
        """Read `count` handles at an address; null handles count as done."""
        null = Pending(Request(rank.mpi.engine))
        self._rank, self._at = rank, at
        self._handles = rank.memory.handles(at, count)
        self._pending = [null if one == abi.REQUEST_NULL else rank.requests[one] for one in self._handles]
        self.requests = [one.request for one in self._pending]
        self.ended: list[int] = []
        """Indices of ended requests."""
        self._failure: MpiError | None = None

    async def until(self, waiting: Awaitable[T], outcome: Status | None = None) -> T | None:
        """Return the result of the layer's call, or None after an error, which `write_status` raises.

        Args:
            waiting: Call of the layer.
            outcome: Status of the call if it has one.

        Raises:
            MpiError: The call itself is invalid.
        """
        active = [number for number, one in enumerate(self.requests) if one.active]
        result: T | None = None
        try:
            result = await waiting
        except MpiError as failure:
            self._failure = failure
        self.ended = [number for number in active if not self.requests[number].active]
        for number in self.ended:
            self._over(number)
            if made := self._pending[number].generalized:
                await query(self._rank, made, self.requests[number].ended)
                if outcome is not None:
                    outcome.take(self.requests[number].ended)
                await free(self._rank, made)
        if self._failure and not self.ended:
            raise self._failure
        return result

    @property
    def failed(self) -> bool:
        """True if an ended request has an error."""
        return self._failure is not None

    def _over(self, number: int) -> None:
        """Write the data of a request and invalidate its handle."""
        one, status = self._pending[number], self.requests[number].ended
        one.write(status)
        if status.error:
            self._rank.within = self._rank.within or one.of
        if not one.persistent:
            self._rank.requests.pop(self._handles[number])
            self._rank.memory.put_ints(self._at + 4 * number, abi.REQUEST_NULL)

    def write_status(self, at: int, outcome: Status) -> None:
        """Write the status of a call that ends one request. Raises its error."""
        put_status(self._rank, at, outcome)
        self._raise()

    def write_statuses(self, at: int, outcome: Sequence[Status]) -> None:
        """Write a status for each request. Raises MPI_ERR_IN_STATUS if any has an error."""
        if at != abi.IGNORE:
            self._rank.memory.put(at, b"".join(abi.status_bytes(one, with_error=True) for one in outcome))
        self._raise()

    def _raise(self) -> None:
        if self._failure:
            raise self._failure


@call("MPI_Wait")
async def _wait(rank: Rank, request: Given, status: Address) -> None:
    waiting, outcome = _Waiting(rank, request), Status()
    await waiting.until(waiting.requests[0].Wait(outcome), outcome)
    waiting.write_status(status, outcome)


@call("MPI_Test")
async def _test(rank: Rank, request: Given, flag: Address, status: Address) -> None:
    waiting, outcome = _Waiting(rank, request), Status()
    done = await waiting.until(waiting.requests[0].Test(outcome), outcome) or waiting.failed
    rank.memory.put_ints(flag, int(done))
    if done:
        waiting.write_status(status, outcome)


@call("MPI_Waitall")
async def _waitall(rank: Rank, count: int, requests: Address, statuses: Address) -> None:
    waiting, outcome = _Waiting(rank, requests, count), list[Status]()
    await waiting.until(Request.Waitall(waiting.requests, outcome))
    waiting.write_statuses(statuses, outcome)


@call("MPI_Testall")
async def _testall(rank: Rank, count: int, requests: Address, flag: Address, statuses: Address) -> None:
    waiting, outcome = _Waiting(rank, requests, count), list[Status]()
    done = await waiting.until(Request.Testall(waiting.requests, outcome)) or waiting.failed
    rank.memory.put_ints(flag, int(done))
    if done:
        waiting.write_statuses(statuses, outcome)


@call("MPI_Waitany")
async def _waitany(rank: Rank, count: int, requests: Address, index: Address, status: Address) -> None:
    waiting, outcome = _Waiting(rank, requests, count), Status()
    await waiting.until(Request.Waitany(waiting.requests, outcome), outcome)
    rank.memory.put_ints(index, *waiting.ended or [UNDEFINED])
    waiting.write_status(status, outcome)


@call("MPI_Testany")
async def _testany(rank: Rank, count: int, requests: Address, index: Address, flag: Address, status: Address) -> None:
    waiting, outcome = _Waiting(rank, requests, count), Status()
    _, done = await waiting.until(Request.Testany(waiting.requests, outcome), outcome) or (UNDEFINED, True)
    rank.memory.put_ints(flag, int(done))
    rank.memory.put_ints(index, *waiting.ended or [UNDEFINED])
    if done:
        waiting.write_status(status, outcome)


@call("MPI_Waitsome", "MPI_Testsome")
async def _some(
    rank: Rank, count: int, requests: Address, out_count: Address, indices: Address, statuses: Address
) -> None:
    waiting, outcome = _Waiting(rank, requests, count), list[Status]()
    how = Request.Waitsome if rank.call == "MPI_Waitsome" else Request.Testsome
    done = await waiting.until(how(waiting.requests, outcome))
    if done is None and not waiting.failed:
        rank.memory.put_ints(out_count, UNDEFINED)
        return
    rank.memory.put_ints(out_count, len(waiting.ended))
    if waiting.ended:
        rank.memory.put_ints(indices, *waiting.ended)
        waiting.write_statuses(statuses, outcome)


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
    one = rank.requests[rank.memory.handles(request, 1)[0]]
    if one.generalized:
        await cancel(rank, one.generalized)
    else:
        one.request.Cancel()


@call("MPI_Request_free")
async def _request_free(rank: Rank, request: Given) -> None:
    freed = rank.requests.pop(rank.memory.handles(request, 1)[0])
    freed.request.Free(freed.write)
    rank.memory.put_ints(request, abi.REQUEST_NULL)
    if freed.generalized:
        await free(rank, freed.generalized)


@call("MPI_Request_get_status")
async def _get_status(rank: Rank, request: Handle, flag: Address, status: Address) -> None:
    one = Pending(Request(rank.mpi.engine)) if request == abi.REQUEST_NULL else rank.requests[request]
    outcome = Status()
    done = await one.request.Get_status(outcome)
    if done and one.generalized:
        await query(rank, one.generalized, outcome)
    rank.memory.put_ints(flag, int(done))
    if done:
        put_status(rank, status, outcome)
