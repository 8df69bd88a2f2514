"""Netlists in the place of hardware: which blocks are replaced, by what, and what is rejected.

Strategy: programs of Icarus and netlists of Yosys are written by hand. The topmost known modules are found with the
values of their parameters, also negative ones, and nothing inside of them. A module's header is cut at the end of its
ports. Cells get their open inputs, and only the models that a netlist needs. A bench with a model in the place of
hardware has no netlist, and says so.
"""

from __future__ import annotations

import pytest

from pymodels.errors import ConfigError
from pymodels.toml import read_toml
from tb.fpga import netlist_run
from tb.fpga.mapping import Block
from tb.fpga.models import models, tied
from tb.fpga.netlist import header, replaced, topmost
from tb.run import block_bench
from tests.block.netlists import inside_hardware, sleeping_clocks

PROGRAM = """\
S_01 .scope package, "$unit" "$unit" 2 1;
S_02 .scope module, "sim_pair" "sim_pair" 6 2;
P_20 .param/l "N" 0 6 3, +C4<00000000000000000000000000000010>;
S_03 .scope generate, "gen_end[0]" "gen_end[0]" 6 33, 6 33 0, S_02;
P_30 .param/l "i" 0 6 33, +C4<00>;
S_04 .scope module, "u_tx" "myri_tx" 6 72, 7 8 0, S_03;
P_40 .param/l "AT" 0 7 11, +C4<11111111111111111111111111111111>;
P_41 .param/l "LOCAL" 1 7 12, +C4<00000000000000000000000000000001>;
P_42 .param/l "LANES" 0 7 12, C4<0011>;
S_05 .scope module, "u_index" "myri_index" 6 72, 7 8 0, S_04;
P_50 .param/l "AT" 0 7 11, +C4<00000000000000000000000000000111>;
S_06 .scope generate, "gen_end[1]" "gen_end[1]" 6 33, 6 33 0, S_02;
S_07 .scope module, "u_tx" "myri_tx" 6 72, 7 8 0, S_06;
P_70 .param/l "AT" 0 7 11, +C4<11111111111111111111111111111111>;
P_71 .param/l "LANES" 0 7 12, C4<0011>;
S_08 .scope module, "u_index" "myri_index" 6 72, 7 8 0, S_06;
P_80 .param/l "AT" 0 7 11, +C4<00000000000000000000000000000011>;
"""
FLOPS = """\
module one(clk, q);
  TRELLIS_FF #(
    .CEMUX("1")
  ) \\mem[0]_FF  (
    .CLK(clk),
    .DI(d),
    .Q(q[0])
  );
  TRELLIS_FF #(
    .CEMUX("CE")
  ) other (
    .CE(e),
    .CLK(clk),
    .DI(d),
    .LSR(rst),
    .Q(q[1])
  );
endmodule
"""


def test_the_topmost_blocks_are_found_once_with_their_parameters() -> None:
    found = topmost(PROGRAM, frozenset({"myri_tx", "myri_index"}))
    assert found == [Block("myri_index", {"AT": 3}), Block("myri_tx", {"AT": -1, "LANES": 3})]
    assert topmost(PROGRAM, frozenset({"sim_pair", "myri_tx"})) == [Block("sim_pair", {"N": 2})]
    assert topmost(PROGRAM, frozenset()) == []


def test_a_header_ends_with_the_ports() -> None:
    source = "// of m\nmodule m\n  import p::*;\n#(\n  parameter N = (1)  // ; (\n) (\n  input a  // a;\n);\n  b c;\n"
    head = header(source, "m")
    assert head.startswith("module m\n  import p::*;\n#(") and head.endswith("input a  \n);") and "b c" not in head


def test_open_inputs_of_flops_get_the_values_that_the_cell_gives_them() -> None:
    text = tied(FLOPS, "ecp5")
    first, second = text.split("TRELLIS_FF")[1:]
    assert ".CE(1'h1),\n    .LSR(1'h0),\n    .M(1'h0),\n    .CLK(clk)" in first
    assert second.count(".CE(") == second.count(".LSR(") == 1 and ".M(1'h0)" in second
    assert tied(FLOPS, "generic") == FLOPS


def test_only_the_models_of_used_cells_are_added() -> None:
    text = models("ecp5", "LUT4 CCU2C")
    assert [text.count(f"module {name}") for name in ("LUT4", "CCU2C", "LUT2", "TRELLIS_FF")] == [1, 1, 1, 0]
    assert "specify" not in text and models("generic", "LUT4") == ""


def test_a_bench_with_a_model_in_the_place_of_hardware_has_no_netlist() -> None:
    for name in block_bench.names():
        data, _ = read_toml(block_bench.BENCHES / f"{name}.toml")
        assert bool(block_bench.load(name).no_netlist) == ("replace" in data or "no_netlist" in data), name


def test_what_cannot_run_on_a_netlist_is_rejected_with_its_reason() -> None:
    with pytest.raises(ConfigError, match="cdc_race: is not run on a netlist: a model .* of hardware: myri_sync.sv"):
        replaced(block_bench.load("cdc_race"), "generic")
    with pytest.raises(ConfigError, match="NETLIST: unknown cells 'ecp': it names a kind of cells: generic, ecp5"):
        replaced(block_bench.load("fifo"), "ecp")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cells=ice40", "fifo"], "unknown cells 'ice40'"),
        (["fifi"], "BENCH: unknown bench 'fifi'"),
        (["--sim=vcs", "fifo"], "unknown simulator 'vcs'"),
        (["--echo", ""], "BENCH: no bench given"),
        (["--echo", "--cells=1", "--sim=icarus", "cdc_race"], "cdc_race: is not run on a netlist"),
    ],
)
def test_wrong_words_end_with_their_reason(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert netlist_run.main(words) == 2
    assert said in capsys.readouterr().err


def test_a_bench_without_a_netlist_is_a_row_with_its_reason() -> None:
    row = netlist_run.tried("cdc_race", "ecp5", "icarus", 1)
    assert row.passed and not row.failed and row.outcome is None
    assert row.reason == block_bench.load("cdc_race").no_netlist


def test_a_test_that_reads_inside_of_hardware_is_set_apart_on_netlists_only(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[object] = []

    @inside_hardware
    async def one(dut: object) -> None:
        ran.append(dut)

    with pytest.raises(StopIteration):
        one("dut").__await__().send(None)
    monkeypatch.setenv("SANLAB_NETLIST", "generic")
    with pytest.raises(pytest.skip.Exception, match="inside"):
        one("dut").__await__().send(None)
    assert ran == ["dut"]


@pytest.mark.parametrize(
    ("axis", "asleep", "apart"), [("", False, True), ("asleep", True, True), ("asleep", False, False)]
)
def test_tests_of_sleeping_clocks_are_set_apart_on_netlists_only(
    monkeypatch: pytest.MonkeyPatch, axis: str, asleep: bool, apart: bool
) -> None:
    ran: list[bool] = []

    @sleeping_clocks(axis)
    async def one(_dut: object, asleep: bool) -> None:
        ran.append(asleep)

    def run() -> None:
        with pytest.raises(StopIteration):
            one(None, asleep=asleep).__await__().send(None)

    run()
    assert ran == [asleep]
    monkeypatch.setenv("SANLAB_NETLIST", "generic")
    if apart:
        with pytest.raises(pytest.skip.Exception, match="sleeping"):
            one(None, asleep=asleep).__await__().send(None)
    else:
        run()
    assert len(ran) == (1 if apart else 2)
