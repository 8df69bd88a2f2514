"""Random programs of MPI as plain values: what is drawn, and what each rank then has to do.

A program is a list of items in an order that all ranks keep. Communicators are of two sorts. In a named one receives
name their source, so the n-th message of a pair is that of the n-th receive, and calls may block: ranks that wait hold
each other up in the order of items, never in a circle. In a wild one receives may take from any source, and any may get
any message; there nothing blocks. Any part of a program is a program, so that one which fails can be made smaller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

T = TypeVar("T")
NAMED, WILD = (0, 2), (1, 3)
"""Communicators by their places; 0 is MPI_COMM_WORLD, 2 and 3 are split anew now and then."""
TAGS = 3
SIZES = (0, 24, 1, 300, 4095, 4096, 9000)
LONG = 40_000
"""Bytes of a message beyond the ends that Pipes copies twice."""
TYPES = ("bytes", "vector", "indexed", "struct")
MODES = ("", "s", "b", "r")
SENDS = ("blocking", "begun", "persistent", "object")
TAKES = ("blocking", "begun", "persistent", "probe", "iprobe", "mprobe", "short")
KINDS = ("message",) * 16 + ("collective", "collective", "exchange", "look", "look", "wait", "settle", "split", "pause")
PAUSES_US = (10, 100, 1000)
LATER = "later"
"""The receive is not posted before the message has come."""
WAITS = ("Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome")
COLLECTIVES = (
    *("Barrier", "Bcast", "Gather", "Scatter", "Allgather", "Alltoall", "Gatherv", "Scatterv", "Allgatherv"),
    *("Alltoallv", "Reduce", "Allreduce", "Scan", "Exscan", "Reduce_scatter_block", "Reduce_scatter", "objects"),
)
OPERATORS = ("SUM", "MAX", "BXOR", "first", "last")
"""The last two do not commute."""
COUNTS = (0, 1, 3, 100, 700)
"""Elements of 8 bytes of a collective."""


class Chooser(Protocol):
    """Where random choices come from: a seed, or hypothesis when it makes a program smaller."""

    def whole(self, low: int, high: int) -> int:
        """A whole number, both ends included."""

    def one_of(self, values: Sequence[T]) -> T:
        """One of several values."""

    def once_in(self, times: int) -> bool:
        """True once in so many times."""


@dataclass(frozen=True)
class Item:
    """One thing that happens. `first` and `second` are ranks, the second one counted in the first one's part. `size` is
    bytes of a message, elements of a collective, colours by bit of a split, us of a pause or before a look.
    """

    kind: str
    comm: int = 0
    first: int = 0
    second: int = 0
    tag: int = 0
    size: int = 0
    mode: str = ""
    send: str = ""
    take: str = ""
    any_source: int = 0
    any_tag: int = 0
    out: str = ""
    """Datatype that is sent."""
    into: str = ""
    """Datatype that is received."""
    name: str = ""

    @property
    def calls(self) -> int:
        """Calls of MPI that are made for it, at least."""
        least = {"message": 2 - (self.take == LATER), "exchange": 1, "collective": 2, "split": 4}
        return least.get(self.kind, 0)


def drawn(choose: Chooser, ranks: int) -> Item:
    """One item."""
    kind = choose.one_of(KINDS)
    comm, first, second = choose.whole(0, 3), choose.whole(0, ranks - 1), choose.whole(0, ranks - 1)
    if kind == "message":
        return _message(choose, comm, first, second)
    if kind == "exchange":
        sizes = choose.one_of(SIZES)
        return Item(kind, choose.one_of(NAMED), first, second, choose.whole(0, TAGS - 1), sizes)
    if kind == "collective":
        name, count = choose.one_of(COLLECTIVES), choose.one_of(COUNTS)
        return Item(kind, comm, first, second, size=count, name=name, mode=choose.one_of(OPERATORS))
    if kind == "split":
        colours = choose.whole(0, (1 << ranks) - 1)
        return Item(kind, choose.one_of((2, 3)), second=second, size=colours, any_source=choose.whole(0, 1))
    if kind == "pause":
        return Item(kind, 0, first, size=choose.one_of(PAUSES_US))
    return Item(
        kind, comm, first, size=choose.one_of((0, 30)), any_source=choose.whole(0, 1), name=choose.one_of(WAITS)
    )


def _message(choose: Chooser, comm: int, first: int, second: int) -> Item:
    wild = comm in WILD
    mode, send = choose.one_of(MODES[:3] if wild else MODES), choose.one_of(SENDS[1:3] if wild else SENDS)
    take = choose.one_of((*TAKES[1:3], LATER) if wild else TAKES)
    size = LONG if choose.once_in(40) and not wild else choose.one_of(SIZES)
    tag, any_source, any_tag = choose.whole(0, TAGS - 1), int(wild and not choose.once_in(3)), int(choose.once_in(2))
    out, into = choose.one_of(TYPES), choose.one_of(TYPES)
    mode = "" if send == "object" else mode
    return Item("message", comm, first, second, tag, size, mode, send, take, any_source, any_tag, out, into)


# ---- what an item means for the ranks


@dataclass(frozen=True)
class Place:
    """A communicator at some time; of those that were split, `ranks` has the ranks of MPI_COMM_WORLD by colour."""

    slot: int
    generation: int
    ranks: tuple[tuple[int, ...], ...]

    def of(self, rank: int) -> tuple[int, ...]:
        """The members of a rank's part in their order; none: it is in no part."""
        return next((part for part in self.ranks if rank in part), ())


