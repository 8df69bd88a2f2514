"""A study as a cocotb test has the results and the trace of the same study as a run.

Strategy: the smallest run of a study is made both ways, and compared as between two simulators. A ping-pong that cocotb
tasks drive is compared with the study that does the same in the kernel.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tb.cocotb_test.run import run
from tb.monitors.table import FILE
from tb.plan import studies
from tests.amount import EVERY_CASE
from tests.system.runs import Run, assert_equal, must

STUDIES = (
    "am2_events",
    "am2_reliability",
    "am_interrupt",
    "am_put_get",
    "echo_pingpong",
    "epos_active",
    "fifo_pingpong",
    "firmvia_latency",
    "grim_many_hosts",
    "grim_pingpong",
    "host_sharing",
    "mpi_pingpong",
    "ssam_kernel",
)
ALSO_ON_ICARUS = STUDIES if EVERY_CASE else ("echo_pingpong", "grim_pingpong")
TEST = """import cocotb
from tb.sanlab.cocotb import start

CLUSTER = {cluster!r}
PUBLIC = {public!r}
MONITORS = {monitors!r}


@cocotb.test()
async def study(dut):
    cluster = await start(dut, study={study!r}, settings={settings!r})
    await cluster.run()
"""


def as_test(study: str, simulator: str, folder: Path, public: list[str], monitors: str = "") -> Run:
    """Run the smallest run of a study as a cocotb test that must pass."""
    info = studies.load(study)
    given = dict(word.split("=") for word in info.tiny.split())
    settings = {"run.hang_us": "1000000", "run.always_on": "0", **given}
    names = {"cluster": info.cluster or "", "public": public, "monitors": monitors}
    file = folder / "test_study.py"
    file.write_text(TEST.format(study=study, settings=settings, **names), encoding="utf-8")
    done = run(file, "study", simulator, out=folder / "out")
    assert done.passed, done.failures
    return Run(done.passed, done.failures, folder / "out")


def as_study(study: str, simulator: str, folder: Path) -> Run:
    """Run the smallest run of a study that must pass."""
    return must(study, simulator, folder, studies.load(study).tiny)


@pytest.mark.parametrize(
    ("study", "simulator"), [*((one, "verilator") for one in STUDIES), *((one, "icarus") for one in ALSO_ON_ICARUS)]
)
def test_a_study_has_the_same_results_as_a_cocotb_test(study: str, simulator: str, tmp_path: Path) -> None:
    assert_equal(as_study(study, simulator, tmp_path / "study"), as_test(study, simulator, tmp_path, []))


def test_public_signals_do_not_change_the_results(tmp_path: Path) -> None:
    public = ["*.pci.*", "*.link.*", "*.nic.send.*"]
    plain = as_study("grim_pingpong", "verilator", tmp_path / "study")
    assert_equal(plain, as_test("grim_pingpong", "verilator", tmp_path, public))


@pytest.mark.parametrize("simulator", ["verilator", "icarus"])
def test_monitors_with_all_signals_public_do_not_change_the_results(simulator: str, tmp_path: Path) -> None:
    plain = as_study("grim_pingpong", "verilator", tmp_path / "study")
    done = as_test("grim_pingpong", simulator, tmp_path, ["*"], "pci,dma,link")
    assert_equal(plain, done)
    assert pq.read_table(done.folder / FILE).num_rows > 100
