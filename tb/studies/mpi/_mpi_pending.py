"""Pending requests of a rank and the calls that wait for them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from firmware.mpi.host import UNDEFINED, Request, Status
from tb.studies.mpi._mpi_items import Place
from tb.studies.mpi._mpi_layout import Room


@dataclass
class Pending:
    """Pending request and its message."""

    request: Request
    room: Room
    place: Place
    number: int | None = None
    """Number among the rank's receives; None for a send."""
    status: Status = field(default_factory=Status)


Pause = Callable[[], Awaitable[None]]


async def wait(how: str, pending: list[Pending], pause: Pause) -> None:
    """Wait for all requests by one of the calls and fill in their statuses."""
    requests = [one.request for one in pending]
    if how in ("Waitall", "Testall"):
        statuses: list[Status] = []
        while not await getattr(Request, how)(requests, statuses):
            await pause()
        for one, status in zip(pending, statuses, strict=True):
            one.status.take(status)
    elif how in ("Wait", "Test"):
        for one in pending:
            while not await getattr(one.request, how)(one.status):
                await pause()
    elif how in ("Waitany", "Testany"):
        await _any(how, requests, pending, pause)
    else:
        await _some(how, requests, pending, pause)


async def _any(how: str, requests: list[Request], pending: list[Pending], pause: Pause) -> None:
    while any(one.active for one in requests):
        status = Status()
        found = await getattr(Request, how)(requests, status)
        index = found if how == "Waitany" else found[0]
        if index == UNDEFINED:
            await pause()
        else:
            pending[index].status.take(status)


async def _some(how: str, requests: list[Request], pending: list[Pending], pause: Pause) -> None:
    while any(one.active for one in requests):
        statuses: list[Status] = []
        indices = await getattr(Request, how)(requests, statuses)
        for index, status in zip(indices or [], statuses, strict=True):
            pending[index].status.take(status)
        if not indices:
            await pause()
