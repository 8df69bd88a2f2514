"""Receives of a rank of a random program, in every form; each result is kept by its number."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from firmware.mpi.host import ANY_SOURCE, ANY_TAG, ErrorClass, Mpi, MpiError, Request, Status
from tb.studies.mpi._mpi_items import LATER, SIZES, WILD, Place, Step
from tb.studies.mpi._mpi_layout import Room, types_of
from tb.studies.mpi._mpi_pending import Pending
from tb.studies.mpi._mpi_reference import Got, Log

PAUSE_PS = 3_000_000


class Receives:
    """State shared by sends and receives of a rank, and its receives."""

    def __init__(self, mpi: Mpi, steps: Sequence[Step]) -> None:
        self._mpi, self._steps, self.me = mpi, steps, mpi.COMM_WORLD.Get_rank()
        self.log, self.wrong = Log(), list[str]()
        self.got: list[Got | None] = []
        """Results by receive, in the order of posting."""
        self.calls = 0
        """Number of MPI calls made by this rank for its steps."""
        self._types = types_of(mpi)
        self._comms: dict[int, Any] = {0: mpi.COMM_WORLD, 2: None, 3: None}
        self._named: list[Pending] = []
        self._wild: list[Pending] = []
        self._lasting: dict[tuple[Any, ...], tuple[Request, Room]] = {}
        """Persistent requests by their action."""
        self._due: dict[Place, int] = {}
        """Number of messages to this rank so far, by wild communicator."""
        self._came: dict[Place, int] = {}
        """Number of messages received."""
        self._control: Any = None

    def _comm(self, step: Step) -> Any:
        self.calls += 1
        return self._comms[step.place.slot]

    @staticmethod
    def _rank(place: Place, rank: int) -> int:
        """Return a rank of MPI_COMM_WORLD as a rank of its part of a communicator."""
        return place.members_of(rank).index(rank)

    async def _pause(self) -> None:
        await self._mpi.host.sleep(PAUSE_PS, "requests of a random program")

    # ---- requests and their buffers

    def _buffer(self, room: Room) -> list[Any]:
        return [room.cells, room.count, self._types[room.kind]]

    def _lasts(self, what: tuple[Any, ...], init: Any, room: Room, peer: int, tag: int) -> tuple[Request, Room]:
        """Return an inactive persistent request for an action, and its buffer."""
        while what in self._lasting:
            request, old = self._lasting[what]
            if not request.active:
                old.clear()
                return request, old
            what = (*what, "more")
        self._lasting[what] = init(self._buffer(room), peer, tag), room
        return self._lasting[what]

    async def _start(self, request: Request) -> None:
        await (Request.Startall([request]) if self.calls % 2 else request.Start())

    def _keep(self, pending: Pending) -> None:
        (self._wild if pending.place.slot in WILD else self._named).append(pending)

    def _has(self, one: Pending) -> None:
        """Process a complete request: its buffer holds the message, or may be changed."""
        if one.number is None:
            one.room.spoil()
        elif not one.status.cancelled:
            self._has_got(one.room, one.place, one.number, one.status)

    def _has_got(self, room: Room, place: Place, number: int, status: Status, cut: bool = False) -> None:
        data, clean = room.load(min(status.size, room.most))
        self.got[number] = Got(place.members_of(self.me)[status.source], status.tag, data, clean, cut)

    # ---- receives

    async def _receive(self, step: Step, how: str) -> None:
        if how == LATER:
            return
        item, comm, place = step.item, self._comm(step), step.place
        source = ANY_SOURCE if item.any_source else self._rank(place, step.source)
        tag = ANY_TAG if item.any_tag else item.tag
        if how == "object":
            await self._object(comm, place, source, tag)
        elif how in ("probe", "iprobe", "mprobe"):
            await self._probed(comm, place, how, source, tag)
        else:
            size = max(SIZES) if place.slot in WILD else len(step.data(step.source)) + 5
            room = Room.for_bytes(item.into, size) if how != "short" else Room.for_bytes("bytes", size // 2)
            await self._posted(comm, place, how, room, source, tag)

    async def _posted(self, comm: Any, place: Place, how: str, room: Room, source: int, tag: int) -> None:
        number = len(self.got)
        self.got.append(None)
        if how == "begun":
            request = await comm.Irecv(self._buffer(room), source, tag)
            self._keep(Pending(request, room, place, number))
        elif how == "persistent":
            what = ("receive", place, source, tag, room.kind, len(room.cells))
            request, room = self._lasts(what, comm.Recv_init, room, source, tag)
            await self._start(request)
            self._keep(Pending(request, room, place, number))
        else:
            status, cut = Status(), False
            try:
                await comm.Recv(self._buffer(room), source, tag, status)
            except MpiError as error:
                cut = error.error_class is ErrorClass.TRUNCATE
                if not cut:
                    raise
            self._has_got(room, place, number, status, cut)

    async def _object(self, comm: Any, place: Place, source: int, tag: int) -> None:
        status = Status()
        self.got.append(None)
        data = pickle.dumps(await comm.recv(source, tag, status))
        self.got[-1] = Got(place.members_of(self.me)[status.source], status.tag, data)

    async def _probed(self, comm: Any, place: Place, how: str, source: int, tag: int) -> None:
        """Probe a message, then receive it into a buffer of exactly its size."""
        status = Status()
        if how == "mprobe":
            taken = await comm.Mprobe(source, tag, status)
            await self._take(comm, place, taken, status)
            return
        while not await (comm.Probe if how == "probe" else comm.Iprobe)(source, tag, status):
            self._told(comm, None)
            await self._pause()
        self._told(comm, status)
        await self._posted(comm, place, "blocking", Room.for_bytes("bytes", status.size), status.source, status.tag)

    def _told(self, comm: Any, status: Status | None, what: str = "probed") -> None:
        """Record the result of a probe."""
        told = status and (comm.ranks[status.source], status.tag, status.size)
        self.log.events.append((what, comm.context, told))

    async def _take(self, comm: Any, place: Place, taken: Any, status: Status) -> None:
        self._told(comm, status, "taken")
        self.got.append(None)
        room, number = Room.for_bytes("bytes", status.size), len(self.got) - 1
        await taken.Recv(room.cells, status)
        self._has_got(room, place, number, status)
