"""Requests: operations to be waited for, and persistent operations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from firmware.mpi.host.engine import Engine
from firmware.mpi.host.errors import ErrorClass, Misuse, MpiError
from firmware.mpi.host.operation import Operation
from firmware.mpi.host.status import UNDEFINED, Status

Begin = Callable[[], Awaitable[Operation]]


class Request:
    """Operation in progress.

    It becomes null when it is waited for, tested as complete, or freed. A persistent request becomes inactive instead,
    and `Start` starts it again.
    """

    def __init__(self, engine: Engine, operation: Operation | None = None, begin: Begin | None = None) -> None:
        """Create a request; `begin` makes it persistent."""
        self._engine, self._operation, self._begin = engine, operation, begin
        self.ended = Status()
        """Status of the operation that was last waited for or tested as complete."""
        if operation:
            engine.open.append(operation)

    @property
    def active(self) -> bool:
        """True if the request has an operation."""
        return self._operation is not None

    async def Wait(self, status: Status | None = None) -> bool:
        """Wait for the operation (`MPI_Wait`). Returns at once for a null or inactive request."""
        with self._engine.calling("MPI_Wait"):
            await _until(self._engine, [self], all)
            self._collect(status)
        return True

    async def Test(self, status: Status | None = None) -> bool:
        """Return True if the operation is complete, as `Wait` then (`MPI_Test`)."""
        with self._engine.calling("MPI_Test"):
            done = await _tested(self._engine, [self], all)
            if done:
                self._collect(status)
        return done

    async def Get_status(self, status: Status | None = None) -> bool:
        """Return True if the operation is complete, without changing the request (`MPI_Request_get_status`)."""
        with self._engine.calling("MPI_Request_get_status"):
            done = await _tested(self._engine, [self], all)
            if done and status is not None:
                status.take(self._operation.status if self._operation else Status())
        return done

    def Cancel(self) -> None:
        """Cancel a receive without a message, or a send that waits for its receive (`MPI_Cancel`).

        Other operations complete, as the standard allows. The request must still be waited for or freed;
        `Status.Is_cancelled` reports the outcome.
        """
        with self._engine.calling("MPI_Cancel"):
            if self._operation is None:
                raise Misuse(ErrorClass.REQUEST, "the request is null or inactive", "cancel an active one")
            self._engine.cancel(self._operation)

    def Free(self, at_end: Callable[[Status], None] | None = None) -> None:
        """Release the request (`MPI_Request_free`). Its operation completes and then calls `at_end`."""
        with self._engine.calling("MPI_Request_free"):
            if self._operation is None and self._begin is None:
                raise Misuse(ErrorClass.REQUEST, "the request is null", "free it once")
            if self._operation:
                self._engine.open.remove(self._operation)
                self._operation.at_end = at_end
                if at_end and self._operation.done:
                    at_end(self._operation.status)
            self._operation = self._begin = None

    async def Start(self) -> None:
        """Start a persistent operation (`MPI_Start`)."""
        with self._engine.calling("MPI_Start"):
            await self._start()

    async def _start(self) -> None:
        if self._begin is None or self._operation is not None:
            what = "is not persistent" if self._begin is None else "is active"
            raise Misuse(ErrorClass.REQUEST, f"the request {what}", "start an inactive one of Send_init or Recv_init")
        self._operation = await self._begin()
        self._engine.open.append(self._operation)

    @property
    def done(self) -> bool:
        """True if waiting would return at once."""
        return self._operation is None or self._operation.done

    def _collect(self, status: Status | None) -> None:
        """Fill in the status. Raises Misuse for a failed operation."""
        error = self._end()
        if status is not None:
            status.take(self.ended)
        if error:
            raise error

    def _end(self) -> Misuse | None:
        """Make the request null or inactive and return the operation's error, if any."""
        operation, self._operation = self._operation, None
        self.ended = operation.status if operation else Status()
        if operation:
            self._engine.open.remove(operation)
        return operation.error if operation else None

    # ---- several at once

    @staticmethod
    async def Waitall(requests: Sequence[Request], statuses: list[Status] | None = None) -> bool:
        """Wait for all requests (`MPI_Waitall`). Raises MPI_ERR_IN_STATUS if some failed; each status has its error
        class.
        """
        return await _all(requests, "MPI_Waitall", statuses)

    @staticmethod
    async def Testall(requests: Sequence[Request], statuses: list[Status] | None = None) -> bool:
        """Return True if all are complete, as `Waitall` then (`MPI_Testall`)."""
        return await _all(requests, "MPI_Testall", statuses)

    @staticmethod
    async def Waitany(requests: Sequence[Request], status: Status | None = None) -> int:
        """Wait for one request and return its index, or UNDEFINED if none is active (`MPI_Waitany`)."""
        return await _any(requests, "MPI_Waitany", status)

    @staticmethod
    async def Testany(requests: Sequence[Request], status: Status | None = None) -> tuple[int, bool]:
        """Return the index as `Waitany`, and True if one is complete or none is active (`MPI_Testany`)."""
        index = await _any(requests, "MPI_Testany", status)
        return index, index != UNDEFINED or not any(one.active for one in requests)

    @staticmethod
    async def Waitsome(requests: Sequence[Request], statuses: list[Status] | None = None) -> list[int] | None:
        """Wait for one request and return the indices of all complete ones; None if none was active."""
        return await _some(requests, "MPI_Waitsome", statuses)

    @staticmethod
    async def Testsome(requests: Sequence[Request], statuses: list[Status] | None = None) -> list[int] | None:
        """Return the indices of all complete requests; None if none was active (`MPI_Testsome`)."""
        return await _some(requests, "MPI_Testsome", statuses)

    @staticmethod
    async def Startall(requests: Sequence[Request]) -> None:
        """Start persistent operations in order (`MPI_Startall`)."""
        if _checked("MPI_Startall", requests):
            with requests[0]._engine.calling("MPI_Startall"):
                for one in requests:
                    await one._start()


