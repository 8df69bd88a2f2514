"""Provenance of a result: commits of the roots, versions, effective settings, and the places that show them.

Strategy: git makes repositories in folders of the test, each in one state. A plan is made without a simulator; its
settings are compared with the requested ones. The report's page is searched for all of them.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from pymodels.roots import TREE
from tb.plan import provenance, studies
from tb.plan.request import Plan, Request, plan, resolve
from tb.report.page import write_page
from tb.sweep.points import spread
from tb.tools.paths import SIMULATORS
from tests.unit.report.madeup import Question, results


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, encoding="utf-8", check=True)
    return done.stdout.strip()


@pytest.fixture(name="repository")
def fixture_repository(tmp_path: Path) -> Path:
    """Make a repository with one commit of `root/study.py`."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "study.py").write_text("1\n", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("ignored\n", encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "one")
    return tmp_path


def test_a_clean_root_has_the_commit_of_its_repository(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = git(repository, "rev-parse", "HEAD")
    assert len(head) == 40 and provenance.commit(repository / "root") == provenance.commit(repository) == head
    (repository / "notes").touch()
    assert provenance.commit(repository / "root") == head, "what is beside the root does not count"
    monkeypatch.setenv("GIT_DIR", str(repository / "elsewhere"))
    assert provenance.commit(repository / "root") == head, "variables of a hook do not count"


@pytest.mark.parametrize("name", ["study.py", "new.py"])
def test_a_changed_or_new_file_marks_the_commit(repository: Path, name: str) -> None:
    (repository / "root" / name).write_text("2\n", encoding="utf-8")
    assert provenance.commit(repository / "root") == git(repository, "rev-parse", "HEAD") + "+changes"


def test_a_folder_outside_of_git_has_no_commit(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = repository / "ignored" / "site-packages"
    installed.mkdir(parents=True)
    assert provenance.commit(installed) == "unknown", "the repository around an installed wheel is not its own"
    monkeypatch.setenv("PATH", "")
    assert provenance.commit(repository / "root") == "unknown"


def test_every_root_has_its_commit_by_name(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "roots", lambda: (TREE, repository / "root", repository / "ignored" / "root"))
    provenance.commits.cache_clear()
    try:
        assert list(provenance.commits()) == ["sanlab", "root", "root'"]
        assert provenance.commits() is provenance.commits(), "git is not asked once more for each point of a sweep"
    finally:
        provenance.commits.cache_clear()


def test_versions_are_those_of_the_checkout_or_of_the_installed_package(monkeypatch: pytest.MonkeyPatch) -> None:
    found = provenance.versions("Verilator 5")
    assert found.keys() == {"sanlab", "python", "cocotb", "numpy", "simulator"} and "unknown" not in found.values()
    monkeypatch.setattr(provenance, "TREE", Path("/nowhere"))
    monkeypatch.setattr("importlib.metadata.version", lambda name: f"installed {name}")
    provenance.own_version.cache_clear()
    assert provenance.own_version() == "installed sanlab"
    provenance.own_version.cache_clear()


def planned(settings: str, study: str = "echo_pingpong", profile: str = "") -> Plan:
    return plan(resolve(study, "verilator", "1", False, "", profile, settings, SIMULATORS), studies.load(study))


def test_settings_in_force_are_those_of_profile_study_run_and_faults() -> None:
    understood = planned("repetitions=3 switch.fall_through_ns=700 fault.loss=0.5")
    found = understood.settings
    assert (found["repetitions"], found["switch.fall_through_ns"], found["fault.loss"]) == (3, 700, 0.5)
    assert found["run.always_on"] == 0 and found["nic.firmware"] == "python", "also what was not given"
    assert understood.profile.values.keys() | understood.options.keys() == found.keys()
    assert list(found) == sorted(found)
    assert understood.given == ("fault.loss", "repetitions", "switch.fall_through_ns")


@pytest.mark.parametrize(
    ("settings", "study", "profile", "mode"),
    [
        ("", "echo_pingpong", "", "python"),
        ("nic.firmware=c", "echo_pingpong", "", "c"),
        ("nic.firmware=c,python", "echo_pingpong", "", "c,python"),
        ("", "fifo_pingpong", "fifo", "none"),
    ],
)
def test_the_firmware_mode_is_recorded_by_host(settings: str, study: str, profile: str, mode: str) -> None:
    assert planned(settings, study, profile).firmware == mode


def test_commits_are_part_of_the_request_and_of_each_point(tmp_path: Path) -> None:
    base = replace(planned("").request, commits={"sanlab": "abc"})
    base.save(tmp_path / "request.json")
    assert Request.load(tmp_path / "request.json").commits == {"sanlab": "abc"}
    one, other = (
        spread(replace(base, commits={"sanlab": commit}), studies.load("echo_pingpong"), [{"seed": "1"}])[0]
        for commit in ("abc", "def")
    )
    assert one.request(tmp_path).commits == {"sanlab": "abc"}
    assert one.key == other.key, "a point follows from its sources, which the key holds, not from their commit"


def test_the_report_shows_all_inputs_of_a_result(tmp_path: Path) -> None:
    settings: dict[str, float | str] = {"link.slack": 80, "size": 64, "name": "a <b>"}
    found = replace(results({"x": 1.0}), settings=settings, given=("size",), firmware="c", wall_begun="2001-02-03")
    found = replace(found, versions={"numpy": "2.9"}, commits={"sanlab": "abc+changes"})
    page = write_page(tmp_path, Question(), found, []).read_text(encoding="utf-8")
    for text in ("size=64", "3 settings in force, 1 given", "link.slack", "a &lt;b&gt;", "2.9", "abc+changes"):
        assert text in page
    assert page.index("<td>size</td>") < page.index("<td>link.slack</td>"), "those that were given stand first"
