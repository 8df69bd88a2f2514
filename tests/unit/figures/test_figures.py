"""`make figures`: every study and every profile with published values has its run, once, and its place on the page.

Strategy: the jobs of the real studies are listed, not run: the study must take their quick settings. The runner starts
a made-up program in place of `tb.run`, which leaves results, fails, or waits. Its arguments, the runs that are
repeated, the page and the exit code are compared.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pymodels.published import load_published
from tb.figures import run
from tb.figures.gallery import write_gallery
from tb.figures.jobs import Job, jobs
from tb.figures.run import Runner, run_all
from tb.plan import studies
from tb.tools.paths import ROOT
from tests.patience import wait_for

PROGRAM = """
import json, pathlib, sys
sys.path.insert(0, {root!r})
from pymodels.results import write_results
from tests.unit.report.madeup import results
out = next(pathlib.Path(word[6:]) for word in sys.argv if word.startswith("--out="))
out.mkdir(parents=True, exist_ok=True)
with (out / "calls").open("a") as file:
    file.write("called\\n")
how = (out.parent / "how").read_text() if (out.parent / "how").exists() else ""
if how == "refuse":
    sys.exit("SET: wrong; correct it")
if how == "wait":
    import time
    time.sleep(120)
write_results(results({{"x": 1.0}}), out / "results.json")
(out / "failures.txt").write_text("it broke\\n" if how == "fail" else "")
sys.exit(1 if how == "fail" else 0)
"""


@pytest.fixture(autouse=True)
def fixture_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program in place of `python -m tb.run`: it takes the same arguments and leaves prescribed files."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(root=str(ROOT)), encoding="utf-8")
    real: Any = subprocess.Popen

    def popen(command: list[str], **options: object) -> object:
        return real([sys.executable, str(program), *command[3:]], **options)

    monkeypatch.setattr(subprocess, "Popen", popen)


def one(tmp_path: Path, quick: bool = True) -> Job:
    return jobs(["echo_pingpong"], (), quick, "icarus", tmp_path)[0]


def test_every_study_and_every_published_profile_has_a_job(tmp_path: Path) -> None:
    found = jobs(studies.names(), load_published(), True, "verilator", tmp_path)
    names = [job.name for job in found]
    assert len(set(names)) == len(names)
    assert set(studies.names()) <= set(names)
    assert {"basic_costs-lanai4+p2-300", "basic_costs-sp+p3-450"} <= set(names)
    assert {"vibe", "vibe-bvia2-lanai4"} <= set(names), "each variant of a study"
    (berkeley,) = (job for job in found if job.name == "vibe-bvia2-lanai4")
    assert berkeley.request.profile_name == "lanai4" and berkeley.request.settings["via.preset"] == "bvia2"
    assert berkeley.request.settings["rounds"] == "2", "the quick settings hold for it too"
    assert not any(name.startswith("grim_pingpong-lanai9+p3-450") for name in names)


def test_the_profile_of_a_variant_is_not_run_again(tmp_path: Path) -> None:
    found = {job.name: job for job in jobs(["mpi_latency"], load_published(), False, "verilator", tmp_path)}
    assert list(found) == ["mpi_latency", "mpi_latency-ppc604"]
    assert found["mpi_latency-ppc604"].request.profile_name == "sp+ppc604-332"


def test_quick_settings_override_those_of_a_variant(tmp_path: Path) -> None:
    jobs_of_it = jobs(["mpi_bandwidth"], load_published(), True, "verilator", tmp_path)
    assert jobs_of_it[-1].request.settings == {"messages": "4", "largest": "1024"}


def test_quick_settings_are_those_of_the_study(tmp_path: Path) -> None:
    quick, slow = (jobs(["grim_streaming"], (), way, "icarus", tmp_path)[0] for way in (True, False))
    assert "--set=messages=200 run.stuck_waves=0" in quick.words()
    assert "--set=run.stuck_waves=0" in slow.words()
    assert quick.words()[-2:] == ["--", "grim_streaming"]
    assert quick.key != slow.key


def test_known_runs_are_not_repeated(tmp_path: Path) -> None:
    job = one(tmp_path)
    first, second = Runner().run(job), Runner().run(job)
    assert (first.known, second.known, second.failures) == (False, True, ())
    (tmp_path / job.name / "results.json").unlink()
    assert not Runner().run(job).known
    assert (tmp_path / job.name / "calls").read_text(encoding="utf-8") == "called\n" * 2


@pytest.mark.parametrize(("how", "said"), [("fail", "it broke"), ("refuse", "SET: wrong; correct it")])
def test_a_failed_run_is_reported_and_repeated(how: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "how").write_text(how, encoding="utf-8")
    job = one(tmp_path)
    for ended in (Runner().run(job), Runner().run(job)):
        assert (ended.failures, ended.known) == ((said,), False)
        assert (ended.results is None) == (how == "refuse")


def test_the_page_is_written_and_the_exit_code_shows_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["echo_pingpong", "grim_streaming"]
    monkeypatch.setattr(studies, "names", lambda: names)
    assert run.main(["--quick", "--sim=icarus", "--out", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert all(f'href="{name}/report.html"' in page for name in names)
    assert "figures: " in capsys.readouterr().out
    (tmp_path / "out" / "how").write_text("fail", encoding="utf-8")
    assert run.main(["--sim=icarus", "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().out
    assert "failed: grim_streaming: it broke" in said
    assert "failed: echo_pingpong" not in said  # no quick settings: same settings as the run before


def test_a_page_with_the_progress_exists_while_studies_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies, "names", lambda: ["echo_pingpong", "grim_streaming"])
    monkeypatch.setattr(run, "REFRESH_S", 0)
    pages: list[str] = []

    def noted(*words: object) -> Path:
        path = write_gallery(*words)  # type: ignore[arg-type]
        pages.append(path.read_text(encoding="utf-8"))
        return path

    monkeypatch.setattr(run, "write_gallery", noted)
    assert run.main(["--quick", "--sim=icarus", "--out", str(tmp_path / "out")]) == 0
    assert "running: 0 of 2 runs have ended" in pages[0]
    assert "running: 1 of 2 runs have ended" in "".join(pages)
    assert "running" not in pages[-1] and "refresh" not in pages[-1]


def test_an_interrupt_ends_running_studies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "how").write_text("wait", encoding="utf-8")

    def interrupted(futures: object) -> object:
        wait_for((tmp_path / "echo_pingpong" / "calls").exists, "the program to begin")
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "as_completed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_all([one(tmp_path)], Console(quiet=True), lambda ended: None)
    assert not (tmp_path / "echo_pingpong" / "results.json").exists(), "it was not waited for until its end"


def test_a_variant_without_its_program_is_skipped_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    skipped: list[str] = []
    assert [job.name for job in jobs(["program"], (), False, "icarus", tmp_path, skipped)] == ["program"]
    assert [line.partition(":")[0] for line in skipped] == ["program-netpipe-lanai9", "program-netpipe-sp"]
    assert all(line.endswith("; apt-get install netpipe-mpich2") for line in skipped)
    (tmp_path / "NPmpich2").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "NPmpich2").chmod(0o755)
    assert len(jobs(["program"], (), False, "icarus", tmp_path, skipped)) == 3
