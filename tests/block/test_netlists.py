"""A sample of block benches on netlists of their hardware; `make netlist` runs all.

Strategy: small benches run on both kinds of cells, and one with a wrapper on generic cells. A netlist with one
inverted gate fails its bench, and one with a table of a LUT inverted, too.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tb.fpga import netlist_run
from tb.fpga.netlist import replaced
from tb.run import block_bench

SMALL = [("crc8", "icarus"), ("fifo", "icarus"), ("rr_arbiter", "verilator"), ("cdc_fifo", "icarus")]
"""Benches of the sample whose top is the block, each with a simulator."""
SAMPLE = [*((*one, cells) for one in SMALL for cells in ("generic", "ecp5")), ("net_send", "icarus", "generic")]
"""Sample: bench, simulator and cells. `net_send` has a wrapper, and several blocks of hardware."""


@pytest.mark.parametrize(("name", "simulator", "cells"), SAMPLE)
def test_a_bench_passes_on_the_netlist_of_its_block(name: str, simulator: str, cells: str) -> None:
    row = netlist_run.run_one(name, cells, simulator)
    assert row.outcome
    assert row.outcome.passed, row.outcome.failures
    assert row.outcome.tests > 0 and not row.outcome.apart and row.count > 0


@pytest.mark.parametrize(("name", "simulator"), [("fifo", "verilator"), ("crc8", "icarus")])
def test_a_netlist_may_run_on_either_simulator(name: str, simulator: str) -> None:
    assert netlist_run.run_one(name, "generic", simulator).passed


@pytest.mark.parametrize(
    ("cells", "gate", "wrong"),
    [("generic", r"assign ([^=;]+) = ([^;]+);", r"assign \1 = ~(\2);"), ("ecp5", r"\.INIT\(16'h", ".INIT(~16'h")],
)
def test_a_netlist_with_one_wrong_gate_fails_its_bench(cells: str, gate: str, wrong: str, tmp_path: Path) -> None:
    bench = replaced(block_bench.load("crc8"), cells).bench
    texts = dict(bench.design.generated)
    texts["myri_crc8.sv"], changed = re.subn(gate, wrong, texts["myri_crc8.sv"], count=1)
    assert changed == 1
    damaged = replace(bench, design=replace(bench.design, generated=texts))
    outcome = block_bench.run_bench(damaged, "icarus", tmp_path / "run")
    assert outcome.tests and outcome.failures and not outcome.passed
