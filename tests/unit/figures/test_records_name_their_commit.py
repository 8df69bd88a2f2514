"""Records of measured figures: the commit of their sources, and the pages that quote them.

Strategy: the committed records are compared with the checkout, whose git history says what has changed since. In a
made-up repository every kind of change is made once: comments, docstrings and layout do not count, everything else
does. The committed pages must be what the records give.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from pymodels.errors import SanlabError
from pymodels.published import load_published
from pymodels.results import ResultsError, Series
from tb.bench import counts, page
from tb.bench.page import MEANINGS, check_quiet, figures, load_record, with_tables
from tb.figures import quick
from tb.figures.jobs import jobs
from tb.figures.quick import Quick, differing, digest, load_quick, write_quick
from tb.figures.record import load_record as load_today
from tb.plan import studies
from tb.tools.programs import ToolError
from tb.tools.sources import changed_since, follows, head, is_known, untracked
from tests.unit.report.madeup import results


def commits() -> dict[str, str]:
    """Return the commits that committed records name, by a name of the record."""
    today = {f"today.json: {name}": one.commit for name, one in load_today().items()}
    bench = load_record()
    quick_ones = {"quick.json": load_quick().commit} if quick.FILE.exists() else {}
    return {**today, **quick_ones, **({"measured.json": bench["commit"]} if bench else {})}


def test_quick_figures_are_of_the_sources_of_this_checkout() -> None:
    """Ignore a layer that is not committed: it does not change the results of others."""
    changed = set(changed_since(load_quick().commit)) if quick.FILE.exists() else set()
    assert changed - set(untracked()) == set(), f"results may have moved; {quick.REMEDY}"


def test_every_quick_run_is_in_the_record(tmp_path: Path) -> None:
    names = {job.name for job in jobs(studies.names(), load_published(), True, "verilator", tmp_path, [])}
    assert untracked() or not quick.FILE.exists() or names <= set(load_quick().runs), quick.REMEDY


def test_records_name_commits_of_this_history() -> None:
    known = {commit: len(commit) == 40 and is_known(commit) for commit in set(commits().values())}
    assert {name: commit for name, commit in commits().items() if not known[commit]} == {}


def test_page_of_the_bench_quotes_its_records() -> None:
    counted = json.loads(counts.COMMITTED.read_text(encoding="utf-8"))
    text = page.PAGE.read_text(encoding="utf-8")
    assert text == with_tables(text, load_record(), counted), "run `.venv/bin/sanlab bench --write` on a quiet machine"


def test_the_table_of_the_bench_names_commit_and_meaning_of_its_figures() -> None:
    one = {"value": 1234.5, "asked": 1000, "at_least": True, "met": True}
    machine = {"cores": 2, "processor": "x86_64", "python": "3.11"}
    record = {
        "commit": "c" * 40,
        "machine": machine,
        "repeats": 3,
        "scale": 1.0,
        "figures": dict.fromkeys(MEANINGS, one),
    }
    lines = figures(record)
    assert lines[0] == "Commit cccccccc, 2 cores (x86_64), Python 3.11; median of 3 runs at scale 1."
    row = "| `switch_vs_cpp` | the same over a plain C++ harness | 1,234 | at least 1,000 | yes |"
    assert len(lines) == len(MEANINGS) + 4 and row in lines
    with pytest.raises(KeyError, match="unknown"):
        figures({**record, "figures": {"unknown": one}})


def test_a_busy_machine_and_uncommitted_sources_are_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (0.6, 0.0, 0.0))
    with pytest.raises(SanlabError, match=r"the load average of this machine is 0.60; wait until it is below 0.5"):
        check_quiet()
    monkeypatch.setattr(os, "getloadavg", lambda: (0.1, 0.0, 0.0))
    monkeypatch.setattr(page, "changed_since", lambda _: ["hdl/a.sv"])
    with pytest.raises(SanlabError, match=r"hdl/a.sv is not committed; commit first"):
        check_quiet()


@pytest.fixture(name="repository")
def fixture_repository(tmp_path: Path) -> Path:
    """Make a repository with one source of each language, all committed."""
    for name, text in SOURCES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


SOURCES = {
    "firmware/a.py": '"""One."""\nX = 1  # a\n',
    "hdl/b.sv": '// one\nmodule b; /* c */ initial $display("//"); endmodule\n',
    "firmware/c.c": "int c(void) { return 1; }\n",
    "pymodels/d.toml": "# one\na = 1\n",
    "tb/report/e.py": "E = 1\n",
    "README.md": "one\n",
}


def git(where: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(where), *who, *words], check=True, capture_output=True)


def commit(where: Path) -> str:
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", "state")
    return head(where)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("firmware/a.py", '"""Two,\n\nlonger."""\nX = (\n    1\n)\n'),
        ("firmware/a.py", '"""One."""\nX = 1\n"""What X is."""\n'),
        ("hdl/b.sv", 'module b;\n  initial $display("//");\nendmodule // b\n'),
        ("firmware/c.c", "/* returns one */\nint c(void)  { return 1; } // end\n"),
        ("pymodels/d.toml", "a   = 1 # two\n"),
        ("tb/report/e.py", "E = 2\n"),
        ("README.md", "two\n"),
    ],
)
def test_comments_layout_and_files_without_effect_on_results_do_not_count(
    repository: Path, name: str, text: str
) -> None:
    (repository / name).write_text(text, encoding="utf-8")
    assert changed_since("HEAD", repository) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("firmware/a.py", '"""One."""\nX = 2\n'),
        ("firmware/a.py", "X = (\n"),
        ("hdl/b.sv", 'module b; initial $display("/* */"); endmodule\n'),
        ("firmware/c.c", "int c(void) { return 11; }\n"),
        ("pymodels/d.toml", "a = 2\n"),
        ("firmware/new.py", ""),
    ],
)
@pytest.mark.parametrize("committed", [False, True])
def test_a_change_of_meaning_counts(repository: Path, name: str, text: str, committed: bool) -> None:
    before = head(repository)
    (repository / name).write_text(text, encoding="utf-8")
    if committed:
        commit(repository)
    assert changed_since(before, repository) == [name]
    assert is_known(before, repository)


def test_only_new_sources_that_are_not_committed_are_untracked(repository: Path) -> None:
    (repository / "firmware/a.py").write_text("X = 3\n", encoding="utf-8")
    for name in ("firmware/new.py", "firmware/new.md"):
        (repository / name).write_text("", encoding="utf-8")
    assert untracked(repository) == ["firmware/new.py"]
    commit(repository)
    assert untracked(repository) == []


def test_a_removed_source_counts(repository: Path) -> None:
    (repository / "hdl/b.sv").unlink()
    assert changed_since("HEAD", repository) == ["hdl/b.sv"]


def test_an_unknown_commit_and_a_folder_without_git_are_rejected(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert not is_known("0" * 40, repository)
    with pytest.raises(ToolError, match="git diff failed"):
        changed_since("0" * 40, repository)
    with pytest.raises(ToolError, match="git rev-parse failed"):
        head(tmp_path_factory.mktemp("no_git"))


@pytest.mark.parametrize(
    ("name", "counts"),
    [("hdl/nic/a.sv", True), ("tb/bind/host.py", True), ("tb/studies/a.py", True), ("tb/quality/a.py", False),
     ("tb/figures/today.json", False), ("pymodels/published.toml", False)],
)  # fmt: skip
def test_results_depend_on_hardware_models_firmware_and_studies(name: str, counts: bool) -> None:
    assert follows(name) == counts


def test_digest_ignores_wall_times_and_the_last_digits() -> None:
    one = digest(results({"a_us": 1.0, "wall_s": 2.0}))
    assert one == digest(results({"a_us": 1.0 + 1e-12, "wall_s": 3.0}, wall_s=9.0))
    assert one != digest(results({"a_us": 1.0 + 1e-6, "wall_s": 2.0}))
    curve = Series((1.0,), (2.0,), "B", "us")
    assert digest(results({}, {"c": curve})) != digest(results({}, {"c": Series((1.0,), (2.5,), "B", "us")}))


def test_runs_that_differ_from_the_record_are_listed() -> None:
    record = Quick("c", {"a": "1", "b": "2", "gone": "3"})
    assert differing({"b": "9", "a": "1", "new": "4"}, record) == ["b", "new"]


def test_the_quick_record_keeps_runs_of_programs_that_are_missing_here(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quick, "head", lambda: head(repository))
    monkeypatch.setattr(quick, "changed_since", lambda commit: changed_since(commit, repository))
    file = tmp_path / "quick.json"
    write_quick({"a": "1", "netpipe": "2", "old": "3"}, [], file)
    write_quick({"a": "4"}, ["netpipe"], file)
    assert load_quick(file) == Quick(head(repository), {"a": "4", "netpipe": "2"})
    (repository / "firmware/a.py").write_text("X = 3\n", encoding="utf-8")
    with pytest.raises(ResultsError, match=r"firmware/a.py differs from commit .*; commit first"):
        write_quick({"a": "5"}, [], file)


def test_a_missing_record_names_the_commands_that_make_it(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="make figures QUICK=1"):
        load_quick(tmp_path / "quick.json")
