"""Records of sizes, netlists and proofs, and the tables of the page that are made of them.

Strategy: the committed records name blocks and benches that exist, and all of them where a record is complete. The
committed page has the tables that its records give. New results are recorded in files of the test: they replace those
of the same block or run, and leave the others.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tb.fpga import equivalence, netlist_run, page, pnr
from tb.fpga.equivalence import Verdict, memory_bits, without_removed
from tb.fpga.mapping import Block, hardware
from tb.fpga.netlist_run import Row
from tb.fpga.pnr import Clock, Routed
from tb.fpga.targets import targets
from tb.run.block_bench import names
from tb.run.simulate import Outcome
from tb.tools.programs import ToolError
from tb.tools.sources import is_known

PAGE = page.PAGE.read_text(encoding="utf-8")


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a page with the parts of all commands; records are empty files beside it."""
    file = tmp_path / "page.md"
    makers = "make pnr", "make equivalence", "make netlist"
    file.write_text("\n".join(mark for maker in makers for mark in page.marks(maker)), encoding="utf-8")
    monkeypatch.setattr(page, "PAGE", file)
    for module, name in ((equivalence, "EQUAL"), (netlist_run, "RECORDED"), (pnr, "ROUTED")):
        record = tmp_path / f"{name}.json"
        record.write_text("{}", encoding="utf-8")
        monkeypatch.setattr(module, name, record)
    return file


def test_the_page_has_the_tables_of_the_committed_records() -> None:
    equal = json.loads(equivalence.EQUAL.read_text(encoding="utf-8"))
    netlists = json.loads(netlist_run.RECORDED.read_text(encoding="utf-8"))
    assert equal.keys() <= hardware().keys() and netlists.keys() <= set(names())
    assert "\n".join(equivalence.page_lines(equal)) in PAGE
    assert "\n".join(netlist_run.page_lines(netlists)) in PAGE


def test_the_tables_name_commits_of_this_history() -> None:
    named = re.findall(r"^Commit (\S+),", PAGE, re.MULTILINE)
    assert len(named) == 3 and all(map(is_known, named))


def test_verdicts_are_recorded_beside_those_of_other_blocks(written: Path) -> None:
    equivalence.record([Verdict(Block("myri_crc8"), "generic", 27, 3, seconds=1.4)])
    equivalence.record([Verdict(Block("myri_fifo"), "generic", 9000, not_tried=equivalence.TOO_LARGE)])
    equivalence.record([Verdict(Block("myri_fifo"), "ecp5", 80, 4, ("a", "b"))])
    text = written.read_text(encoding="utf-8")
    assert "2 of " in text
    assert "| generic | proved | all others | 1 | 1 |\n| generic | too large | `myri_fifo` | 1 | 0 |" in text
    assert "| ecp5 | 2 of 4 points not proved | `myri_fifo` | 1 | 0 |" in text


def test_an_error_of_a_tool_is_a_failed_verdict_and_a_memory_with_two_clocks_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def judged(block: Block, _cells: str) -> Verdict:
        raise ToolError(block.module, said, "")

    monkeypatch.setattr(equivalence, "judged", judged)
    said = "ERROR: no valid mapping found for memory a.mem"
    assert not equivalence.tried(Block("myri_ram_dual"), "ecp5").differs
    said = "ERROR: syntax"
    verdict = equivalence.tried(Block("myri_ram_dual"), "ecp5")
    assert verdict.differs and verdict.shown == "failed" and "syntax" in "".join(equivalence.lines(verdict))


def test_a_removed_register_is_no_point_but_an_output_is() -> None:
    head, used = "module a(clk, q);\n", "  assign \\b.used [0] = c;\n  assign q [1:0] = 2'hx;\n"
    text = f"{head}  assign \\b.chain_q [27:2] = 26'hxxxxxxx;\n  assign d = 1'hx;\n{used}"
    assert without_removed(text) == head + used


def test_bits_of_memories_are_counted() -> None:
    assert memory_bits("  reg [7:0] mem [511:0];\n  reg [8:0] q;\n  reg \\a.flag  [15:0];\n") == 8 * 512 + 16
    assert memory_bits("  reg [7:0] \\gen.mem  [15:0];\n") == 128


def test_results_of_a_bench_are_recorded_by_cells_and_simulator(written: Path) -> None:
    outcome = Outcome(True, 5, [], Path("log"), ("asleep",))
    netlist_run.record([Row("fifo", "generic", "icarus", count=70, outcome=outcome, seconds=2.2)])
    netlist_run.record(
        [Row("fifo", "generic", "verilator", failed="no"), Row("cdc_race", "ecp5", "icarus", reason="a")]
    )
    text = written.read_text(encoding="utf-8")
    assert "| `fifo` | generic | failed | 4 of 4, 1 set apart, 2 s |  | 70 |" in text
    assert "| `cdc_race` | ecp5 |  | not run | a |  |" in text


def test_targets_that_were_not_routed_have_rows_that_say_so(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    routed = Routed("myri_link_port", (Clock("clk", 190.0, 160.0, 180.0, "a -> b"),), {"TRELLIS_FF": 5})
    monkeypatch.setattr(pnr, "route", lambda target: routed)
    assert pnr.main(["--write", "myri_link_port"]) == 0
    text = written.read_text(encoding="utf-8")
    assert "| `myri_link_port` | `clk` | 190.0 | 190.0 | 160.0 | 180.0 | 0 | 5 | 0 | 0 |" in text
    assert text.count("| not routed |") == len(targets()) - 1
    assert text.index("myri_link_port") < text.index("myri_lanai_core")
