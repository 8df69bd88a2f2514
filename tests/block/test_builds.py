"""Invalid builds end with an error that gives the reason.

Strategy: a small module is wired incorrectly in every way that could hide a mistake, each way alone. The simulator that
can detect it must reject it, with the warning's or the pin's name in the message; correct wiring passes. The generated
top of a cluster passes too, with any host names. Only Icarus builds whole programs here. Verilator's part ends before
its long C++ compilation, which the benches do anyway.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pymodels.builders import single_switch
from tb.build import compilers
from tb.build.build import Design, build, content, needed_files
from tb.build.compilers import UNTRACED, Job, check_wiring, compile_model, verilator_flags
from tb.build.numbers import Numbers
from tb.build.top import design, switch_design
from tb.tools.programs import ToolError

PART = "module part (input logic clk, input logic a, output logic q);\n  always_ff @(posedge clk) q <= a;\nendmodule\n"
PORTS = "input logic clk, input logic x, output logic y"
GOOD = {
    "every pin": "part p (.clk, .a(x), .q(y));",
    "an output open on purpose": "part p (.clk, .a(x), .q()); assign y = x;",
}
BAD = {
    "PINMISSING": "part p (.clk, .q(y));",
    "UNDRIVEN": "logic z; part p (.clk, .a(z), .q(y));",
    "IMPLICIT": "part p (.clk, .a(z), .q(y));",
    "MODMISSING": "parts p (.clk, .a(x), .q(y));",
    "MULTIDRIVEN": "always_ff @(posedge clk) y <= x; always_ff @(posedge x) y <= clk;",
    "LATCH": "always_comb if (x) y = clk;",
    "COMBDLY": "always_comb y <= x;",
}
BAD_ON_ICARUS = [
    ("part p (.clk, .q(y));", "dangling input port 2 (a)"),
    ("part p (.clk, .a(), .q(y));", "dangling input port 2 (a)"),
    ("part p (.clk, .a(z), .q(y));", "implicit definition of wire 'z'"),
    ("parts p (.clk, .a(x), .q(y));", "Unknown module type: parts"),
]


def wired(body: str) -> Design:
    """Return a design whose top has this body."""
    return Design("top", generated={"top.sv": f"{PART}module top ({PORTS});\n  {body}\nendmodule\n"})


def job(folder: Path, wanted: Design) -> Job:
    """Return the compiler job of a design, with its generated files written to a folder."""
    folder.mkdir(exist_ok=True)
    generated: Mapping[str, str] = wanted.generated
    for name, text in generated.items():
        (folder / name).write_text(text, encoding="utf-8")
    sources = (*needed_files(wanted), *(folder / name for name in generated if name.endswith(".sv")))
    return Job(wanted.top, wanted.parameters, sources, wanted.clocked, waves=False, folder=folder)


def test_included_files_are_part_of_the_content_of_a_design() -> None:
    headers = {path.name for path in content(Design("sim_fifo_bench")) if path.suffix == ".svh"}
    assert headers == {"sim_host_ports.svh", "sim_pci_ports.svh", "sim_trace_ports.svh", "sim_trace_fields.svh"}
    assert not [path for path in content(Design("myri_fifo")) if path.suffix == ".svh"]


@pytest.mark.parametrize("way", GOOD)
def test_good_wiring_passes(tmp_path: Path, way: str) -> None:
    check_wiring(job(tmp_path, wired(GOOD[way])))
    assert build(wired(GOOD[way]), "icarus").folder.is_dir()


@pytest.mark.parametrize("warning", BAD)
def test_verilator_rejects_bad_wiring(tmp_path: Path, warning: str) -> None:
    bad = job(tmp_path, wired(BAD[warning]))
    for compiled in (bad, replace(bad, clocked=True)):
        with pytest.raises(ToolError) as error:
            compile_model(compiled)
        assert f"%Error-{warning}: " in error.value.cause
        assert not list(tmp_path.rglob("*.o")), "found before anything is compiled"


@pytest.mark.parametrize(("body", "words"), BAD_ON_ICARUS)
def test_icarus_rejects_bad_wiring(body: str, words: str) -> None:
    with pytest.raises(ToolError) as error:
        build(wired(body), "icarus")
    assert words in error.value.cause


def test_the_top_of_a_cluster_is_wired_correctly_with_any_host_names(tmp_path: Path) -> None:
    check_wiring(job(tmp_path, design(Numbers(single_switch(["paris-1", "metz.fr", "node_3"])))))


def test_the_top_of_a_single_crossbar_is_wired_correctly(tmp_path: Path) -> None:
    check_wiring(job(tmp_path, switch_design(4)))


def test_shared_parts_of_models_are_compiled_once_and_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    strict = "CXX=g++ -Winvalid-pch -Werror=invalid-pch"  # a compiled header that g++ cannot use ends the build
    monkeypatch.setattr(compilers, "MAKE_FLAGS", (*compilers.MAKE_FLAGS, strict))
    compile_model(job(tmp_path / "first", wired(GOOD["every pin"])))
    run, goals = compilers.run_tool, list[str]()

    def noted(command: list[str], *more: Any) -> str:
        goals.extend(command[-1:] if command[0] == "make" else [])
        return run(command, *more)

    monkeypatch.setattr(compilers, "run_tool", noted)
    compile_model(job(tmp_path / "second", wired(GOOD["an output open on purpose"])))
    assert goals == ["libVtop.a"]


def test_a_model_is_compiled_where_no_program_is_called_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("python", "python3"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 126\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    compile_model(job(tmp_path / "model", wired(GOOD["every pin"])))
    assert (tmp_path / "model" / "obj" / "libVtop.a").is_file()


def test_waves_of_a_block_bench_contain_all_of_its_signals(tmp_path: Path) -> None:
    bench = replace(job(tmp_path, Design("myri_fifo")), waves=True)
    assert str(UNTRACED) not in verilator_flags(bench, "Vtop")
    assert str(UNTRACED) in verilator_flags(replace(bench, clocked=True), "Vtop")


def test_an_unknown_simulator_is_rejected() -> None:
    with pytest.raises(ToolError, match="unknown simulator 'verilater': SIM names the simulator; did you mean"):
        build(wired(GOOD["every pin"]), "verilater")
