"""Synthesis of a LANai's processor, its size on the page, and the committed logic depth of blocks.

Strategy: Yosys reads the core and each of its parts, and the switch; rejected code fails here, too. The table on the
page and the committed depths are compared with its counts; depths just above and below the limit are tested with
made-up values.
"""

from __future__ import annotations

import json

import pytest

from tb.quality.hdl import tops
from tb.quality.synth import DEPTHS, Size, chosen, compared, measure
from tb.quality.text import is_hardware
from tb.tools.paths import ROOT

PAGE = ROOT / "hdl/nic/core/README.md"
BLOCKS = ["core", "fetch", "decode", "alu", "count", "loads"]


def row(one: Size) -> str:
    return f"| `{one.block}.sv` | {one.cells} | {one.flip_flops} | {one.memory_bits} | {one.depth} |"


def test_the_page_has_the_size_of_the_core_and_its_parts() -> None:
    sizes = [measure(path) for path in chosen([f"myri_lanai_{block}" for block in BLOCKS])]
    assert [one.messages for one in sizes] == [()] * len(BLOCKS)
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert [row(one) for one in sizes] == [line for line in lines if line in set(map(row, sizes))]


def test_the_committed_depths_are_those_of_all_blocks() -> None:
    committed = json.loads(DEPTHS.read_text(encoding="utf-8"))
    assert sorted(committed) == sorted(path.stem for path in tops() if is_hardware(path))


def test_the_switch_has_its_committed_depth() -> None:
    committed = json.loads(DEPTHS.read_text(encoding="utf-8"))
    sizes = [measure(path) for path in chosen(["myri_switch"])]
    assert [one.depth for one in sizes] == [committed["myri_switch"]]


@pytest.mark.parametrize(("depth", "said"), [(55, "no depth"), (45, "no depth"), (56, "a: depth 56 instead of 50")])
def test_a_change_of_depth_above_ten_percent_is_reported(depth: int, said: str) -> None:
    (line,) = compared([Size("a", depth=depth)], {"a": 50})
    assert line.startswith(said)


def test_a_block_without_a_committed_depth_is_reported() -> None:
    assert compared([Size("b", depth=3)], {"a": 50}) == ["b: depth 3, not among those committed"]
