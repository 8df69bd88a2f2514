"""Blocks prepared for place and route, and what is read from its report.

Strategy: LUT levels are counted in a netlist of a few cells; a critical path is read from a report as nextpnr writes
it; the wrapper of a small block is compared line by line; targets are found by both kinds of names; the table is
written into a page that contains other text.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pymodels.profiles import load_profile
from pymodels.settings import LINK
from tb.fpga import page, path, wrapper
from tb.fpga.cells import Cells, count, longest_path
from tb.fpga.mapping import Block, hardware
from tb.fpga.pnr import Clock, Routed, main, table
from tb.fpga.synth import COLUMNS, SIZES
from tb.fpga.targets import find, targets
from tb.tools.paths import ROOT
from tb.tools.programs import ToolError

CORE = ROOT / "hdl/nic/core/README.md"


def cell(kind: str, **pins: list[int]) -> dict[str, Any]:
    outputs = {"Z", "Q", "COUT", "S0", "S1"}
    directions = {pin: "output" if pin in outputs else "input" for pin in pins}
    return {"type": kind, "connections": pins, "port_directions": directions}


NETLIST: dict[str, Any] = {
    "cells": {
        "start": cell("TRELLIS_FF", DI=[9], Q=[1]),
        "lut": cell("LUT4", A=[1], B=[2], Z=[3]),
        "mux": cell("PFUMX", ALUT=[3], BLUT=[2], Z=[4]),
        "low": cell("CCU2C", A0=[4], CIN=[0], COUT=[5], S0=[6], S1=[7]),
        "high": cell("CCU2C", A0=[2], CIN=[5], COUT=[10], S0=[8], S1=[11]),
        "last": cell("LUT4", A=[8], Z=[9]),
    },
    "netnames": {
        "count_q": {"bits": [1], "hide_name": 0},
        "picked": {"bits": [4], "hide_name": 0},
        "$abc$1": {"bits": [8], "hide_name": 1},
    },
}


def test_multiplexers_and_carries_are_no_levels() -> None:
    assert count(NETLIST) == Cells(luts=6, flops=1, block_rams=0, dsps=0, levels=3)


def test_the_longest_path_has_the_names_of_the_sources() -> None:
    assert longest_path(NETLIST) == ["count_q", "picked"]


def step(kind: str, delay: float, net: str = "", end: str = "") -> dict[str, Any]:
    return {"type": kind, "delay": delay, "net": net, "to": {"cell": end}}


def test_a_critical_path_is_told_by_signals_levels_and_times() -> None:
    steps = [
        step("clk-to-q", 0.5),
        step("routing", 1.0, "u_block.u_rx.count_q[3]"),
        step("logic", 0.2),
        step("routing", 0.7, "u_block.u_rx.full_LUT4_Z_1_D"),
        step("logic", 0.05),
        step("routing", 0.1, "u_block.u_rx.full_LUT4_Z_2_D"),
        step("setup", 0.1, end="u_block.u_tx.held_q_TRELLIS_FF_Q_3"),
    ]
    ends = {"from": "posedge $glbnet$clk", "to": "posedge $glbnet$clk"}
    crossing = {"from": "posedge a", "to": "posedge b", "path": steps}
    (found,) = path.paths({"critical_paths": [crossing, {**ends, "path": steps}]})
    assert found.clock == "clk"
    signals, _, words = found.said.partition(": ")
    assert signals == "u_rx.count_q[3] -> u_rx.full -> u_tx.held_q"
    assert words == "1 LUTs and 1 steps of carry, 0.8 ns of logic and 1.8 ns of routing"


def test_pins_are_registered_settings_are_constant_and_clock_gating_stays_open() -> None:
    def port(direction: str, width: int) -> dict[str, Any]:
        return {"direction": direction, "bits": list(range(width))}

    module = {
        "ports": {
            "link_clk": port("input", 1),
            "link_gated_clk": port("input", 2),
            "link_rst": port("input", 1),
            "clk": port("input", 1),
            "rx": port("input", 9),
            "cfg": port("input", 4),
            "ready": port("output", 1),
            "busy": port("output", 1),
        }
    }
    text = wrapper.text(Block("myri_thing", {"N": 2}), wrapper.ports(module), {"cfg": 0x15})
    lines = [line.strip().rstrip(",") for line in text.splitlines()]
    assert [line for line in lines if line.startswith(".")] == [
        ".link_clk({1{link_clk}})",
        ".link_gated_clk({2{link_clk}})",
        ".link_rst(reg_link_rst)",
        ".clk({1{clk}})",
        ".rx(reg_rx)",
        ".cfg(4'h5)",
        ".ready(out_ready)",
        ".busy()",
    ]
    assert "always_ff @(posedge link_clk) reg_rx <= 9'({reg_rx, scan_in});" in lines
    assert "always_ff @(posedge clk) reg_ready <= out_ready ^ 1'({reg_ready, scan_in});" in lines
    assert "myri_thing #(.N(2)) u_block (" in lines


def test_settings_come_from_the_profile() -> None:
    profile = load_profile("lanai9")
    given = wrapper.constants(Block("myri_link_port"), profile)
    assert given["cfg"] >> sum(bits for _, bits in list(LINK.fields())[1:]) == profile.integer("link.slack")
    assert wrapper.constants(Block("myri_pci_target"), profile)["cfg_wide"] == 1


def test_a_target_is_named_by_the_table_or_by_its_module() -> None:
    assert find("myri_switch_4").block == Block("myri_switch", {"PORTS": 4})
    assert find("myri_fifo").block == Block("myri_fifo")
    assert find("myri_nic4").required("clk") == pytest.approx(33.3, abs=0.1)
    assert find("myri_nic").required("pci_clk") == pytest.approx(66.7, abs=0.1)
    assert find("myri_link_port", "lanai9-l7").profile == "lanai9-l7"
    with pytest.raises(ToolError, match=r"unknown block 'myri_switch_9'.*did you mean 'myri_switch_[48]'\?"):
        find("myri_switch_9")


def test_an_unknown_block_or_profile_ends_the_command_with_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["myri_swich_8"]) == 2
    assert "did you mean 'myri_switch_8'?" in capsys.readouterr().err
    assert main(["--profile", "lanai5", "myri_fifo"]) == 2
    assert "lanai5" in capsys.readouterr().err


def test_targets_name_modules_and_profiles_that_exist() -> None:
    assert {one.block.module for one in targets().values()} <= hardware().keys()
    assert all(one.loaded.rtl and one.goals for one in targets().values())


def test_a_clock_below_its_goal_is_marked() -> None:
    clocks = Clock("clk", 150.0, 160.0, None, ""), Clock("pci_clk", 70.0, 66.6, 66.0, "")
    rows = table([Routed("a", clocks, {"TRELLIS_FF": 5}), Routed("b", (), {}, "too large")]).rows
    assert [(row[0], row[-1]) for row in rows] == [("a", "below"), ("a", ""), ("b", "failed")]
    assert rows[0][2:7] == ("150.0", "160.0", "", "0", "5")


def test_the_table_replaces_the_old_one_and_keeps_the_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    begin, end = page.marks("make pnr")
    file.write_text(f"before\n{begin}\nold\n{end}\nafter\n", encoding="utf-8")
    monkeypatch.setattr(page, "PAGE", file)
    clock = {"name": "clk", "mhz": 150.04, "required": 160.0, "goal": None}
    page.write_table(
        [{"target": "a", "clocks": [clock], "used": {"TRELLIS_FF": 5}, "failed": ""}],
        {"a": {"clk": {"first": 120.0, "last": 150.0}}},
        seed=7,
    )
    text = file.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith(f"{end}\nafter\n") and "old" not in text
    assert "| `a` | `clk` | 150.0 | 120.0 | 160.0 |  | 0 | 5 | 0 | 0 |" in text and "seed 7" in text


def test_the_page_of_the_core_has_the_committed_sizes_of_its_parts() -> None:
    sizes = json.loads(SIZES.read_text(encoding="utf-8"))
    names = [f"myri_lanai_{part}" for part in ("fetch", "decode", "alu", "count", "loads")]
    rows = [f"| `{name}` | {' | '.join(str(sizes[name][key]) for key in COLUMNS)} |" for name in names]
    lines = CORE.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line in set(rows)] == rows
