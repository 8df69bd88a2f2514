"""The environment of a simulator: variables of foreign cocotb runs do not reach a study.

Strategy: `env` runs in place of the simulator, with every kind of foreign variable set; its output is compared.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.build.build import Build
from tb.run import simulate as simulator

FOREIGN = {
    "COCOTB_TEST_FILTER": "mytest",
    "COCOTB_TESTCASE": "mytest",
    "COCOTB_TEST_MODULES": "mymodule",
    "COCOTB_ENABLE_PROFILING": "1",
    "COCOTB_LOG_LEVEL": "TRACE",
    "COCOTB_RANDOM_SEED": "77",
    "COCOTB_RESULTS_RELATIVE_TO": "/",
    "COCOTB_LIST_TESTS": "1",
    "GPI_EXTRA": "/no/such/library.so:entry",
    "GPI_USERS": "/no/such/library.so,entry",
    "PYGPI_USERS": "nothing:here",
    "PYGPI_PYTHON_BIN": "/no/python",
    "RANDOM_SEED": "78",
    "COVERAGE": "1",
    "TESTCASE": "mytest",
}


def environment(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return what a simulator sees when the caller has all foreign variables."""
    for name, value in FOREIGN.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(simulator, "_command", lambda *_: ["env"])
    outcome = simulator.simulate(Build("icarus", tmp_path, "top", cached=True), module, tmp_path / "out", seed=5)
    pairs = (line.partition("=") for line in outcome.log.read_text(encoding="utf-8").splitlines())
    return {name: value for name, _, value in pairs}


def test_cocotb_variables_of_the_caller_do_not_reach_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = environment("tb.run.entry", tmp_path, monkeypatch)
    assert not set(FOREIGN.items()) & set(seen.items())
    assert (seen["COCOTB_RANDOM_SEED"], seen["PYGPI_USERS"]) == ("5", simulator.BEGIN)
    assert seen["COCOTB_TEST_MODULES"] == "tb.run.entry"


def test_a_bench_keeps_test_filters_but_no_variable_that_breaks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = environment("tests.block.test_fifo", tmp_path, monkeypatch)
    kept = {name for name, value in FOREIGN.items() if seen.get(name) == value}
    assert kept == {"COCOTB_TEST_FILTER", "COCOTB_TESTCASE", "COCOTB_LOG_LEVEL"}


def test_the_first_call_of_a_bench_is_set_by_its_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(simulator.FIRST_CALL, "tb.quality.patience:begin")
    assert environment("tests.block.test_fifo", tmp_path, monkeypatch)["PYGPI_USERS"] == "tb.quality.patience:begin"
