"""Communicators derived from others.

Each has its own contexts, chosen by the first rank of the parent communicator.
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
    """Intra-communicator."""

    def Get_group(self) -> Group:
        """Return the group of its ranks (`MPI_Comm_group`)."""
        return Group(self.engine, self.ranks)

    def Compare(self, other: PointToPoint) -> int:
        """Return IDENT (same communicator), CONGRUENT (same ranks in the same order), SIMILAR or UNEQUAL."""
        if self is other:
            return IDENT
        if not isinstance(other, Comm):
            return UNEQUAL
        how = self.Get_group().Compare(other.Get_group())
        return {IDENT: CONGRUENT}.get(how, how) if how != UNEQUAL else UNEQUAL

    @call("MPI_Comm_dup")
    async def Dup(self) -> Comm:
        """Return a communicator of the same ranks with its own contexts (`MPI_Comm_dup`)."""
        return Comm(self.engine, self.ranks, await self._agree(Collective.Comm_dup), f"a copy of {self.name}")

    @call("MPI_Comm_idup")
    async def Idup(self) -> tuple[Comm, Request]:
        """Start `Dup` (`MPI_Comm_idup`). The communicator may be used when the request is complete."""
        made = Comm(self.engine, self.ranks, 0, f"a copy of {self.name}")
        steps = self._numbered()

        async def agree() -> None:
            made.context = await steps._agree(Collective.Comm_dup)

        return made, await self._scheduled(steps, agree())

    @call("MPI_Comm_split")
    async def Split(self, color: int = 0, key: int = 0) -> Comm | None:
        """Return one communicator a colour, with ranks ordered by key, then by rank here (`MPI_Comm_split`).

        Args:
            color: colour, 0 or more; UNDEFINED returns None.
            key: sort key of the new ranks.
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
        """Return a communicator of a group's ranks, or None for other ranks (`MPI_Comm_create`). All ranks call it."""
        if not set(group.ranks) <= set(self.ranks):
            raise Misuse(ErrorClass.GROUP, f"the group has ranks that {self.name} lacks", "choose among its ranks")
        context = await self._agree(Collective.Comm_create)
        if self.engine.rank not in group.ranks:
            return None
        return Comm(self.engine, group.ranks, context, f"a part of {self.name}")

    @call("MPI_Comm_create_group")
    async def Create_group(self, group: Group, tag: int = 0) -> Comm | None:
        """Return a communicator of a group's ranks, which alone call it (`MPI_Comm_create_group`). `tag` separates
        concurrent calls.
        """
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
        """Release the communicator without waiting for other ranks. Raises MpiError for MPI_COMM_WORLD."""
        if not self.context:
            raise Misuse(ErrorClass.COMM, f"{self.name} stays until MPI_Finalize", "free others")
        self.freed = True

    async def _agree(self, collective: Collective) -> int:
        """Return the contexts of a new communicator, chosen by the first rank."""
        return await self._chosen(collective, self.engine.new_context() if self.rank == 0 else 0)

    async def _chosen(self, collective: Collective, number: int) -> int:
        """Return the number given by the first rank."""
        shared = np.array([number], "<i8")
        await self._bcast(collective, view(shared, True), 0)
        return int(shared[0])
