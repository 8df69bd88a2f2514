"""Random datatypes of MPI, as text that a program in C builds them from, and as shapes.

A type is a line of nodes: a letter for the constructor, its arguments in MPI's order, and the numbers of earlier nodes
for datatypes. The last node is the type. `tests/tools/random_types.c` reads such lines.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from tb.program.mpi import abi, shapes
from tb.program.mpi.layout import predefined
from tb.program.mpi.shapes import DEFAULT_ARGUMENT, Distribution, Order, Shape

NAMED = {handle: layout.shape for handle, layout in predefined().items() if layout.shape.size}
COMMON = [abi.DATATYPES[name][0] for name in ("CHAR", "SHORT", "INT", "DOUBLE", "LONG_DOUBLE", "C_DOUBLE_COMPLEX")]
RARE = [*NAMED]
PAIRS = {handle for handle, _, _ in abi.PAIRS.values()}
"""MPICH keeps the halves of a pair together, if only one of them has come."""
PADDED = {handle for handle, layout in predefined().items() if layout.base.char in "gG"} | {
    abi.PAIRS["LONG_DOUBLE_INT"][0]
}
"""MPICH copies long doubles by their values, without the bytes between them."""
MOST_BYTES, FARTHEST = 512, 3000
"""Bytes of data of a type, and distance of its data and bounds from its address."""


@dataclass
class Lines:
    """Nodes of one type."""

    nodes: list[list[int | str]] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The nodes as the program reads them."""
        return " ".join(str(word) for node in self.nodes for word in node)

    def add(self, *node: int | str) -> None:
        """Add a node."""
        self.shapes.append(BUILD[str(node[0])]([int(word) for word in node[1:]], self.shapes))
        self.nodes.append([*node])


def parsed(text: str) -> Lines:
    """Return the type of a line of nodes."""
    lines, node = Lines(), list[int | str]()
    for word in text.split():
        if word.isalpha():
            if node:
                lines.add(*node)
            node = [word]
        else:
            node.append(int(word))
    lines.add(*node)
    return lines


Made = Sequence[Shape]
"""Shapes of earlier nodes."""


def _struct(words: list[int], made: Made) -> Shape:
    n = words[0]
    return shapes.struct(words[1 : n + 1], words[n + 1 : 2 * n + 1], [made[word] for word in words[2 * n + 1 :]])


def _subarray(words: list[int], made: Made) -> Shape:
    sizes, parts, starts = (words[1 + at * words[0] :][: words[0]] for at in range(3))
    return shapes.subarray(made[words[-1]], sizes, parts, starts, Order(words[-2]))


def _darray(words: list[int], made: Made) -> Shape:
    sizes, how, arguments, grid = (words[3 + at * words[2] :][: words[2]] for at in range(4))
    distributions = [Distribution(one) for one in how]
    return shapes.darray(made[words[-1]], words[1], sizes, distributions, arguments, grid, Order(words[-2]))


def _scaled(places: Sequence[int], kind: Shape) -> list[int]:
    return [place * kind.extent for place in places]


BUILD: dict[str, Callable[[list[int], Made], Shape]] = {
    "B": lambda words, _: NAMED[words[0]],
    "C": lambda words, made: shapes.contiguous(made[words[1]], words[0]),
    "V": lambda words, made: shapes.hvector(made[words[3]], words[0], words[1], words[2] * made[words[3]].extent),
    "H": lambda words, made: shapes.hvector(made[words[3]], words[0], words[1], words[2]),
    "I": lambda words, made: shapes.hindexed(
        made[words[-1]], words[1 : words[0] + 1], _scaled(words[words[0] + 1 : -1], made[words[-1]])
    ),
    "J": lambda words, made: shapes.hindexed(made[words[-1]], words[1 : words[0] + 1], words[words[0] + 1 : -1]),
    "K": lambda words, made: shapes.hindexed_block(made[words[-1]], words[1], _scaled(words[2:-1], made[words[-1]])),
    "L": lambda words, made: shapes.hindexed_block(made[words[-1]], words[1], words[2:-1]),
    "S": _struct,
    "R": lambda words, made: shapes.resized(made[words[2]], words[0], words[1]),
    "D": lambda words, made: made[words[0]],
    "A": _subarray,
    "P": _darray,
}
"""Shape of a node by its letter, from its words and the shapes of earlier nodes."""


