"""Communicators made of others.

Each has contexts that no other one has, chosen by the first rank of the communicator that it is made of.
"""

from __future__ import annotations

import numpy as np

from firmware.mpi.host.buffers import view
from firmware.mpi.host.calls import call
from firmware.mpi.host.comm import PointToPoint
from firmware.mpi.host.datatypes import whole
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.groups import CONGRUENT, IDENT, UNEQUAL, Group
from firmware.mpi.host.nonblocking import NonBlocking
from firmware.mpi.host.objects import Objects
from firmware.mpi.host.parts import equal_parts
from firmware.mpi.host.requests import Request
from firmware.mpi.host.status import UNDEFINED
from firmware.mpi.host.steps import Collective, Lane


class Comm(NonBlocking, Objects):
    """A communicator."""

    def Get_group(self) -> Group:
        """Its ranks."""
        return Group(self.engine, self.ranks)

    def Compare(self, other: PointToPoint) -> int:
        """IDENT: the same one; CONGRUENT: the same ranks in the same order; SIMILAR; UNEQUAL."""
        if self is other:
            return IDENT
        if not isinstance(other, Comm):
            return UNEQUAL
        how = self.Get_group().Compare(other.Get_group())
        return {IDENT: CONGRUENT}.get(how, how) if how != UNEQUAL else UNEQUAL

    @call("MPI_Comm_dup")
    async def Dup(self) -> Comm:
        """The same ranks with contexts of their own."""
        return Comm(self.engine, self.ranks, await self._agree(Collective.Comm_dup), f"a copy of {self.name}")

    @call("MPI_Comm_idup")
    async def Idup(self) -> tuple[Comm, Request]:
        """Begin `Dup`. The communicator may be used when the request has ended."""
        made = Comm(self.engine, self.ranks, 0, f"a copy of {self.name}")
        steps = self._numbered()

        async def agree() -> None:
            made.context = await steps._agree(Collective.Comm_dup)

        return made, await self._scheduled(steps, agree())

    @call("MPI_Comm_split")
    async def Split(self, color: int = 0, key: int = 0) -> Comm | None:
        """One communicator a colour, its ranks in the order of their keys, then of their ranks here; None for the
        colour UNDEFINED.
        """
        color = whole("color", color, ErrorClass.ARG, UNDEFINED)
        if UNDEFINED < color < 0:
            raise Misuse(ErrorClass.ARG, f"color is {color}", "give 0 or more, or UNDEFINED")
        table = np.zeros((self.size, 2), "<i8")
        own = np.array([color, whole("key", key, ErrorClass.ARG, -(1 << 62))], "<i8")
        await self._allgather(Collective.Comm_split, own, equal_parts(table, self.size, True))
        context = await self._agree(Collective.Comm_split)
        chosen = sorted((int(table[rank, 1]), rank) for rank in range(self.size) if table[rank, 0] == color)
        if color == UNDEFINED:
            return None
        return Comm(self.engine, [self.ranks[rank] for _, rank in chosen], context, f"colour {color} of {self.name}")

    @call("MPI_Comm_create")
    async def Create(self, group: Group) -> Comm | None:
        """The ranks of a group, all of this communicator; None for those that are not in it."""
        if not set(group.ranks) <= set(self.ranks):
            raise Misuse(ErrorClass.GROUP, f"the group has ranks that {self.name} lacks", "choose among its ranks")
        context = await self._agree(Collective.Comm_create)
        if self.engine.rank not in group.ranks:
            return None
        return Comm(self.engine, group.ranks, context, f"a part of {self.name}")

    @call("MPI_Comm_create_group")
    async def Create_group(self, group: Group, tag: int = 0) -> Comm | None:
        """The ranks of a group; they alone call it. `tag` tells calls of several threads apart."""
        if not set(group.ranks) <= set(self.ranks):
            raise Misuse(ErrorClass.GROUP, f"the group has ranks that {self.name} lacks", "choose among its ranks")
        if self.engine.rank not in group.ranks:
            return None
        made = Comm(self.engine, group.ranks, self.context, f"a part of {self.name}")
        made.lane = Lane.of_creation(tag)
        made.context, made.lane = await made._agree(Collective.Comm_create_group), None
        return made

    @call("MPI_Comm_free")
    async def Free(self) -> None:
        """Give the communicator up, without waiting for other ranks. Raises MpiError for MPI_COMM_WORLD."""
        if not self.context:
            raise Misuse(ErrorClass.COMM, f"{self.name} stays until MPI_Finalize", "free others")
        self.freed = True

    async def _agree(self, collective: Collective) -> int:
        """Return the contexts of a new communicator, chosen by the first rank."""
        return await self._chosen(collective, self.engine.new_context() if self.rank == 0 else 0)

    async def _chosen(self, collective: Collective, number: int) -> int:
        """Return the number that the first rank gives."""
        told = np.array([number], "<i8")
        await self._bcast(collective, view(told, True), 0)
        return int(told[0])
