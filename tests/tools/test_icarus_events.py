"""Reason for the rule in `hdl/README.md` that a struct's fields, and bits of a vector, are written once: events in
Icarus.

Strategy: processes whose values settle at once, with a count of their runs. Two processes that read each other's
structs wake each other without end when these are written whole and then in part. They settle when each field is
written once. Two that read only their own wire do the same when a third reads the output of both: on Icarus 11 an
`always_comb` that is woken wakes the others. They settle when the value is assembled in a variable of the process.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S

MANY = 10_000
SOURCE = """
package p;
  typedef struct packed {{logic [7:0] x; logic [7:0] y;}} pair_t;
endpackage
module top;
  import p::*;
  pair_t a, b;
  logic [7:0] late;
  int runs = 0;
  always_comb begin
    {a}
  end
  always_comb begin
    {b}
    runs = runs + 1;
    if (runs == {many}) begin
      $display("for ever at %0t: %h %h", $time, a, b);
      $finish;
    end
  end
  initial begin
    late = 0;
    #1 late = 5;
    #1 $display("settled at %0t: %h %h", $time, a, b);
    $finish;
  end
endmodule
"""
LANES = """
module top;
  logic [1:0] wires = 2'b00;
  logic [1:0] seen, told;
  int runs = 0;
  for (genvar i = 0; i < 2; i++) begin : gen_lane
    logic one;
    logic own;
    assign own = wires[i];
    always_comb begin : decoding
      {lane}
    end
    assign seen[i] = one;
  end
  always_comb begin
    told = seen;
    runs = runs + 1;
    if (runs == {many}) begin
      $display("for ever at %0t: %b", $time, told);
      wires = 2'b00;
    end
  end
  initial begin
    #1 wires = 2'b11;
    #1 $display("settled at %0t: %b", $time, told);
    $finish;
  end
endmodule
"""
TWICE = "{0} = '0; if (late != 0) {0}.x = late + {1}.y;"
ONCE = "{0}.y = '0; {0}.x = late != 0 ? late + {1}.y : 8'd0;"


WITHIN = "logic found; found = 1'b0; if (own) found = 1'b1; one = found;"


@pytest.mark.parametrize(("form", "said"), [(TWICE, "for ever at 1: 0500 0500"), (ONCE, "settled at 2: 0500 0500")])
def test_processes_that_write_a_struct_twice_wake_each_other_for_ever(tmp_path: Path, form: str, said: str) -> None:
    assert _first_line(tmp_path, SOURCE.format(a=form.format("a", "b"), b=form.format("b", "a"), many=MANY)) == said


@pytest.mark.parametrize(
    ("lane", "said"),
    [("one = 1'b0; if (own) one = 1'b1;", "for ever at 1: 11"), (WITHIN, "settled at 2: 11")],
)
def test_processes_that_share_nothing_wake_each_other_for_ever_through_one_that_reads_both(
    tmp_path: Path, lane: str, said: str
) -> None:
    assert _first_line(tmp_path, LANES.format(lane=lane, many=MANY)) == said


def _first_line(folder: Path, text: str) -> str:
    """Return the first output line of the simulation of this module `top`."""
    (folder / "top.sv").write_text(text, encoding="utf-8")
    subprocess.run(["iverilog", "-g2012", "-o", "top", "top.sv"], cwd=folder, check=True, capture_output=True)
    ran = subprocess.run(
        ["vvp", "top"], cwd=folder, check=True, capture_output=True, encoding="utf-8", timeout=PATIENCE_S
    )
    return ran.stdout.splitlines()[0]