class _Draw:
    """Random constructor calls on the nodes of one type."""

    def __init__(self, rng: random.Random, made: Made) -> None:
        self.rng, self.made = rng, made
        self.few = rng.choice((0, 1, 1, 2, 2, 3, 4))
        self.old = self.any_old()
        self.extent = made[self.old].extent

    def any_old(self) -> int:
        """Return a node, mostly the last one."""
        return len(self.made) - 1 if self.rng.random() < 0.6 else self.rng.randrange(len(self.made))

    def lengths(self, number: int) -> list[int]:
        """Return lengths of blocks."""
        return [self.rng.choice((0, 1, 1, 2, 2, 3, 4)) for _ in range(number)]

    def places(self, number: int, bytes_: bool) -> list[int]:
        """Return displacements of blocks in elements or bytes, some of them odd."""
        unit = self.rng.choice((self.extent, 1, 4, 8)) if bytes_ else 1
        return [
            self.rng.randint(-2, 8) * unit + (self.rng.randint(-3, 3) if self.rng.random() < 0.1 else 0)
            for _ in range(number)
        ]

    def strided(self, kind: str) -> list[int]:
        """Return arguments of a vector."""
        return [self.few, *self.lengths(1), *self.places(1, kind == "H"), self.old]

    def indexed(self, kind: str) -> list[int]:
        """Return arguments of an indexed type."""
        lengths = self.lengths(self.few if kind in "IJ" else 1)
        return [self.few, *lengths, *self.places(self.few, kind in "JL"), self.old]

    def struct(self, _: str) -> list[int]:
        """Return arguments of a struct, most of them as a compiler lays it out."""
        olds, starts, at = [self.any_old() for _ in range(self.few)], list[int](), 0
        for kind in (self.made[one] for one in olds):
            place = -(-at // kind.alignment) * kind.alignment
            starts.append(place if self.rng.random() < 0.8 else self.rng.randint(-20, 200))
            at = starts[-1] + max(kind.extent, 0)
        return [self.few, *(self.rng.choice((0, 1, 1, 1, 2, 3)) for _ in olds), *starts, *olds]

    def resized(self, _: str) -> list[int]:
        """Return arguments of a resized type."""
        lower = self.rng.choice((0, 0, self.made[self.old].lower, self.rng.randint(-40, 40)))
        return [lower, self.rng.randint(-20, 100), self.old]

    def _array(self) -> tuple[int, list[int], int]:
        dims, order = self.rng.randint(1, 3), self.rng.choice((Order.C, Order.FORTRAN)).value
        return dims, [self.rng.randint(1, 6) for _ in range(dims)], order

    def subarray(self, _: str) -> list[int]:
        """Return arguments of a part of an array."""
        dims, sizes, order = self._array()
        parts = [self.rng.randint(1, size) for size in sizes]
        starts = [self.rng.randint(0, size - part) for size, part in zip(sizes, parts, strict=True)]
        return [dims, *sizes, *parts, *starts, order, self.old]

    def darray(self, _: str) -> list[int]:
        """Return arguments of a part of a distributed array."""
        dims, sizes, order = self._array()
        how = [self.rng.choice(list(Distribution)) for _ in range(dims)]
        grid = [1 if one is Distribution.NONE else self.rng.randint(1, 3) for one in how]
        arguments = []
        for one, size, processes in zip(how, sizes, grid, strict=True):
            least = 1 if one is Distribution.CYCLIC else -(-size // processes)
            default = one is Distribution.NONE or self.rng.random() < 0.4
            arguments.append(DEFAULT_ARGUMENT if default else self.rng.randint(least, least + 2))
        ranks = math.prod(grid)
        head = [ranks, self.rng.randrange(ranks), dims]
        return [*head, *sizes, *(one.value for one in how), *arguments, *grid, order, self.old]


DRAW: dict[str, Callable[[_Draw, str], list[int]]] = {
    "C": lambda draw, _: [draw.few, draw.old],
    **dict.fromkeys("VH", _Draw.strided),
    **dict.fromkeys("IJKL", _Draw.indexed),
    "S": _Draw.struct,
    "R": _Draw.resized,
    "D": lambda draw, _: [draw.old],
    "A": _Draw.subarray,
    "P": _Draw.darray,
}
"""Arguments of a random constructor by its letter."""


def _fits(shape: Shape) -> bool:
    reach = max(map(abs, (shape.lower, shape.upper, shape.true_lower, shape.true_upper)))
    return shape.size <= MOST_BYTES and reach <= FARTHEST


def random_type(rng: random.Random) -> Lines:
    """Return a type of some nodes. A node of empty blocks is the last one: MPICH crashes on types made of such."""
    lines = Lines()
    for _ in range(rng.randint(1, 4)):
        lines.add("B", rng.choice(COMMON if rng.random() < 0.7 else RARE))
    for _ in range(rng.randint(1, 5)):
        kind = rng.choice("CVHIJKLSSSSRRDAP")
        words = DRAW[kind](_Draw(rng, lines.shapes), kind)
        made = BUILD[kind](words, lines.shapes)
        if _fits(made):
            lines.add(kind, *words)
        if kind in "VHKL" and not made.size:
            break
    return lines


def overlaps(shape: Shape, count: int) -> bool:
    """Return whether two of the pieces of so many elements share a byte."""
    pieces = shape.pieces_of(count)
    pieces = pieces[np.argsort(pieces[:, 0])]
    return bool((pieces[1:, 0] < pieces[:-1].sum(axis=1)).any())


def random_cases(seed: int, number: int) -> Iterator[tuple[Lines, str]]:
    """Yield types, each with the line that lets the program build it and say what it is."""
    rng = random.Random(seed)
    for _ in range(number):
        lines = random_type(rng)
        shape, count = lines.shapes[-1], rng.choice((0, 1, 1, 2, 3))
        sizes = [rng.randint(0, 3 * shape.size) for _ in range(3)] + [shape.size * rng.randint(0, 4)]
        if "S" not in lines.text:  # MPICH counts the elements of these singly
            sizes.append(shape.size * rng.randint(1 << 28, 1 << 32))
        full = all(one.size for one in lines.shapes)
        known = int(full and len(leaves(lines)) == 1 and not leaves(lines) & PAIRS and "P" not in lines.text)
        if shape.size * count and leaves(lines) & PADDED:
            count = 0
        part = 0 if leaves(lines) & PAIRS else shape.size_of(shape.elements * count // 3)
        numbers = [count, int(overlaps(shape, count)), part, known, len(sizes), *sizes]
        yield lines, f"{lines.text} . {' '.join(map(str, numbers))}"


def leaves(lines: Lines, at: int = -1) -> set[int]:
    """Return the handles of the predefined types in a node."""
    node = lines.nodes[at]
    if node[0] == "B":
        return {int(node[1])}
    olds = node[-1:] if node[0] != "S" else node[2 + 2 * int(node[1]) :]
    return set().union(*(leaves(lines, int(old)) for old in olds))
