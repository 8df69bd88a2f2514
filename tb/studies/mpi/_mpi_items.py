"""Random MPI programs as plain values: the items drawn, and the actions of each rank.

A program is a list of items in an order that all ranks keep. In a named communicator receives name their source, so the
n-th message of a pair belongs to the n-th receive, and calls may block. Waiting ranks delay each other in the order of
items, never in a cycle. In a wild communicator receives may match any source, and no call blocks. Any part of a program
is a program, so that a failing one can be shrunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

T = TypeVar("T")
NAMED, WILD = (0, 2), (1, 3)
"""Communicators by index; 0 is MPI_COMM_WORLD, 2 and 3 are split repeatedly."""
TAGS = 3
SIZES = (0, 24, 1, 300, 4095, 4096, 9000)
LONG = 40_000
"""Size in bytes of a message longer than the ends that Pipes copies twice."""
TYPES = ("bytes", "vector", "indexed", "struct")
MODES = ("", "s", "b", "r")
SENDS = ("blocking", "begun", "persistent", "object")
TAKES = ("blocking", "begun", "persistent", "probe", "iprobe", "mprobe", "short")
KINDS = ("message",) * 16 + ("collective", "collective", "exchange", "look", "look", "wait", "settle", "split", "pause")
PAUSES_US = (10, 100, 1000)
LATER = "later"
"""Item kinds whose receive is posted after the message has arrived."""
WAITS = ("Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome")
COLLECTIVES = (
    *("Barrier", "Bcast", "Gather", "Scatter", "Allgather", "Alltoall", "Gatherv", "Scatterv", "Allgatherv"),
    *("Alltoallv", "Reduce", "Allreduce", "Scan", "Exscan", "Reduce_scatter_block", "Reduce_scatter", "objects"),
)
OPERATORS = ("SUM", "MAX", "BXOR", "first", "last")
"""Operators; the last two do not commute."""
COUNTS = (0, 1, 3, 100, 700)
"""Elements of 8 bytes in a collective."""


class Chooser(Protocol):
    """Source of random choices: a seed, or hypothesis for shrinking."""

    def whole(self, low: int, high: int) -> int:
        """Draw an integer from a closed interval."""

    def one_of(self, values: Sequence[T]) -> T:
        """Draw one of several values."""

    def once_in(self, times: int) -> bool:
        """Draw True with a probability of 1/n."""


@dataclass(frozen=True)
class Item:
    """Item of a program.

    `first` and `second` are ranks, the second one in the first one's part. The meaning of `size` depends on the kind:
    bytes of a message, elements of a collective, colours of a split as bits, or us of a pause or before a probe.
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
    """Datatype of the send."""
    into: str = ""
    """Datatype of the receive."""
    name: str = ""

    @property
    def calls(self) -> int:
        """Lower bound of the MPI calls made for the item."""
        least = {"message": 2 - (self.take == LATER), "exchange": 1, "collective": 2, "split": 4}
        return least.get(self.kind, 0)


def drawn(choose: Chooser, ranks: int) -> Item:
    """Draw one item."""
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
    """Communicator at some time; after a split, `ranks` holds the ranks of MPI_COMM_WORLD by colour."""

    slot: int
    generation: int
    ranks: tuple[tuple[int, ...], ...]

    def members_of(self, rank: int) -> tuple[int, ...]:
        """Return the ordered members of a rank's part, empty if it is in none."""
        return next((part for part in self.ranks if rank in part), ())


@dataclass(frozen=True)
class Step:
    """Item with its communicator. `source`, `dest` are ranks of MPI_COMM_WORLD; `number` counts items."""

    item: Item
    number: int
    place: Place
    source: int = -1
    dest: int = -1

    def data(self, source: int) -> bytes:
        """Return bytes that identify the message."""
        size = self.item.size - self.item.size % 12 if self.item.out not in ("", "bytes") else self.item.size
        at = np.arange(size)
        return (7 * self.number + 11 * source + 3 * at + (at >> 8)).astype(np.uint8).tobytes()


def planned(items: Sequence[Item], ranks: int) -> Iterator[Step]:
    """Return the steps of all ranks in order. The first two split communicators 2 and 3."""
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
        members = place.members_of(item.first)
        if not members and item.kind in ("message", "exchange", "look"):
            continue
        if item.kind in ("message", "exchange"):
            yield Step(item, number, place, item.first, members[item.second % len(members)])
        else:
            yield Step(item, number, place, item.first)


def key_of(item: Item, rank: int) -> int:
    """Return a rank's key for `Split`, which keeps or reverses the order of ranks."""
    return -rank if item.any_source else rank


def colour_of(item: Item, rank: int, ranks: int) -> int:
    """Return a rank's colour for `Split`; below 0 it is in no part, which occurs if `second` is odd."""
    return -1 if item.second % 2 and rank == item.second % ranks else item.size >> rank & 1


def _parts(item: Item, ranks: int) -> Iterator[tuple[int, ...]]:
    for colour in (0, 1):
        chosen = [rank for rank in range(ranks) if colour_of(item, rank, ranks) == colour]
        if chosen:
            yield tuple(sorted(chosen, key=lambda rank: key_of(item, rank)))
