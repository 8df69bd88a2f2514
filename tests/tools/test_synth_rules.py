"""Rules of `make synth`, each broken by a small module, and blocks with their committed sizes.

Strategy: Yosys maps a module that breaks one rule, and the complaint names the rule and the line. A module beside it
keeps the rule and has no complaint. A few small blocks of the hardware are mapped and compared with sizes.json.
"""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from tb.fpga.cells import Cells
from tb.fpga.mapping import Block
from tb.fpga.synth import SIZES, Mapped, compared, main, measure

PORTS = "input clk, input [7:0] a, b, input [2:0] i, input en, output logic [7:0] q"
BAD = {
    "latch": "always_latch if (en) q = a;",
    "division": "assign q = a / b;",
    "modulo": "assign q = a % b;",
    "multiplication by a constant": "logic [71:0] v;\nalways_ff @(posedge clk) v <= {v, a};\nassign q = v[9*i+:8];",
    "memory m of 256 bits in flip-flops": (
        "logic [7:0] m[32];\nalways_ff @(posedge clk) begin m[a[4:0]] <= b; if (en) m[b[4:0]] <= a; end\n"
        "assign q = m[{i, 2'd0}];"
    ),
    "asynchronous read of memory m with 128 words": (
        "logic [7:0] m[128];\nalways_ff @(posedge clk) if (en) m[a[6:0]] <= b;\nassign q = m[b[6:0]];"
    ),
    "combinational loop": "logic [7:0] x, y;\nassign x = ~(y & a), y = ~(x & b);\nassign q = x;",
    "multiple conflicting drivers": "wire [7:0] x;\nassign x = a;\nassign x = b;\nassign q = x;",
    "no driver": "wire [7:0] x;\nassign q = x ^ a;",
}
"""Bodies of modules that break one rule, by the words of the complaint."""
GOOD = {
    "shift": "assign q = a / 4;",
    "memory in LUT RAM": "logic [7:0] m[32];\nalways_ff @(posedge clk) if (en) m[a[4:0]] <= b;\nassign q = m[b[4:0]];",
    "memory in block RAM": ("logic [7:0] m[256];\nalways_ff @(posedge clk) begin if (en) m[a] <= b; q <= m[b]; end"),
    "registers that are read at once": (
        "logic [7:0] m[2];\nalways_ff @(posedge clk) m[i[0]] <= a;\nassign q = m[0] + m[1];"
    ),
}
SMALL = ["myri_fifo", "myri_index", "myri_crc8", "myri_rr_arbiter"]


def mapped(body: str) -> Mapped:
    return measure(Block("checked"), {"checked.sv": f"module checked({PORTS});\n{body}\nendmodule\n"})


@pytest.mark.parametrize("words", BAD)
def test_a_broken_rule_is_reported_with_its_words(words: str) -> None:
    messages = mapped(BAD[words]).messages
    assert [words in line for line in messages] == [True] * len(messages) != [], messages


@pytest.mark.parametrize("name", GOOD)
def test_hardware_that_keeps_the_rules_has_no_complaint(name: str) -> None:
    assert mapped(GOOD[name]).messages == ()


def test_a_complaint_names_file_and_line() -> None:
    assert mapped(BAD["division"]).messages == ("checked.sv:2: division; count, or shift by a power of two",)


def test_a_block_that_yosys_cannot_read_is_reported() -> None:
    found = mapped("assign q = missing;")
    assert found.size is None and "missing" in "".join(found.messages)


@pytest.mark.parametrize("block", SMALL)
def test_a_small_block_has_its_committed_size(block: str) -> None:
    found = measure(Block(block))
    assert found.messages == () and found.size is not None
    assert asdict(found.size) == json.loads(SIZES.read_text(encoding="utf-8"))[block]


def test_a_rejected_block_ends_the_command_with_one_and_an_unknown_block_with_two(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tb.fpga.synth.measure", lambda block: Mapped(block.module, messages=("a latch",)))
    assert main(["myri_fifo"]) == 1
    assert "myri_fifo: a latch" in capsys.readouterr().out
    assert main(["myri_fifi"]) == 2
    assert "did you mean 'myri_fifo'?" in capsys.readouterr().err


def test_a_second_run_reads_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    first = mapped(GOOD["shift"])
    monkeypatch.setattr("tb.fpga.mapping.yosys", None)
    assert mapped(GOOD["shift"]) == first


@pytest.mark.parametrize(("levels", "said"), [(11, "no size"), (9, "no size"), (12, "a: 12 LUT levels instead of 10")])
def test_a_size_that_changes_by_more_than_ten_percent_is_named(levels: int, said: str) -> None:
    before = Cells(luts=100, flops=20, block_rams=0, dsps=0, levels=10)
    now = Cells(luts=100, flops=20, block_rams=0, dsps=0, levels=levels)
    (line,) = compared([Mapped("a", now)], {"a": asdict(before)})
    assert line.startswith(said)
