"""A LANai's processor is read as a synthesiser does, and the page has its size.

Strategy: Yosys reads the core and each of its parts; what it refuses fails here too. The table on the page is compared
with what it counts.
"""

from __future__ import annotations

from tb.quality.synth import Size, chosen, measure
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
