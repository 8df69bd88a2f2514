"""A struct or a vector that one process writes twice: the check gets small modules, and then the whole tree.

Strategy: cases that must be reported, each in another form of a process, and similar cases that are allowed.
"""

from __future__ import annotations

import pytest

from tb.quality.events import events, twice_written

TOLD = (
    "always_comb begin\n  s = in;\n  if (late) s.x = 8'd1;\nend",
    "always_comb begin\n  s = '0;\n  case (state)\n    IDLE: begin\n      s.x.y = 1'b1;\n    end\n  endcase\nend",
    "pci_card_settings_t s;\nalways_comb begin\n  s = cfg;\n  s.wide = late;\nend",
    "always_comb\n  if (late) begin\n    s.x[3] = 1'b1;\n    s = in;\n  end",
    "always_comb begin\n  s = '0;\n  for (int i = 0; i < 8; i++) if (t[i]) s[i] = 1'b1;\nend",
    "always_comb begin : of_a_name\n  logic [7:0] own;\n  own = '0;\n  s = own;\n  s[8*i+:8] = 8'd1;\nend",
)
ALLOWED = (
    "always_comb begin\n  s.x = 8'd1;\n  s.y = 8'd2;\nend",
    "assign s.x = 8'd1;\nalways_comb begin\n  t = s.x == 8'd1;\nend\nalways_comb s = t;",
    "always_comb begin : of_a_name\n  logic [7:0] t, s;\n  s = '0;\n  if (u) s[3] = 1'b1;\n  v = s;\nend",
    "always_comb begin\n  for (int i = 0; i < 8; i++) s[i] = t[i];\nend",
    "always_comb begin\n  if (s.x == u) s = v;\nend\nalways_ff @(posedge clk) s.y <= 1'b0;",
)


@pytest.mark.parametrize("source", TOLD)
def test_a_variable_written_whole_and_in_part_is_reported(source: str) -> None:
    assert [name for _, name in twice_written(f"module m;\n{source}\nendmodule\n")] == ["s"]


def test_the_reported_line_is_that_of_the_process() -> None:
    assert twice_written(f"module m;\n\n{TOLD[0]}\nendmodule\n") == [(3, "s")]


def test_simulation_modules_may_write_settings_whole_and_in_part() -> None:
    source = "module m;\npci_card_settings_t s;\nalways_comb begin\n  s = cfg;\n  s.wide = 1'b0;\nend\nendmodule\n"
    assert twice_written(source, hardware=False) == []


@pytest.mark.parametrize("source", ALLOWED)
def test_a_variable_written_one_way_is_accepted(source: str) -> None:
    assert twice_written(f"module m;\n{source}\nendmodule\n") == []


def test_no_variable_of_the_hdl_is_written_whole_and_in_part() -> None:
    assert events()[1] == []
