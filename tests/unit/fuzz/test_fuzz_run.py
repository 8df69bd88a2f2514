"""Command line of `make fuzz`.

Strategy: the real Dask and the real command run on a local cluster, with a batch function of the test that fails for
given seeds. An invented program fails and is shrunk by hypothesis. One real batch runs in its own process. Invalid
arguments are rejected before the run.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import inf
from pathlib import Path

import pytest

from tb.fuzz import batch, known, reach, run, trial
from tb.fuzz.batch import Batch, Found
from tb.fuzz.known import Known
from tb.fuzz.program import Act, Program
from tb.fuzz.trial import Trial
from tb.run.simulate import Outcome
from tb.sweep import farm
from tb.sweep.work import Done
from tb.tools.paths import ROOT

FAILING: dict[int, str] = {}
"""Failures by seed."""
RAN: list[Batch] = []


def made_up(given: Batch) -> Done:
    """Run a batch without a machine."""
    RAN.append(given)
    seeds = range(given.first, given.first + given.count)
    return Done(Found({seed: [FAILING[seed]] for seed in seeds if seed in FAILING}).text())


@pytest.fixture(autouse=True)
def fixture_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reset failures and runs."""
    FAILING.clear()
    RAN.clear()
    monkeypatch.setattr(run, "run_batch", made_up)


def fuzz(*words: str) -> int:
    return run.main(["--layer", "grim", "--workers", "2", *words])


def test_all_seeds_run_once_in_batches(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--seeds", "100..229") == 0
    assert sorted((one.first, one.count) for one in RAN) == [(100, 100), (200, 30)]
    said = capsys.readouterr().out
    assert "grim: seeds 100..229 on the machine" in said
    assert re.search(r"seeds +130", said)
    assert re.search(r"failed +0", said)


def test_pauses_profile_and_monitors_reach_each_batch_and_the_command_that_runs_a_seed_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    FAILING[100] = "node 1 lost message 9"
    given = ["--pauses", "20", "--seeds", "100..130", "--on", "rtl", "--profile", "lanai4", "--monitors", "pci,sram"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "SHRUNK", 0)
        assert fuzz(*given) == 1
    assert {(one.pauses_us, one.profile, one.monitors) for one in RAN} == {(20, "lanai4", "pci,sram")}
    said = capsys.readouterr().out
    assert "reproduce: make fuzz LAYER=grim SEEDS=100..100 ON=rtl PAUSES=20 PROFILE=lanai4 MONITORS=pci,sram" in said
    assert re.search(r" after \d+ ps", said.split("program:")[1])


def test_new_seeds_are_fresh_and_reported(capsys: pytest.CaptureFixture[str]) -> None:
    begins = set()
    for _ in range(3):
        assert fuzz("--seeds", "7") == 0
        told = re.search(r"grim: seeds (\d+)\.\.(\d+)", capsys.readouterr().out)
        assert told
        assert int(told[2]) - int(told[1]) == 6
        begins.add(told[1])
    assert len(begins) == 3


def test_without_a_layer_all_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["--seeds", "1..2"]) == 0
    assert {one.layer for one in RAN} == set(trial.names()) >= {"grim", "via"}


def test_failure_is_shrunk_and_reported_with_its_reproducing_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(layer: str, program: Program) -> Trial:
        many = [act for act in program.acts if act.name == "send"]
        return Trial(program, (f"node 1 lost message {len(many)}",) if many else ())

    monkeypatch.setattr(trial, "on_machine", fails)
    monkeypatch.setattr(run, "MACHINE_SECONDS", inf)
    drawn = {seed: trial.drawn("grim", seed) for seed in range(20)}
    failing = [seed for seed, (program, _) in drawn.items() if fails("grim", program).failures]
    seed = min(failing, key=lambda seed: len(drawn[seed][1]))  # the shortest is shrunk soonest
    FAILING.update({seed: "node 1 lost message 9", seed + 1: "node 2 lost message 3"})
    assert fuzz("--seeds", f"{seed}..{seed + 1}") == 1
    said = capsys.readouterr().out
    assert f"2 seeds: {seed}, {seed + 1}; reproduce: make fuzz LAYER=grim SEEDS={seed}..{seed}" in said
    shrunk = said.split("shrunk to:")[1]
    assert [line.split(":")[1].split()[0] for line in shrunk.splitlines() if "node 0:" in line] == ["send"]
    assert "2 nodes, lanai9" in shrunk


