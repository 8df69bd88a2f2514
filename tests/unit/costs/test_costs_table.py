"""The table of counted paths and the clocks that follow from it.

Strategy: a table is written into a temporary folder and read back. For every mistake of a user the whole message is
compared. Clocks are checked by sums calculated by hand and by properties: monotonic in each count, linear in `times`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodels.costs import (
    CostError,
    PathCost,
    PathTable,
)
from pymodels.costs.targets import POWERPC
from pymodels.errors import ConfigError
from pymodels.hardware.processors import Charge, HostProcessor, NicProcessor, host_clocks, nic_charge
from pymodels.nics.sp.kind import bus_access
from pymodels.profiles import load_profile, profile_names

TABLE = """
[compiled]
origin = "compiled"
compiler = "some clang"

[path]
scan_channel = { instructions = 7, loads = 1, stores = 0, uncached = 0 }
start_send   = { instructions = 13, loads = 0, stores = 2, uncached = 3 }
"""
LANAI9 = NicProcessor(load=1, store=0, uncached=1, instructions_per_fetch=2)
counts = st.integers(0, 1000)
costs = st.builds(PathCost, counts, counts, counts, counts, st.tuples(counts, counts, counts))
clocks = st.integers(0, 3)
processors = st.builds(NicProcessor, clocks, clocks, clocks, st.integers(0, 4))


def write(firmware: Path, text: str) -> None:
    folder = firmware / "echo" / "nic"
    folder.mkdir(parents=True)
    (folder / "costs.toml").write_text(text, encoding="utf-8")


def test_a_cost_is_found_by_the_name_of_its_path(tmp_path: Path) -> None:
    write(tmp_path, TABLE)
    table = PathTable.load("nic", "echo", tmp_path)
    assert table.cost("start_send") == PathCost(13, 0, 2, 3)
    assert table.compiled["origin"] == "compiled"


def test_a_rewritten_table_is_read_again(tmp_path: Path) -> None:
    write(tmp_path, TABLE)
    PathTable.load("nic", "echo", tmp_path)
    (tmp_path / "echo" / "nic" / "costs.toml").write_text(TABLE.replace("= 13", "= 14"), encoding="utf-8")
    assert PathTable.load("nic", "echo", tmp_path).cost("start_send").instructions == 14


def test_an_unknown_path_names_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, TABLE)
    with pytest.raises(CostError) as caught:
        PathTable.load("nic", "echo", tmp_path).cost("scan_chanel")
    said = "path 'scan_chanel': is not in the compiled costs of echo/nic; did you mean 'scan_channel'?"
    expected = f"{said}; a new path is counted by `make costs LAYER=echo`"
    assert str(caught.value) == expected


def test_a_layer_without_a_table_names_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, TABLE)
    with pytest.raises(CostError) as caught:
        PathTable.load("nic", "ecko", tmp_path)
    assert str(caught.value) == "layer 'ecko/nic': has no table of compiled costs; did you mean 'echo/nic'?"


@pytest.mark.parametrize("text", ["[path]\n", '[compiled]\norigin="x"\n', TABLE + "x = { steps = 1 }\n", "path = 3\n"])
def test_an_incomplete_table_is_rejected_with_the_command(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    with pytest.raises(CostError, match=r"costs\.toml: is not a cost table .*; run python -m pymodels\.costs\.compile"):
        PathTable.load("nic", "echo", tmp_path)


def test_a_truncated_table_is_rejected_with_file_and_line(tmp_path: Path) -> None:
    write(tmp_path, TABLE[:-30])
    with pytest.raises(ConfigError, match=r"costs\.toml:\d+: not TOML"):
        PathTable.load("nic", "echo", tmp_path)


def test_nic_clocks_are_instructions_plus_access_clocks() -> None:
    charge = nic_charge(PathCost(instructions=7, loads=2, stalls=(1,)), LANAI9)
    assert (charge.clocks, charge.accesses) == (7 + 1, 4 + 2)
    charge = nic_charge(PathCost(instructions=13, stores=2, uncached=3, stalls=(0,)), LANAI9, times=10)
    assert (charge.clocks, charge.accesses) == (10 * (13 + 3), 10 * (7 + 2))


def test_instructions_from_a_cache_need_no_access() -> None:
    charge = nic_charge(PathCost(instructions=7, loads=1, stalls=(1,)), replace(LANAI9, instructions_per_fetch=0))
    assert (charge.clocks, charge.accesses) == (8, 1)


@given(costs, processors, st.integers(0, 50))
def test_the_nic_makes_at_most_one_access_a_clock(cost: PathCost, processor: NicProcessor, times: int) -> None:
    charge = nic_charge(cost, processor, times)
    assert charge.accesses <= charge.clocks
    assert charge.clocks == times * nic_charge(cost, processor).clocks
    assert charge.clocks >= times * cost.instructions


def test_only_uncached_accesses_of_a_cached_processor_can_be_delayed() -> None:
    charge = nic_charge(PathCost(instructions=20, loads=4, stores=2, uncached=3), NicProcessor(0, 0, 12, 0, True), 2)
    assert (charge.clocks, charge.accesses) == (2 * (20 + 36), 6)


def test_a_layer_that_is_not_compiled_for_a_nic_is_rejected() -> None:
    with pytest.raises(CostError, match=r"layer 'grim/nic': is not compiled for this NIC"):
        PathTable.of_nic("grim", POWERPC)


def test_the_work_scale_applies_to_compiled_instructions_alone() -> None:
    path = PathCost(instructions=20, loads=4, stores=2, uncached=3, stalls=(4,))
    charges = [nic_charge(path, replace(LANAI9, work_scale=scale)) for scale in (1, 1.25, 0.5)]
    assert charges == [Charge(24 + 3, 16), Charge(30 + 3, 20), Charge(12 + 3, 8)]


def test_host_clocks_are_instructions_plus_access_clocks() -> None:
    processor = HostProcessor(instruction=0.5, load=0, store=0, uncached=0)
    assert host_clocks(PathCost(46, 10, 5), processor) == 23
    assert host_clocks(PathCost(46, 10, 5), replace(processor, load=1.5, store=1), times=3) == 3 * (23 + 15 + 5)


@pytest.mark.parametrize("name", [name for name in profile_names() if "+" not in name])
def test_every_profile_has_the_values_of_its_processors(name: str) -> None:
    profile = load_profile(name)
    nic = profile.nic.processor(profile)
    assert (nic is None) == (profile.nic.target is None), "a NIC without a processor has no charges"
    if nic is not None:
        keys = ("load_clocks", "store_clocks", "uncached_clocks", "instructions_per_fetch")
        bus = bus_access(profile) if profile.kind == "sp" else 0
        assert (nic.load, nic.store, nic.uncached - bus, nic.instructions_per_fetch) == tuple(
            profile.integer(f"processor.{key}") for key in keys
        )
        assert min(nic.load, nic.store, nic.uncached) >= 0, "an access never reduces the cost of its instruction"
    assert HostProcessor.from_profile(profile).instruction == profile.number("host.instruction_clocks")
