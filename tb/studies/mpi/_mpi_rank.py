"""Rank of a random MPI program: runs its part of each step and keeps the results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firmware.mpi.host import ANY_SOURCE, ANY_TAG, UNDEFINED, Request, Status
from tb.studies.mpi._mpi_collectives import Collective
from tb.studies.mpi._mpi_items import LATER, SIZES, WILD, Place, Step, colour_of, key_of
from tb.studies.mpi._mpi_layout import Room
from tb.studies.mpi._mpi_pending import Pending, wait
from tb.studies.mpi._mpi_receives import Receives
from tb.studies.mpi._mpi_reference import sends_of, tap

BUFFER = 1 << 24
"""Bytes for buffered sends."""
GO = 7
"""Tag of the message to a ready-mode sender that its receive is posted."""


class Rank(Receives):
    """Part of one rank."""

    async def run(self) -> None:
        """Run all steps."""
        world = self._mpi.COMM_WORLD
        self._control, self._comms[1] = await world.Dup(), await world.Dup()
        for slot in (0, 1):
            self._know(Place(slot, 0, (tuple(range(world.Get_size())),)))
        self._mpi.Attach_buffer(BUFFER)
        tap(self._mpi, self.log)
        await world.Barrier()  # no rank sends before all ranks record
        for step in self._steps:
            await self._do(step)
        await self._over("Waitall")
        for place in [place for place in self.log.places.values() if place.slot in WILD]:
            await self._settle(place)
        for request, _ in self._lasting.values():
            request.Free()
        await world.Barrier()
        await self._mpi.Detach_buffer()

    def _know(self, place: Place) -> None:
        self.log.places[self._comms[place.slot].context] = place

    async def _do(self, step: Step) -> None:
        item, members = step.item, step.place.members_of(self.me)
        if any(self.me in pair for pair in sends_of(step)):
            await (self._message(step) if item.kind == "message" else self._exchange(step))
        elif item.kind == "collective" and members:
            await self._collective(step, members)
        elif item.kind == "look" and step.source == self.me:
            await self._look(step)
        elif item.kind == "pause" and step.source == self.me:
            await self._mpi.host.sleep(item.size * 1_000_000, "a pause")
        elif item.kind == "wait" and step.source == self.me:
            await self._over(item.name)
        elif item.kind == "settle" and members:
            await (self._settle(step.place) if step.place.slot in WILD else self._over("Waitall"))
        elif item.kind == "split":
            await self._split(step)

    # ---- messages

    async def _message(self, step: Step) -> None:
        item, me = step.item, self.me
        if step.place.slot in WILD and step.dest == me:
            self._due[step.place] = self._due.get(step.place, 0) + 1
        if step.source == step.dest:
            await self._to_itself(step)
        elif step.source == me:
            if item.mode == "r":
                await self._control.Recv(bytearray(0), step.dest, GO)
            await self._send(step, item.send)
        elif item.mode == "r":
            await self._receive(step, "persistent" if item.take == "persistent" else "begun")
            await self._control.Send(b"", step.source, GO)
        else:
            await self._receive(step, "object" if item.send == "object" else item.take)

    async def _to_itself(self, step: Step) -> None:
        """Send a message of the rank to itself; neither side may block before both have started."""
        if step.item.send == "object":
            request = await self._comm(step).isend(step.data(self.me), self._rank(step.place, self.me), step.item.tag)
            await self._receive(step, "object")
            await request.Wait()
            return
        await self._receive(step, step.item.take if step.item.take in ("persistent", LATER) else "begun")
        await self._send(step, step.item.send)

    async def _send(self, step: Step, how: str) -> None:
        item, data, dest = step.item, step.data(self.me), self._rank(step.place, step.dest)
        comm, call = self._comm(step), f"{item.mode}send"
        if how == "object":
            await comm.send(data, dest, item.tag)
            return
        room = Room.for_bytes(item.out, len(data))
        if how == "persistent":
            what = ("send", step.place, dest, item.tag, item.mode, item.out, len(data))
            request, room = self._lasts(what, getattr(comm, f"{call.capitalize()}_init"), room, dest, item.tag)
            room.store(data)
            await self._start(request)
            self._keep(Pending(request, room, step.place))
            return
        room.store(data)
        buffer = self._buffer(room)
        if how == "blocking":
            await getattr(comm, call.capitalize())(buffer, dest, item.tag)
            room.spoil()
        else:
            self._keep(Pending(await getattr(comm, f"I{call}")(buffer, dest, item.tag), room, step.place))

    async def _exchange(self, step: Step) -> None:
        """Run a `Sendrecv` of two ranks, or of one with itself."""
        other = step.dest if self.me == step.source else step.source
        data, comm, status = step.data(self.me), self._comm(step), Status()
        room, peer, tag = Room.for_bytes("bytes", len(data)), self._rank(step.place, other), step.item.tag
        self.got.append(None)
        number = len(self.got) - 1
        await comm.Sendrecv(data, peer, tag, room.cells, peer, tag, status)
        self._has_got(room, step.place, number, status)

    async def _look(self, step: Step) -> None:
        """Probe for a message that need not be there; in a wild communicator the probe may take it."""
        await self._mpi.host.sleep(step.item.size * 1_000_000, "a look")
        comm, status = self._comm(step), Status()
        if step.place.slot not in WILD or not step.item.any_source:
            found = await comm.Iprobe(ANY_SOURCE, ANY_TAG, status)
            self._told(comm, status if found else None)
            return
        taken = await comm.Improbe(ANY_SOURCE, ANY_TAG, status)
        if taken is None:
            self._told(comm, None)
        else:
            await self._take(comm, step.place, taken, status)
            self._came[step.place] = self._came.get(step.place, 0) + 1

    # ---- the ends of requests

    async def _over(self, how: str) -> None:
        """Wait for all requests of named communicators."""
        pending, self._named = self._named, []
        self.calls += bool(pending)
        await wait(how, pending, self._pause)
        for one in pending:
            self._has(one)

    async def _settle(self, place: Place) -> None:
        """Receive all messages due in a wild communicator, cancel unmatched receives, and complete all sends."""
        comm = self._comms[place.slot]
        if comm is None or self.log.places[comm.context] != place:
            return
        while self._came.get(place, 0) < self._due.get(place, 0):
            if not await self._some_came(place):
                await self._take_unfit(comm, place)
        for one in self._of(place, receives=True):
            one.request.Cancel()
            await one.request.Wait(one.status)
            self._received(one)
        sends = self._of(place, receives=False)
        await Request.Waitall([one.request for one in sends])
        for one in sends:
            self._has(one)
        self._wild = [one for one in self._wild if one.place != place]
        await comm.Barrier()  # separates later messages of other ranks from those due here

    def _of(self, place: Place, receives: bool) -> list[Pending]:
        return [one for one in self._wild if one.place == place and (one.number is not None) == receives]

    async def _some_came(self, place: Place) -> bool:
        pending = self._of(place, receives=True)
        statuses: list[Status] = []
        indices = await Request.Testsome([one.request for one in pending], statuses) or []
        for index, status in zip(indices, statuses, strict=True):
            pending[index].status.take(status)
            self._received(pending[index])
        return bool(indices)

    def _received(self, one: Pending) -> None:
        self._wild.remove(one)
        self._has(one)
        self._came[one.place] = self._came.get(one.place, 0) + (not one.status.cancelled)

    async def _take_unfit(self, comm: Any, place: Place) -> None:
        """Start to receive a message that no receive matches, or wait."""
        status = Status()
        found = await comm.Iprobe(ANY_SOURCE, ANY_TAG, status)
        self._told(comm, status if found else None)
        if found:
            await self._posted(comm, place, "begun", Room.for_bytes("bytes", max(SIZES)), status.source, status.tag)
        else:
            await self._pause()

    # ---- all ranks of a communicator

    async def _collective(self, step: Step, members: Sequence[int]) -> None:
        one = Collective(step, members.index(self.me), len(members))
        got, due = await one.call(self._comm(step))
        if got.tolist() != due.tolist():
            who = f"rank {self.me}: {one.name} of {len(members)}"
            self.wrong.append(
                f"{who} gave {got[:8].tolist()} of {len(got)}, and {due[:8].tolist()} of {len(due)} is due"
            )

    async def _split(self, step: Step) -> None:
        """Replace a split communicator; the old one is settled and freed."""
        item, slot, world = step.item, step.place.slot, self._mpi.COMM_WORLD
        old, size = self._comms[slot], world.Get_size()
        self.calls += 1
        if old is not None:
            await (self._settle(self.log.places[old.context]) if slot in WILD else self._over("Waitall"))
            self._forget(self.log.places[old.context])
            await old.Free()
        colour = colour_of(item, self.me, size)
        self._comms[slot] = await world.Split(UNDEFINED if colour < 0 else colour, key_of(item, self.me))
        if self._comms[slot] is not None:
            self._know(step.place)

    def _forget(self, place: Place) -> None:
        for what in [what for what in self._lasting if what[1] == place]:
            self._lasting.pop(what)[0].Free()
