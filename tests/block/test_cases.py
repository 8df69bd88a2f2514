"""Cases of a bench on Icarus: a minimal set with each value of each axis, and a third of the traffic."""

from __future__ import annotations

import cocotb
import pytest

from tests.block.cases import EVERY, few, some


@pytest.mark.parametrize("axes", [[[0, 1]], [[0, 1], [2, 3, 4]], [[0.0, 0.4], [0.0, 1.0], [0, 3, 512]], [[1], [2]]])
def test_each_value_is_in_one_of_as_many_cases_as_the_longest_axis_has(axes: list[list[float]]) -> None:
    rows = few(*axes)
    assert len(rows) == len(set(rows)) == max(map(len, axes))
    assert [set(column) for column in zip(*rows, strict=True)] == [set(axis) for axis in axes]


@pytest.mark.parametrize(("count", "left"), [(1, 1), (2, 1), (3, 1), (11, 3), (40, 13)])
def test_icarus_runs_the_first_third_of_the_traffic_and_verilator_all(
    count: int, left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for simulator, many in (("Icarus Verilog", left), ("Verilator", count)):
        monkeypatch.setattr(cocotb, "SIM_NAME", simulator, raising=False)
        assert some(range(count)) == range(many)


def test_icarus_runs_all_cases_if_requested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cocotb, "SIM_NAME", "Icarus Verilog", raising=False)
    monkeypatch.setenv(EVERY, "1")
    assert some(range(40)) == range(40)
