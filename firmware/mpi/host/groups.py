"""Groups: ordered sets of ranks."""

from __future__ import annotations

from collections.abc import Sequence

from firmware.mpi.host.datatypes import whole
from firmware.mpi.host.engine import Engine
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.status import PROC_NULL, UNDEFINED

IDENT, CONGRUENT, SIMILAR, UNEQUAL = range(4)
"""Results of comparing two groups or communicators."""


class Group:
    """Ordered set of ranks of MPI_COMM_WORLD."""

    def __init__(self, engine: Engine, ranks: Sequence[int]) -> None:
        """Create a group of ranks in MPI_COMM_WORLD."""
        self._engine, self.ranks = engine, tuple(ranks)

    def Get_size(self) -> int:
        """Return the number of ranks (`MPI_Group_size`)."""
        return len(self.ranks)

    def Get_rank(self) -> int:
        """Return the own rank in the group, or UNDEFINED (`MPI_Group_rank`)."""
        return self.ranks.index(self._engine.rank) if self._engine.rank in self.ranks else UNDEFINED

    def Incl(self, ranks: Sequence[int]) -> Group:
        """Return the group of the given ranks, in this order (`MPI_Group_incl`)."""
        return self._made("MPI_Group_incl", ranks, lambda chosen: [self.ranks[one] for one in chosen])

    def Excl(self, ranks: Sequence[int]) -> Group:
        """Return the group without the given ranks (`MPI_Group_excl`)."""
        return self._made(
            "MPI_Group_excl", ranks, lambda chosen: [one for at, one in enumerate(self.ranks) if at not in chosen]
        )

    def _made(self, call: str, ranks: Sequence[int], choose: object) -> Group:
        with self._engine.calling(call):
            chosen = [self._rank(one) for one in ranks]
            if len(set(chosen)) != len(chosen):
                raise Misuse(ErrorClass.RANK, f"duplicate rank in {list(ranks)}", "give each rank once")
            assert callable(choose)
            return Group(self._engine, choose(chosen))

    def _rank(self, rank: int) -> int:
        number = whole("rank", rank, ErrorClass.RANK)
        if number >= len(self.ranks):
            cause = f"rank is {number}, and the group has {len(self.ranks)}"
            raise Misuse(ErrorClass.RANK, cause, f"give 0..{len(self.ranks) - 1}")
        return number

    def Union(self, other: Group) -> Group:
        """Return this group followed by the other's further ranks (`MPI_Group_union`)."""
        return Group(self._engine, [*self.ranks, *(one for one in other.ranks if one not in self.ranks)])

    def Intersection(self, other: Group) -> Group:
        """Return this group's ranks that are also in the other (`MPI_Group_intersection`)."""
        return Group(self._engine, [one for one in self.ranks if one in other.ranks])

    def Difference(self, other: Group) -> Group:
        """Return this group's ranks that are not in the other (`MPI_Group_difference`)."""
        return Group(self._engine, [one for one in self.ranks if one not in other.ranks])

    def Translate_ranks(self, ranks: Sequence[int], other: Group) -> list[int]:
        """Return the ranks' numbers in the other group, UNDEFINED for those not in it (`MPI_Group_translate_ranks`)."""
        with self._engine.calling("MPI_Group_translate_ranks"):
            found = []
            for rank in ranks:
                if rank == PROC_NULL:
                    found.append(PROC_NULL)
                    continue
                one = self.ranks[self._rank(rank)]
                found.append(other.ranks.index(one) if one in other.ranks else UNDEFINED)
            return found

    def Compare(self, other: Group) -> int:
        """Return IDENT (same ranks, same order), SIMILAR (other order) or UNEQUAL (`MPI_Group_compare`)."""
        if self.ranks == other.ranks:
            return IDENT
        return SIMILAR if set(self.ranks) == set(other.ranks) else UNEQUAL