Quantifier = Callable[[Any], bool]


def _checked(call: str, given: Sequence[Any]) -> Sequence[Request]:
    """Return the requests. Raises MpiError if some are not requests, TypeError if none is (no rank is known then)."""
    requests = [one for one in given if isinstance(one, Request)]
    for one in given:
        if not isinstance(one, Request):
            if not requests:
                raise TypeError(f"{call}: {one!r} is not a request")
            remedy = "give what Isend, Irecv and others have given"
            raise MpiError(requests[0]._engine.rank, call, ErrorClass.REQUEST, f"{one!r} is not a request", remedy)
    return requests


async def _until(engine: Engine, requests: Sequence[Request], which: Quantifier) -> None:
    await engine.host.spend("mpi_test", len(requests))
    wanted = [one._operation for one in requests if one._operation]
    await engine.until(lambda: which(one.done for one in requests), wanted)


async def _tested(engine: Engine, requests: Sequence[Request], which: Quantifier) -> bool:
    await engine.host.spend("mpi_test", len(requests))
    await engine.poll()
    return which(one.done for one in requests)


async def _all(requests: Sequence[Request], call: str, statuses: list[Status] | None) -> bool:
    if not _checked(call, requests):
        return True
    engine = requests[0]._engine
    with engine.calling(call):
        if call == "MPI_Waitall":
            await _until(engine, requests, all)
        elif not await _tested(engine, requests, all):
            return False
        _collect_all(requests, statuses)
    return True


async def _any(requests: Sequence[Request], call: str, status: Status | None) -> int:
    active = [one for one in _checked(call, requests) if one.active]
    if not active:
        return UNDEFINED
    with active[0]._engine.calling(call):
        if call == "MPI_Waitany":
            await _until(active[0]._engine, active, any)
        elif not await _tested(active[0]._engine, active, any):
            return UNDEFINED
        index = next(at for at, one in enumerate(requests) if one.active and one.done)
        requests[index]._collect(status)
    return index


async def _some(requests: Sequence[Request], call: str, statuses: list[Status] | None) -> list[int] | None:
    active = [one for one in _checked(call, requests) if one.active]
    if not active:
        return None
    with active[0]._engine.calling(call):
        if call == "MPI_Waitsome":
            await _until(active[0]._engine, active, any)
        else:
            await _tested(active[0]._engine, active, any)
        done = [at for at, one in enumerate(requests) if one.active and one.done]
        _collect_all([requests[at] for at in done], statuses)
    return done


def _collect_all(requests: Sequence[Request], statuses: list[Status] | None) -> None:
    """Collect the results of all. Raises Misuse if some failed; their classes are in the statuses."""
    failed = [error for one in requests if (error := one._end())]
    if statuses is not None:
        statuses[:] = [one.ended for one in requests]
    if failed:
        first = failed[0]
        cause = (
            f"{len(failed)} of {len(requests)} failed, the first with MPI_ERR_{first.error_class.name}: {first.cause}"
        )
        raise Misuse(ErrorClass.IN_STATUS, cause, first.remedy)
