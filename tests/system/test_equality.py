"""Equal results for equal seeds: on both simulators, with gated and free-running clocks, and in repeated runs.

Strategy: the smallest run of a study, its `TINY`, is made on each simulator with gated clocks (some on Icarus only in
`make test-long`). It is also made with free-running clocks on Verilator, and on Icarus for `echo_pingpong`, the
smallest study that uses every part of the NIC. `results.json` must agree as far as design 8 requires, traces record for
record, packets byte by byte. So must those of 64 hosts, whose clocks fill several words of the main loop. On Verilator
the slow path through its public interface must give the same. A second run on the same simulator may differ in
wall-clock time only, also with the doorway in Python instead of C. The packets are also compared with the sent data.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from firmware.grim.formats import GRIM_ID
from pymodels.results import differences
from tb.plan import studies
from tb.report.packets import FILE
from tb.sim.compiled import COMPILED
from tb.tools.paths import ROOT
from tests.amount import EVERY_CASE
from tests.system.lives import whole_lives
from tests.system.runs import Run, assert_equal, must

SMALL = {name: tiny for name in studies.names() if (tiny := studies.load(name).tiny)}
"""Smallest run of every study that has one."""
ON_VERILATOR = {"am_split_c": "values=64 rows=4 keys=32"}
"""Studies that take long on Icarus."""
LONG_ON_ICARUS = ("epos_mtu", "epos_reliability", "grim_transfer")
"""Studies that take half of the time on Icarus and whose trace events others also record: only in `make test-long`."""
OTHERS = [
    *((study, "icarus", 0) for study in SMALL if EVERY_CASE or study not in LONG_ON_ICARUS),
    *((study, "verilator", 1) for study in (*SMALL, *ON_VERILATOR)),
    ("echo_pingpong", "icarus", 1),
]


def small(study: str, simulator: str, folder: Path, more: str = "") -> Run:
    """Run the smallest run of a study on the cluster that it needs."""
    return must(study, simulator, folder, f"{(SMALL | ON_VERILATOR)[study]} {more}")


@pytest.fixture(name="references", scope="module")
def fixture_references(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """Return the reference runs: Verilator, gated clocks, each made once."""
    return functools.cache(lambda study: small(study, "verilator", tmp_path_factory.mktemp(study)))


@pytest.mark.parametrize(("study", "simulator", "always_on"), OTHERS)
def test_results_and_trace_are_equal(
    references: Callable[[str], Run], study: str, simulator: str, always_on: int, tmp_path: Path
) -> None:
    again = small(study, simulator, tmp_path, f"run.always_on={always_on}")
    assert len(again.trace) > 50, "there is something to compare"
    assert_equal(references(study), again)


def test_64_hosts_have_one_result_asleep_and_always_on(tmp_path: Path) -> None:
    asleep, awake = (
        must("grim_many_hosts", "verilator", tmp_path / f"{on}", f"messages=1 size=0 run.always_on={on}", "clos64")
        for on in (0, 1)
    )
    assert_equal(asleep, awake)


@pytest.mark.parametrize("study", ["grim_pingpong", "fifo_pingpong"])
def test_verilators_public_eval_does_the_same(references: Callable[[str], Run], study: str, tmp_path: Path) -> None:
    again = small(study, "verilator", tmp_path, "run.public_eval=1")
    assert_equal(references(study), again, same_simulator=True)


@pytest.mark.parametrize(("study", "compiled"), [("echo_pingpong", "1"), ("grim_pingpong", "0"), ("host_sharing", "0")])
def test_two_runs_of_one_seed_differ_in_wall_time_only_whether_compiled_or_in_python(
    references: Callable[[str], Run], study: str, compiled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(COMPILED, compiled)
    again = must(study, "verilator", tmp_path, SMALL[study])
    assert_equal(references(study), again, same_simulator=True)


@pytest.mark.parametrize("study", ["echo_pingpong", "fifo_pingpong", "ssam_kernel"])
def test_messages_of_nics_without_trace_are_followed_completely(references: Callable[[str], Run], study: str) -> None:
    lives = whole_lives(references(study))
    assert lives and all(life.arrived is not None for life in lives)


def test_another_seed_changes_the_results(tmp_path: Path) -> None:
    one, other = (
        must("echo_pingpong", "verilator", tmp_path / str(seed), SMALL["echo_pingpong"], seed=seed) for seed in (1, 2)
    )
    assert differences(one.results, other.results)[0] == "seed: 1 != 2"


def test_packets_hold_the_bytes_of_the_wires_twice_over_the_switch(references: Callable[[str], Run]) -> None:
    data = (references("grim_transfer").folder / FILE).read_bytes()
    licence = (ROOT / "LICENSE").read_bytes()
    begins = [match.start() for match in re.finditer(re.escape(licence[:1024]), data)]
    assert len(begins) == 2, "the first kilobyte of the file crosses two cables"
    route, key = data[begins[0] - 33], data[begins[0] - 32 : begins[0] - 30]
    assert (route & 0xC0, key) == (0x80, GRIM_ID.to_bytes(2, "big"))
    assert data[begins[1] - 32 : begins[1] - 30] == key, "the switch has taken the route byte off"