@dataclass(frozen=True)
class Step:
    """An item at its place. `source`, `dest` are ranks of MPI_COMM_WORLD; `number` counts items."""

    item: Item
    number: int
    place: Place
    source: int = -1
    dest: int = -1

    def data(self, source: int) -> bytes:
        """Bytes that tell whose message it is."""
        size = self.item.size - self.item.size % 12 if self.item.out not in ("", "bytes") else self.item.size
        at = np.arange(size)
        return (7 * self.number + 11 * source + 3 * at + (at >> 8)).astype(np.uint8).tobytes()


def planned(items: Sequence[Item], ranks: int) -> Iterator[Step]:
    """The steps of all ranks, in the order that each keeps. The first two split communicators 2 and 3."""
    everybody = (tuple(range(ranks)),)
    places = [Place(slot, 0, everybody) for slot in range(4)]
    begin = (Item("split", 2, second=1, size=0b0101, any_source=1), Item("split", 3, size=0b0111))
    for number, item in enumerate((*begin, *items)):
        if item.kind == "split":
            before = places[item.comm]
            places[item.comm] = Place(item.comm, before.generation + 1, tuple(_parts(item, ranks)))
            yield Step(item, number, places[item.comm])
            continue
        place = places[item.comm]
        members = place.of(item.first)
        if not members and item.kind in ("message", "exchange", "look"):
            continue
        if item.kind in ("message", "exchange"):
            yield Step(item, number, place, item.first, members[item.second % len(members)])
        else:
            yield Step(item, number, place, item.first)


def key_of(item: Item, rank: int) -> int:
    """What a rank gives `Split` as key: ranks stand in their order, or in the opposite one."""
    return -rank if item.any_source else rank


def colour_of(item: Item, rank: int, ranks: int) -> int:
    """What it gives as colour; below 0: it is in no part, which happens where `second` is odd."""
    return -1 if item.second % 2 and rank == item.second % ranks else item.size >> rank & 1


def _parts(item: Item, ranks: int) -> Iterator[tuple[int, ...]]:
    for colour in (0, 1):
        chosen = [rank for rank in range(ranks) if colour_of(item, rank, ranks) == colour]
        if chosen:
            yield tuple(sorted(chosen, key=lambda rank: key_of(item, rank)))
