"""The cases of a bench on Icarus: fewer than there are combinations, and yet each value of each axis."""

from __future__ import annotations

import pytest

from tests.block.cases import few


@pytest.mark.parametrize("axes", [[[0, 1]], [[0, 1], [2, 3, 4]], [[0.0, 0.4], [0.0, 1.0], [0, 3, 512]], [[1], [2]]])
def test_each_value_is_in_one_of_as_many_cases_as_the_longest_axis_has(axes: list[list[float]]) -> None:
    rows = few(*axes)
    assert len(rows) == len(set(rows)) == max(map(len, axes))
    assert [set(column) for column in zip(*rows, strict=True)] == [set(axis) for axis in axes]
