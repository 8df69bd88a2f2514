"""Names in HDL: the check gets small modules, each with one misleading name, and then the whole tree.

Each rule that `hdl/README.md` gives for people is a case here: state, inputs, active low, directions, pairs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.quality.names import DIRECTIONS, flops, misnamed, names
from tb.quality.text import HDL, bare

BLOCK = HDL / "prim" / "myri_block.sv"
GOOD = """
module myri_block (
    input logic clk,  // clock
    input logic in_valid,  // offered
    output logic in_ready,  // taken
    output logic [7:0] sum,  // an output may be a flop
    output logic busy  // another edge is needed
);
  logic [7:0] left_q, left_d;
  logic [7:0] mem[0:3];
  assign left_d = left_q <= 8'd3 ? 8'd0 : left_q - 8'd1;
  assign in_ready = left_q <= 8'd3;
  assign busy = in_valid;
  always_ff @(posedge clk) begin
    for (int i = 0; i < 4; i++) if (in_valid && (sum <= 8'd9)) mem[i] <= sum;
    case (sum)
      8'd0: sum <= 8'd1;
      default: {sum, left_q[7:0]} <= '0;
    endcase
  end
endmodule
"""


def test_a_module_with_correct_names_passes() -> None:
    assert misnamed(BLOCK, GOOD) == []
    assert flops(bare(GOOD)) == {"mem", "sum", "left_q"}


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("left_q", "left", "`left` is a flop: left_q"),
        ("  assign busy", "  logic idle_q;\n  assign idle_q = in_valid;\n  assign busy", "`idle_q` is not a flop"),
        ("left_d", "rest_d", "`rest_d`: _d is for the input of a flop rest_q"),
        ("left_d", "left_n", "`left_n`: _n is for active-low PCI signals"),
        ("output logic busy", "input logic busy", "`busy` is an input, but its name says output"),
        ("output logic [7:0] sum", "output logic cfg_sum,  // x\n    output logic [7:0] sum", "`cfg_sum` is an output"),
        (
            "output logic busy",
            "output send_trace_t send_trace,  // x\n    output recv_trace_t trace,  // y\n    output logic busy",
            "`send_trace`, `trace`: several trace outputs",
        ),
        ("[7:0] left_q, left_d;", "[7:0] left_q, left_d;\n  logic [1:0] state_q;", "`state_q` is a vector; declare"),
        ("output logic in_ready", "input logic in_ready", "`in_valid` and `in_ready` have the same direction"),
    ],
)
def test_an_incorrect_name_is_reported(before: str, after: str, complaint: str) -> None:
    assert any(complaint in one for one in misnamed(BLOCK, GOOD.replace(before, after)))


def test_a_simulation_module_may_have_outputs_of_others_as_inputs() -> None:
    watching = GOOD.replace("output logic busy", "input logic busy").replace("  assign busy = in_valid;\n", "")
    assert misnamed(HDL / "sim" / "probe" / "sim_block.sv", watching) == []


def test_all_names_of_the_tree_are_correct() -> None:
    looked_at, found = names()
    assert found == []
    assert int(looked_at.split()[0]) > 150


def test_the_page_gives_the_directions_that_are_checked() -> None:
    page = Path(HDL / "README.md").read_text(encoding="utf-8")
    for word in ("cfg", "_trace", "tr_", "st_", "ev_", "busy", "needed", "alarm", "_valid", "_gnt", "_q", "_d", "_n"):
        assert word in page
    assert set(DIRECTIONS.values()) == {"input", "output"}
