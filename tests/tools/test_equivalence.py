"""Netlists proved equal to their blocks by Yosys, and wrong ones found.

Strategy: small blocks with and without state are proved in both kinds of cells. The same netlist with one gate inverted
has points that are not proved, which are named. A wire inside that mapping has given another value is left out, and a
wrong gate is found without it. Registers whose states Yosys codes anew are compared by these codes. A
block above the limit is listed as too large. A block with a memory and child modules is proved by its parts, and a part
with an inverted gate is not.
"""

from __future__ import annotations

import re

import pytest

from tb.fpga import equivalence
from tb.fpga.mapping import NETLIST, Block, cell_count, mapped
from tb.fpga.parts import Part, split


@pytest.mark.parametrize("cells", ["generic", "ecp5"])
@pytest.mark.parametrize("name", ["myri_crc8", "myri_rr_arbiter", "myri_pci_arbiter", "myri_cdc_pointer"])
def test_the_netlist_of_a_small_block_is_proved(name: str, cells: str) -> None:
    verdict = equivalence.judged(Block(name), cells)
    assert verdict.shown == "proved" and verdict.points > 0


def test_a_block_whose_states_are_coded_anew_is_proved() -> None:
    block = Block("myri_packet_tx")
    folder = mapped(block, "generic")
    assert ".fsm myri_packet_tx state_q" in equivalence.states_of(folder)
    assert equivalence.judged(block, "generic").shown == "proved"


def test_bits_that_the_netlist_has_no_longer_are_no_points_unless_they_are_of_ports() -> None:
    netlist = "module m(clk, out);\n"
    said = r"""
  Unproven $equiv $auto$equiv_make.cc:295:find$1: \own_gold [96] 1'x
  Unproven $equiv $auto$equiv_make.cc:295:find$2: \out_gold [1] 1'x
  Unproven $equiv $auto$equiv_make.cc:295:find$3: \mem_gold [2] \addr_gate [2]
"""
    assert equivalence.open_points(said, netlist) == (("out", "mem"), 1)


def test_a_wrong_netlist_is_not_proved_and_its_points_are_named() -> None:
    block = Block("myri_rr_arbiter")
    folder = mapped(block, "generic")
    text = (folder / NETLIST).read_text(encoding="utf-8")
    wrong, changed = re.subn(r"assign (_\d+_) = ([^;]+);", r"assign \1 = ~(\2);", text, count=1)
    assert changed == 1
    verdict = equivalence.compared(block, "generic", wrong, cell_count(folder))
    assert verdict.differs and verdict.unproved and verdict.shown.endswith("points not proved")
    assert all("not proved to be equal" in line for line in equivalence.lines(verdict))


GATED = r"""attribute \top 1
module \m
  wire width 2 input 1 \a
  wire input 2 \access
  wire width 2 output 3 \y
  wire width 2 \inner
  wire width 2 \inverse
  cell $not $1
    parameter \A_SIGNED 0
    parameter \A_WIDTH 2
    parameter \Y_WIDTH 2
    connect \A \a
    connect \Y \inverse
  end
  cell $mux $2
    parameter \WIDTH 2
    connect \A 2'00
    connect \B \inverse
    connect \S \access
    connect \Y \inner
  end
  cell $mux $3
    parameter \WIDTH 2
    connect \A 2'00
    connect \B \inner
    connect \S \access
    connect \Y \y
  end
end
"""
"""Module with a wire that is 0 where nothing depends on it."""
OPEN = """module m(a, access, y);
  input [1:0] a;
  input access;
  output [1:0] y;
  wire [1:0] inner;
  assign inner = ~a;
  assign y = access ? inner : 2'h0;
endmodule
"""
"""Netlist in which that wire has another value there."""


def test_a_wire_whose_value_mapping_has_changed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    part = Part("m", text=GATED)
    assert equivalence.compared(part, "generic", OPEN, 3).shown == "proved"
    wrong = OPEN.replace("access ? inner : 2'h0", "inner")
    assert set(equivalence.compared(part, "generic", wrong, 3).unproved) == {"y"}
    monkeypatch.setattr(equivalence, "inner_wires", lambda points, netlist: set())
    assert set(equivalence.compared(part, "generic", OPEN, 3).unproved) == {"inner"}


def test_ports_and_registers_are_never_left_out() -> None:
    netlist = "module m(clk, out);\n  reg kept;\n  wire inside;\n  wire state_q;\n"
    assert equivalence.inner_wires(("out", "kept", "state_q", "inside"), netlist) == {"inside"}


def test_a_large_block_is_listed_as_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equivalence, "LARGEST", 1)
    verdict = equivalence.judged(Block("myri_crc8"), "generic")
    assert verdict.shown == "too large" and not verdict.differs


@pytest.mark.parametrize(("name", "cells", "modules"), [("myri_fifo", "ecp5", 1), ("myri_cdc_pointer", "generic", 2)])
def test_a_block_with_a_memory_or_a_child_is_proved_by_its_parts(name: str, cells: str, modules: int) -> None:
    verdict = equivalence.by_parts(Block(name), cells)
    assert verdict.shown == "proved by parts" and verdict.parts == modules and verdict.points > 0


def test_a_part_with_a_wrong_gate_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    block = Block("myri_cdc_pointer")
    assert [part.module for part in split(block)] == ["myri_cdc_pointer", "myri_sync"]
    right = equivalence.without_removed

    def wrong(netlist: str) -> str:
        text = right(netlist)
        return re.sub(r"assign (_\d+_) = ([^;]+);", r"assign \1 = ~(\2);", text, count=1)

    monkeypatch.setattr(equivalence, "without_removed", wrong)
    verdict = equivalence.by_parts(block, "generic")
    assert verdict.differs and all(point.startswith("myri_cdc_pointer: ") for point in verdict.unproved)
