"""Arithmetic of datatypes, without programs.

Strategy: sizes and bounds of random types are compared with those that MPICH 4.0.2 gave (`types_of_mpich.txt`: nodes,
then size, lower bound, extent, true lower bound and true extent). Pieces and counts of elements are compared with a
list of every basic element that is expanded one by one from the tree.
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from firmware.mpi.host.errors import Misuse
from tb.program.mpi import abi, shapes
from tb.program.mpi.layout import predefined
from tb.program.mpi.shapes import DEFAULT_ARGUMENT, Distribution, Order, Shape
from tests.unit.program.random_types import Lines, parsed, random_type

ANSWERS = Path(__file__).with_name("types_of_mpich.txt")
NAMED = {layout.name.removeprefix("MPI_"): layout.shape for layout in predefined().values()}
INT, DOUBLE, CHAR = (NAMED[name] for name in ("INT", "DOUBLE", "CHAR"))


def numbers(shape: Shape) -> list[int]:
    """Return what MPI says of a type."""
    return [shape.size, shape.lower, shape.extent, shape.true_lower, shape.true_extent]


def test_sizes_and_bounds_are_those_of_mpich() -> None:
    for line in ANSWERS.read_text(encoding="utf-8").splitlines():
        nodes, answer = line.split(" . ")
        assert numbers(parsed(nodes).shapes[-1]) == [int(word) for word in answer.split()], nodes


def expanded(lines: Lines, at: int = -1) -> list[tuple[int, int]]:
    """Return offset and size of every basic element of a node, for the constructors without dimensions."""
    letter, words = str(lines.nodes[at][0]), [int(word) for word in lines.nodes[at][1:]]
    if letter == "B":
        return [tuple(field) for field in lines.shapes[at]._fields]  # type: ignore[attr-defined]
    if letter == "S":
        n = words[0]
        blocks = list(zip(words[1 : n + 1], words[n + 1 : 2 * n + 1], words[2 * n + 1 :], strict=True))
    else:
        old = words[-1]
        extent = lines.shapes[old].extent
        unit = extent if letter in "VIK" else 1
        blocks = [(length, place * unit, old) for length, place in _blocks(letter, words)]
    return [
        (place + number * lines.shapes[old].extent + offset, size)
        for length, place, old in blocks
        for number in range(length)
        for offset, size in expanded(lines, old)
    ]


def _blocks(letter: str, words: list[int]) -> list[tuple[int, int]]:
    """Return length and place of every block of a constructor."""
    n = words[0]
    if letter in "DR":
        return [(1, 0)]
    if letter == "C":
        return [(n, 0)]
    if letter in "VH":
        return [(words[1], number * words[2]) for number in range(n)]
    if letter in "KL":
        return [(words[1], place) for place in words[2:-1]]
    return list(zip(words[1 : n + 1], words[n + 1 : -1], strict=True))


def test_pieces_and_element_counts_are_those_of_the_expanded_type() -> None:
    rng = random.Random(5)
    for lines in (random_type(rng) for _ in range(300)):
        if set("AP") & {node[0] for node in lines.nodes}:
            continue
        shape, every = lines.shapes[-1], [one for one in expanded(lines) if one[1]]
        count = rng.randint(0, 3)
        offsets = [
            at + number * shape.extent + byte for number in range(count) for at, size in every for byte in range(size)
        ]
        assert [at + byte for at, size in shape.pieces_of(count).tolist() for byte in range(size)] == offsets
        ends = np.cumsum([size for _, size in every * 3]).tolist()
        for size in range(shape.size * 3 + 1):
            assert shape.elements_in(size) == sum(end <= size for end in ends), lines.text
        assert [shape.size_of(elements) for elements in range(len(ends) + 1)] == [0, *ends], lines.text


def test_parts_of_distributed_arrays_cover_each_element_once() -> None:
    rng = random.Random(3)
    for _ in range(60):
        sizes, grid = [rng.randint(1, 7) for _ in range(3)], [rng.randint(1, 3) for _ in range(3)]
        how = [rng.choice((Distribution.BLOCK, Distribution.CYCLIC)) for _ in range(3)]
        order = rng.choice((Order.C, Order.FORTRAN))
        parts = [
            shapes.darray(INT, rank, sizes, how, [DEFAULT_ARGUMENT] * 3, grid, order)
            for rank in range(int(np.prod(grid)))
        ]
        bytes_of = [at + byte for one in parts for at, size in one.pieces.tolist() for byte in range(size)]
        assert sorted(bytes_of) == list(range(4 * int(np.prod(sizes))))
        assert {one.extent for one in parts} == {4 * int(np.prod(sizes))}


def test_a_struct_of_a_double_an_int_and_a_char_is_padded_to_16_bytes() -> None:
    assert shapes.struct([1, 1, 1], [0, 8, 12], [DOUBLE, INT, CHAR]).extent == 16
    assert shapes.struct([1, 1], [2, 0], [CHAR, NAMED["SHORT"]]).extent == 4


def test_huge_types_are_not_expanded_and_the_list_of_their_pieces_is_rejected() -> None:
    huge = shapes.contiguous(shapes.struct([1, 1], [0, 8], [INT, DOUBLE]), 1 << 30)
    assert (huge.size, huge.extent, huge.elements_in(12 * 5 + 4)) == (12 << 30, 16 << 30, 11)
    assert shapes.contiguous(DOUBLE, 1 << 40).pieces.tolist() == [[0, 8 << 40]]
    with pytest.raises(Misuse, match="more than 16777216 pieces"):
        huge.pieces_of(1)


def test_a_block_too_small_for_the_array_is_rejected() -> None:
    with pytest.raises(Misuse, match="2 blocks of 3 do not hold 7 elements"):
        shapes.darray(INT, 0, [7], [Distribution.BLOCK], [3], [2], Order.C)
    with pytest.raises(Misuse, match="a block has 0 elements"):
        shapes.darray(INT, 0, [7], [Distribution.CYCLIC], [0], [2], Order.C)


def test_every_predefined_type_has_a_distinct_handle() -> None:
    handles = [one[0] for one in (*abi.DATATYPES.values(), *abi.PAIRS.values())]
    assert len({*handles, *abi.MARKERS.values()}) == len(handles) + 2
