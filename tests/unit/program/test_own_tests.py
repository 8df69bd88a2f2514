"""The results of mpi4py's own tests are counted. Strategy: output lines as unittest prints them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tb.program.mpi import own_tests
from tb.program.mpi.own_tests import counts, judged, main, together

PAGE = Path(own_tests.__file__).parent


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Ran 102 tests in 0.012s\n\nOK\n", {"passed": 102}),
        ("Ran 10 tests in 1s\n\nOK (skipped=3)\n", {"passed": 7, "skipped": 3}),
        ("Ran 9 tests in 1s\n\nFAILED (failures=2, errors=1)\n", {"passed": 6, "failures": 2, "errors": 1}),
        ("testA ... ok\n", None),
        ("Ran 0 tests in 0.000s\n\nOK\n", None),
    ],
)
def test_tests_are_counted_by_how_they_ended(said: str, found: dict[str, int] | None) -> None:
    assert counts(said) == found


@pytest.mark.parametrize(
    ("ranks", "found"),
    [
        ([{"passed": 9}, {"passed": 9}], {"passed": 9}),
        ([{"passed": 9}, {"passed": 8, "failures": 1}], {"passed": 8, "failures": 1}),
        ([{"passed": 8, "skipped": 1}, {"passed": 7, "errors": 2}], {"passed": 6, "skipped": 1, "errors": 2}),
        ([{"passed": 9}, {"passed": 8}], None),
        ([{"passed": 9}, None], None),
    ],
)
def test_a_test_has_passed_if_it_passed_on_every_rank(
    ranks: list[dict[str, int] | None], found: dict[str, int] | None
) -> None:
    assert together(ranks) == found


@pytest.mark.parametrize(
    ("found", "code", "judgement"),
    [
        ({"passed": 9}, 0, {"passed": 9}),
        ({"passed": 8, "failures": 1}, 1, {"passed": 8, "failures": 1}),
        ({"passed": 9}, 1, {"passed": 9, "run ended with code 1": 1}),
        (None, 0, {"not finished": 1}),
    ],
)
def test_a_failed_run_is_a_failure_whatever_its_tests_report(
    found: dict[str, int] | None, code: int, judgement: dict[str, int]
) -> None:
    assert judged(found, code) == judgement


@pytest.mark.parametrize(("said", "code"), [("Ran 3 tests in 1s", 0), ("", 1)])
def test_counts_combine_all_ranks_and_are_recorded(
    said: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ran(words: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        (out,) = (Path(word.removeprefix("--out=")) for word in words if word.startswith("--out="))
        out.mkdir(parents=True)
        for rank in range(3):
            (out / f"program-{rank}.txt").write_text("Ran 3 tests in 1s" if rank < 2 else said, encoding="utf-8")
        assert "ranks=3 mpi.on=via" in words[4] and "--cluster=four_hosts" in words
        return subprocess.CompletedProcess(words, 0)

    monkeypatch.setattr(own_tests, "FOLDER", tmp_path)
    monkeypatch.setattr(own_tests, "tests", lambda: tmp_path)
    monkeypatch.setattr(subprocess, "run", ran)
    (tmp_path / "kept.json").write_text('{"2 ranks over grim": {}}', encoding="utf-8")
    words = ["--ranks", "3", "--on", "via", "--cluster", "four_hosts", "--record"]
    assert main([*words, str(tmp_path / "kept.json"), "test_a"]) == code
    found = {"passed": 3} if not code else {"not finished": 1}
    kept = json.loads((tmp_path / "kept.json").read_text(encoding="utf-8"))
    assert kept["3 ranks over via"]["modules"] == {"test_a": found} and kept["3 ranks over via"]["all"] == found
    assert "2 ranks over grim" in kept and capsys.readouterr().out.startswith("test_a: ")


def test_a_run_that_was_rejected_is_not_counted_by_files_of_an_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / "runs" / "test_a" / "program-0.txt"
    left.parent.mkdir(parents=True)
    left.write_text("Ran 3 tests in 1s", encoding="utf-8")
    monkeypatch.setattr(own_tests, "FOLDER", tmp_path)
    monkeypatch.setattr(subprocess, "run", lambda words, **_: subprocess.CompletedProcess(words, 2))
    how = own_tests.arguments(["--ranks", "1"])
    assert own_tests.run("test_a", tmp_path, how) == {"not finished": 1}


def test_the_page_has_the_last_counts() -> None:
    page = (PAGE / "README.md").read_text(encoding="utf-8")
    for how, kept in json.loads((PAGE / "own_tests.json").read_text(encoding="utf-8")).items():
        ranks, _, on = how.partition(" ranks over ")
        row = f"| {ranks} | `{on}` | {kept['all']['passed']} | {kept['all'].get('skipped', 0)} |"
        assert row in page and not kept["all"].keys() - {"passed", "skipped"}, row