def test_known_failure_is_reported_as_known(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in (known, run):
        monkeypatch.setattr(module, "KNOWN", (Known("grim", "lost message", "a reason"),))
    FAILING[3] = "node 1 lost message 9"
    assert fuzz("--seeds", "1..9") == 0
    assert re.search(r"known: lost message +1", capsys.readouterr().out)


def test_interrupt_reports_the_findings(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stopped(dask: object, batches: list[Batch], ended: object, work: object) -> None:
        ended(batches[0], Done(Found({100: ["node 1 lost message 9"]}).text()), False)  # type: ignore[operator]
        raise KeyboardInterrupt

    monkeypatch.setattr(farm, "run", stopped)
    assert fuzz("--seeds", "100..299") == 130
    ended = capsys.readouterr()
    assert "node 1 lost message 9" in ended.out
    assert re.search(r"seeds +100", ended.out)
    assert "interrupted" in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--layer", "grimm"], "unknown layer 'grimm'"),
        (["--on", "paper"], "unknown place 'paper'"),
        (["--layer", "cards"], "cards does not run on the machine"),
        (["--sim", "icaros"], "unknown simulator 'icaros'"),
        (["--seeds", "many"], "SEEDS is 'many'"),
        (["--seeds", "0"], "SEEDS is '0'"),
        (["--seeds", "9..3"], "SEEDS is '9..3'"),
        (["--seeds", "1..9999999999"], "SEEDS is '1..9999999999'"),
        (["--workers", "none"], "WORKERS is 'none'"),
        (["--pauses", "long"], "PAUSES is 'long'"),
        (["--pauses", "1001"], "PAUSES is '1001'"),
        (["--layer", "mpi", "--pauses", "20"], "programs of mpi have no pauses"),
        (["--profile", "lanai4"], "the machine has no hardware profile"),
        (["--monitors", "pci"], "the machine has no monitors"),
        (["--on", "rtl", "--monitors", "pcj"], "unknown kind of monitor 'pcj'"),
        (["--on", "rtl", "--layer", "hal", "--monitors", "sram"], "the NICs of this profile have no monitor of their"),
        (["--on", "rtl", "--profile", "lanai5"], "unknown profile: 'lanai5'"),
        (["--on", "rtl", "--layer", "am", "--profile", "sp"], "am does not run on the NIC 'sp'"),
        (["--on", "rtl", "--layer", "hal", "--profile", "lanai4"], "hal runs with 'sp+ppc604-332' alone"),
    ],
)
def test_invalid_arguments_of_fuzz_are_rejected(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run.main(words) == 2
    assert said in capsys.readouterr().err
    assert RAN == []


def test_a_layer_whose_nics_lack_a_kind_of_monitor_runs_without_it() -> None:
    found = {
        one.layer: one.monitors for one in run.chosen("", "1..1", "rtl", "verilator", monitors="pci,doorbell,sram")
    }
    assert (found["grim"], found["hal"]) == ("pci,doorbell,sram", "pci")


def test_batch_runs_in_its_own_process_and_records_its_coverage() -> None:
    done = batch.run_batch(Batch("grim", 1, 2, covered=True))
    assert done.failures == ()
    found = Found.read(done.results)
    assert found.failures == {}
    assert "firmware/grim/nic/sending.py" in found.arcs
    totals = reach.covered(found.arcs, "grim")["totals"]
    assert 0.3 < totals["covered_lines"] / totals["num_statements"] < 1
    assert 0.2 < totals["covered_branches"] / totals["num_branches"] < 1


def test_lines_executed_at_import_are_not_reported_as_missing() -> None:
    """Import the firmware before recording begins."""
    path = "firmware/grim/nic/retries.py"
    text = (ROOT / path).read_text(encoding="utf-8").splitlines()
    missing = {text[line - 1].split()[0] for line in reach.covered({path: []}, "grim")["files"][path]["missing_lines"]}
    assert missing
    assert not missing & {"from", "class", "def", "async"}


def test_each_uncovered_line_and_branch_is_reported() -> None:
    path = "firmware/grim/nic/retries.py"
    file = reach.covered({path: [(-1, 1)]}, "grim")["files"][path]
    lines = sorted(file["executed_lines"] + file["missing_lines"])
    asks = next(
        n for n, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1) if "if await" in line
    )
    straight = [(-1, lines[0]), *pairwise(lines), (lines[-1], -1)]
    past = [(asks, asks + 2), *(one for one in straight if asks + 1 not in one)]

    def told(*several: reach.Arcs) -> str | None:
        return dict(reach.rows(reach.together(several), "grim")).get("  retries.py")

    assert told({path: straight}) == f"{asks} to {asks + 2}"
    assert told({path: past}) == str(asks + 1)
    assert told({path: straight}, {path: past}) is None


def test_crashed_batch_reports_its_cause(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(batch, "ROOT", tmp_path)
    assert batch.run_batch(Batch("grim", 1, 1)).failures[0].startswith("seeds from 1: ")


def test_failure_of_a_run_outside_of_its_seeds_is_not_lost(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for failures, seeds in ((["AttributeError: no seed"], None), (["seed 3: wrong"], {3: ["wrong"]}), ([], {})):
        outcome = Outcome(not failures, 1, failures, tmp_path)
        monkeypatch.setattr(batch, "simulated", lambda *given, outcome=outcome: outcome)
        done = batch.run_batch(Batch("cards", 3, 1, "verilator"))
        if seeds is None:
            assert done.failures == tuple(failures)
        else:
            assert Found.read(done.results).failures == seeds


def test_acts_read_as_sentences() -> None:
    assert str(Act(2, "send", {"to": 1, "bytes": 7}, task=1)) == "node 2+: send to=1 bytes=7"
    assert str(Act(0, "stop", {"us": 3}, who="link")) == "link 0: stop us=3"
