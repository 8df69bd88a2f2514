"""Reduction of a model's `eval_nba` to edges of a single clock (tb/build/domains.py).

Strategy: a small model in Verilator's style is reduced and compiled with the C++ compiler. A program around it counts
the executed blocks for every set of triggers. They must be the same as before the reduction, for any instance.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tb.build.domains import narrow
from tb.tools.programs import ToolError

DOMAINS = (("clk_0", "refresh_0", "gated_clk_0"), ("clk_1",))
TOLD = "".join(
    f"trigger index {i} is active: @(posedge {pin})\\n"
    for i, pin in enumerate(("clk_0", "m.refresh_0", "clk_1", "gated_clk_0"))
)
MASKS = (0x1, 0x4, 0x5, 0x8, 0xC, 0x2)
BLOCKS = "".join(
    f"    if ((0x{mask:016x}ULL & vlSelfRef.__VnbaTriggered[0U])) {{\n        ran |= {1 << i};\n    }}\n"
    for i, mask in enumerate(MASKS)
)
MODEL = f"""#include "root.h"
int ran;
void Vm___024root___eval_nba(Vm___024root* vlSelf) {{
    auto& vlSelfRef = *vlSelf;
{BLOCKS}}}

int main() {{
    Vm___024root root;
    for (uint64_t set = 0; set < 16; set++) {{
        root.__VnbaTriggered[0] = set;
        ran = 0;
        Vm___024root___eval_nba(&root);
        std::printf("%d ", ran);
    }}
}}
"""
ROOT_H = "#include <cstdint>\n#include <cstdio>\nstruct Vm___024root { uint64_t __VnbaTriggered[1]; };\n"


@pytest.fixture
def obj(tmp_path: Path) -> Path:
    """Return the model's folder."""
    (tmp_path / "root.h").write_text(ROOT_H, encoding="utf-8")
    (tmp_path / "Vm___024root__0.cpp").write_text(MODEL, encoding="utf-8")
    (tmp_path / "Vm___024root__0__Slow.cpp").write_text(TOLD, encoding="utf-8")
    return tmp_path


def test_for_every_set_of_triggers_the_same_blocks_run(obj: Path) -> None:
    narrow(obj, "Vm", DOMAINS)
    source = obj / "Vm___024root__0.cpp"
    assert "eval_nba_of<11ull, 1ull>" in source.read_text(
        encoding="utf-8"
    ) and "eval_nba_of<4ull, 4ull>" in source.read_text(encoding="utf-8")
    subprocess.run(["g++", "-std=gnu++20", "-o", "program", source.name], cwd=obj, check=True)
    ran = subprocess.run(["./program"], cwd=obj, check=True, capture_output=True, encoding="utf-8").stdout.split()
    assert [int(word) for word in ran] == [
        sum(1 << i for i, mask in enumerate(MASKS) if mask & triggers) for triggers in range(16)
    ]


def test_a_clock_without_triggers_is_rejected(obj: Path) -> None:
    with pytest.raises(ToolError, match="unexpected output of Verilator"):
        narrow(obj, "Vm", (*DOMAINS, ("clk_7",)))


def test_a_function_that_sets_triggers_is_rejected(obj: Path) -> None:
    source = obj / "Vm___024root__0.cpp"
    source.write_text(MODEL.replace("ran |= 1;", "vlSelfRef.__VnbaTriggered[0U] = 0;"), encoding="utf-8")
    with pytest.raises(ToolError, match="sets triggers"):
        narrow(obj, "Vm", DOMAINS)
