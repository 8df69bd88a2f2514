"""Bitstreams of `make board`, for tops that hold a PLL and counters in place of nodes, which take seconds to route.

Strategy: everything else is that of a board's top: pins, PLL, constraints, tools, report, and manifest. The tools must
derive the three clocks from the board's oscillator by the PLL. The bitstream must name the board's device, and a second
call must take it from the cache. Steps of nextpnr's log are shown while it works. A clock that is missed must be named.
"""

from __future__ import annotations

import io
import re
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console

from pymodels.board.identity import Manifest
from tb.build.store import kept
from tb.fpga import board, programs
from tb.fpga.board_design import Design, find_design
from tb.fpga.board_kinds import BOARDS, Board, find_board
from tb.fpga.board_kinds import top as whole_top
from tb.fpga.board_sim import FILE
from tb.tools.programs import ToolError

PARTS = {"ulx3s": b"LFE5U-85F", "ecpix5": b"LFE5UM5G-85F"}
SLOWER = 2
RATES = {"BUS": 25.0, "NIC": 16.7, "LINK": 80.0}
"""Rates in MHz that the PLL makes of both boards' oscillators."""
COUNTERS = """
  logic [7:0] bus_q, nic_q, link_q;
  always_ff @(posedge bus_clk) bus_q <= bus_q + 8'd1;
  always_ff @(posedge nic_clk) nic_q <= nic_q + 8'd1;
  always_ff @(posedge link_clk) link_q <= {};
  assign led = {{bus_q[7], nic_q[7], link_q[7], locked, identity[3:0]}};
"""
COUNT, SLOW = "link_q + 8'd1", "(link_q * link_q * link_q) * (link_q * link_q + 8'd3)"


def small_top(link: str, kind: Board, design: Design, slower: int, identity: str) -> str:
    """Return the top of a board with counters in place of its nodes; `link` is the next value of the link's."""
    text, _, _ = whole_top(kind, design, slower, identity).partition(f"  {design.module} #(")
    constant = f"  localparam logic [255:0] identity = 256'h{identity or 0};\n"
    line = f"  assign {kind.txd} = {kind.rxd} && {kind.reset_n};\n"
    return f"{text}{constant}{COUNTERS.format(link)}{line}endmodule\n"


@pytest.fixture(name="folder", autouse=True)
def fixture_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let bitstreams and the cache of routed designs be in a folder of the test: nothing is known from earlier runs."""
    monkeypatch.setattr(board, "FOLDER", tmp_path)
    monkeypatch.setattr(board, "kept", partial(kept, store=tmp_path / "store"))
    return tmp_path


@pytest.mark.parametrize("name", BOARDS)
def test_a_bitstream_has_the_clocks_of_the_pll_a_report_and_its_manifest(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board, "top", partial(small_top, COUNT))
    design, kind, said = find_design("pair"), find_board(name), io.StringIO()
    made = board.make(Console(file=said), kind, design, SLOWER)
    assert re.search(r"^  (at iteration|Packing|Running|Routing|Creating)", said.getvalue(), re.MULTILINE)
    assert made.folder == folder / f"pair-{name}"
    assert {clock: required for clock, (_, required) in made.rates.items()} == RATES
    assert not made.late
    assert programs.last_step((made.folder / programs.LOG).read_text(encoding="utf-8"))
    assert made.used["EHXPLLL"][0] == 1
    assert PARTS[name] in (made.folder / board.BITSTREAM).read_bytes()[:200]
    page = (made.folder / board.PAGE).read_text(encoding="utf-8")
    assert kind.title in page and "| LINK |" in page and "| TRELLIS_FF |" in page
    assert Manifest.load(made.folder / FILE).board == name
    first = (made.folder / board.BITSTREAM).read_bytes()
    again = board.make(Console(file=io.StringIO()), kind, design, SLOWER)
    assert (again.folder / board.BITSTREAM).read_bytes() == first


def test_the_last_step_of_a_log_is_shown() -> None:
    log = "Info: Packing IOs..\nInfo:    at iteration #3, type ALL: wirelen solved = 88\nInfo: Max frequency: 12 MHz\n"
    assert programs.last_step(log) == "at iteration #3, type ALL: wirelen solved = 88"
    assert not programs.last_step("Info: Logic utilisation before packing:\n")


def test_a_missed_clock_is_named_with_the_factor_that_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "top", partial(small_top, SLOW))
    with pytest.raises(ToolError, match="LINK is slower than required by a factor of up to [1-9].*; use SLOWER=2"):
        board._make(Console(file=io.StringIO()), find_board("ulx3s"), find_design("pair"), 1)
