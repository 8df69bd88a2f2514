"""Layers of another repository on top of GRIM or VIA, on the RTL, with one command as for layers of this tree.

Strategy: the repository is written to a folder and named by SANLAB_PATH. Two layers share one GRIM, on both simulators
with equal results; their stages, costs and fields are found in the output of the run. One layer uses VIA instead.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pymodels.results import differences, read_results
from tb.tools.paths import ROOT, SIMULATORS
from tests.unit.layers.madeup_layers import write

Ended = subprocess.CompletedProcess[str]


@pytest.fixture(name="root", scope="module")
def fixture_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the repository."""
    return write(tmp_path_factory.mktemp("layers"))


def run(root: Path, study: str, simulator: str, settings: str = "") -> Ended:
    """Run the command; its results are in a folder named by simulator and study."""
    words = ["tb.run", f"--sim={simulator}", f"--out={root / simulator / study}", f"--set={settings}", "--", study]
    command, env = [sys.executable, "-m", *words], {**os.environ, "SANLAB_PATH": str(root)}
    return subprocess.run(command, cwd=ROOT, env=env, encoding="utf-8", capture_output=True, check=False)


def test_two_layers_share_one_grim_equally_on_both_simulators(root: Path) -> None:
    folders = [root / simulator / "two_layers" for simulator in SIMULATORS]
    for simulator in SIMULATORS:
        ended = run(root, "two_layers", simulator)
        assert ended.returncode == 0, ended.stdout + ended.stderr
    one, other = (read_results(folder / "results.json") for folder in folders)
    assert differences(one, other, same_simulator=False) == []
    assert (one.metrics["total"], one.metrics["kept_bytes"]) == (5, 10)
    legend = json.loads((folders[0] / "legend.json").read_text(encoding="utf-8"))
    assert legend["layers"] == ["grim", "notes", "tally"]
    assert {"notes/host:number_note", "notes/host:take_note", "tally/host:add_up"} <= set(legend["paths"])
    assert "tally/host:check_up" in legend["paths"], "it is composed with checks"
    dissector = (folders[0] / "dissector.lua").read_text(encoding="utf-8")
    assert re.search(r'plain_layer\("notes", 0x4e4f, .*"Number" },\n}, above\)', dissector, re.DOTALL)


def test_one_layer_runs_on_via(root: Path) -> None:
    ended = run(root, "one_on_via", "verilator", "notes.on=via")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert read_results(root / "verilator" / "one_on_via" / "results.json").metrics["kept_bytes"] == 10


def test_an_uncompiled_composition_of_the_host_side_is_rejected_before_a_build(root: Path) -> None:
    ended = run(root, "two_layers", "verilator", "tally.checked=2")
    assert ended.returncode == 2
    assert "composition 'checked+twice': is not compiled for tally/host; did you mean 'checked'?" in ended.stderr


def test_layers_that_cannot_run_together_are_rejected_before_a_build(root: Path) -> None:
    ended = run(root, "two_layers", "verilator", "notes.on=via")
    assert ended.returncode == 2
    assert "layer 'grim': the NICs already run 'via', and each runs one program" in ended.stderr
