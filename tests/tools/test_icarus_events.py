"""Why `hdl/README.md` wants each field of a struct written once: what Icarus does when a process writes it twice.

Strategy: two processes that read each other's structs, with values that settle at once. Written whole and then in part,
they wake each other without end, which a count of their runs shows; written once a field, they run a few times.
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
TWICE = "{0} = '0; if (late != 0) {0}.x = late + {1}.y;"
ONCE = "{0}.y = '0; {0}.x = late != 0 ? late + {1}.y : 8'd0;"


@pytest.mark.parametrize(("form", "said"), [(TWICE, "for ever at 1: 0500 0500"), (ONCE, "settled at 2: 0500 0500")])
def test_processes_that_write_a_struct_twice_wake_each_other_for_ever(tmp_path: Path, form: str, said: str) -> None:
    source = tmp_path / "top.sv"
    source.write_text(SOURCE.format(a=form.format("a", "b"), b=form.format("b", "a"), many=MANY))
    subprocess.run(["iverilog", "-g2012", "-o", "top", source.name], cwd=tmp_path, check=True, capture_output=True)
    ran = subprocess.run(["vvp", "top"], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=PATIENCE_S)
    assert ran.stdout.splitlines()[0] == said
