"""Mutants of Python: their set, their names, and that each is a distinct program.

Strategy: small texts with one construct each are mutated and compared with literal results; all mutants of real files
of the firmware must parse and differ from the file. The tests that run them are listed for every file that can be
mutated. The command is run on a small tree, with a test that detects one mutant and not the other.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from tb.quality import idle, mutate, trying
from tb.quality import mutants as of_modules
from tb.quality.mutants import Mutant
from tb.quality.mutate import changes, main, report
from tb.quality.python_mutants import is_cost, mutants
from tb.quality.reached import part_of
from tb.quality.trying import COVERS, Change, Copy, Tried, covering_tests, covers, equivalent
from tb.tools.paths import ROOT

ONE = {
    "a = b < c": ["a = b <= c"],
    "a = b == c != d": ["a = b != c != d", "a = b == c == d"],
    "a = b not in c": ["a = b in c"],
    "a = (b) + (c)": ["a = (b) - (c)"],
    "a = b << 3": ["a = b << 4", "a = b >> 3"],
    "a = b and c or d": ["a = b and c and d", "a = b or c or d"],
    "a = not b": ["a = b"],
    "a = True": ["a = False"],
    "a.b = c": ["pass"],
    "a[b] = c": ["pass"],
    "a += b": ["pass"],
    "f(a)": ["pass"],
    "if a: pass": ["if (not (a)): pass"],
    "def f(a: int | None) -> str | None: ...": [],
    "'''A text.'''": [],
    "a = f'{b + 1}'": [],
    "a = 'ä' + b": [],
    "a = ä - b": ["a = ä + b"],
}


@pytest.mark.parametrize("text", ONE)
def test_each_mutant_replaces_an_element_by_its_neighbour(text: str) -> None:
    assert sorted(one.apply_to(text) for one in mutants(text)) == sorted(ONE[text])


def test_a_removed_cost_is_recognised() -> None:
    text = 'async def f(nic):\n    await nic.work("scan")\n    await nic.sleep(g)\n'
    found = mutants(text)
    assert [(one.line, is_cost(one)) for one in found] == [(2, True), (3, False)]
    assert found[0].shown == '`await nic.work("scan")` -> `pass` in `await nic.work("scan")`'


def test_mutants_with_equal_descriptions_are_numbered() -> None:
    """Distinguish them by numbers, since a mutant listed as equivalent must excuse no other."""
    assert [one.shown for one in mutants("a = 1 + 1\na = 1 + 1\n") if one.old == "1"] == [
        f"`1` ({number}) -> `2` in `a = 1 + 1`" for number in (1, 2, 3, 4)
    ]
    text = "module one (input logic a);\n  assign b = a && a && d;\n  assign c = a && b;\nendmodule\n"
    assert [(one.line, one.which) for one in of_modules.mutants(text)] == [(2, 1), (2, 2), (3, 0)]


@pytest.mark.parametrize("file", ["firmware/echo/nic/__init__.py", "firmware/common/nic/block_ring.py"])
def test_mutants_of_a_file_parse_and_differ(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    whole, found = ast.dump(ast.parse(text)), mutants(text)
    assert len(found) > 5
    assert all(ast.dump(ast.parse(one.apply_to(text))) != whole for one in found)


def test_each_python_folder_has_covering_tests() -> None:
    for top in ("firmware", "pymodels"):
        for path in sorted((ROOT / top).rglob("*.py")):
            assert covering_tests(path.relative_to(ROOT).as_posix()), path
    for patterns in covers(COVERS).values():
        assert [one for one in patterns if not list(ROOT.glob(one))] == [], COVERS


def test_each_layer_and_each_kind_of_nic_has_tests_of_its_own() -> None:
    named = covers(COVERS)
    for pattern in ("applications/*", "nics/*", "*/host"):
        for path in sorted((ROOT / "firmware").glob(f"{pattern}/__init__.py")):
            own = {f"{folder.relative_to(ROOT).as_posix()}/" for folder in (path.parent, path.parents[1])}
            assert own & named.keys(), "its mutants would run the tests of any other"


def test_mutants_are_reproducible_and_unknown_folders_are_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    assert changes("firmware/echo/nic") == changes("firmware/echo/nic")
    assert main(["firmwere"]) == 2
    assert "unknown folder 'firmwere'" in capsys.readouterr().err
    assert main(["firmware/echo/nic", "none"]) == 2
    assert "N is 'none'" in capsys.readouterr().err


def test_listed_equivalents_exist() -> None:
    for path, shown in equivalent():
        text = (ROOT / path).read_text(encoding="utf-8")
        find = mutants if path.endswith(".py") else of_modules.mutants
        assert shown in {one.shown for one in find(text)}, f"{path}: {shown} is none of its mutants"


def test_mutants_of_clock_enables_are_distinguished() -> None:
    text = """// A block.
module one (input logic a, output logic busy);
  logic b_q;  // not busy = 1
  assign busy =
      a | b_q;
  assign x = busy & a;
endmodule
"""
    found = of_modules.mutants(text)
    assert [one.old for one in found] == ["|", "&"]
    assert [one.old for one in of_modules.of_enables(text, found)] == ["|"]


def test_unused_assignments_and_declarations_have_no_mutants() -> None:
    text = """module one (input logic a);
  localparam logic ZERO = 1'b0;
  logic [3:0] b = 4'd0;
  assign unused_ok = &{1'b0, a && b};
  assign c = !a;
endmodule
"""
    assert [(one.line, one.old) for one in of_modules.mutants(text)] == [(5, "!")]


def test_a_package_that_mentions_modules_has_no_mutants() -> None:
    paths = {one.path for one in changes("hdl/prim")}
    assert "hdl/prim/myri_fifo.sv" in paths and "hdl/prim/myri_sleep_pkg.sv" not in paths


@pytest.fixture(name="tree")
def fixture_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "tree"
    (root / "firmware").mkdir(parents=True)
    (root / "tests").mkdir()
    (root / "firmware" / "__init__.py").write_text("", encoding="utf-8")
    (root / "firmware" / "sums.py").write_text(
        "def total(a, b):\n    return a + b\n\n\ndef most():\n    return 7\n", encoding="utf-8"
    )
    (root / "tests" / "test_sums.py").write_text(
        "from firmware.sums import total\n\n\ndef test_total():\n    assert total(2, 3) == 5\n", encoding="utf-8"
    )
    covers = root / "covers.toml"
    covers.write_text('[python]\n"firmware/" = ["tests/test_*.py"]\n', encoding="utf-8")
    for name, value in {
        "ROOT": root,
        "COVERS": covers,
        "OUT": tmp_path / "out",
        "TREE": ("firmware", "tests", "README.md"),
    }.items():
        monkeypatch.setattr(trying, name, value)
        monkeypatch.setattr(mutate, name, value, raising=False)
    monkeypatch.setattr(mutate, "LEFT", tmp_path / "out" / "mutants.json")
    monkeypatch.setenv("SANLAB_BUILDS", str(tmp_path / "builds"))
    return root


def test_a_detected_mutant_is_killed_another_survives_and_the_tree_is_unchanged(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (tree / "firmware" / "sums.py").read_text(encoding="utf-8")
    assert main(["firmware", "9", "--workers", "1"]) == 1
    told = capsys.readouterr().out
    assert "survived (0 tests): firmware/sums.py:6: `7` -> `8` in `return 7`" in told
    assert told.count("survived (") == 1
    assert "2 mutants of 2" in told
    assert (tree / "firmware" / "sums.py").read_text(encoding="utf-8") == before
    assert not (tree.parent / "out" / "mutants" / "0").exists()
    left = json.loads((tree.parent / "out" / "mutants.json").read_text(encoding="utf-8"))
    assert sorted(one["outcome"] for one in left) == ["killed", "survived"]


def test_what_a_child_process_executes_is_run_by_all_tests_of_a_file_that_has_its_own(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "covers.toml").write_text('[python]\n"firmware/sums.py" = ["tests/test_*.py"]\n', encoding="utf-8")
    (tree / "tests" / "test_sums.py").write_text(
        "import os\nfrom firmware.sums import most, total\n\n\ndef test_total():\n    assert total(2, 3) == 5\n\n\n"
        "def test_most():\n    child = os.fork()\n    if not child:\n        os._exit(most())\n"
        "    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n",
        encoding="utf-8",
    )
    assert main(["firmware", "9", "--workers", "1"]) == 0
    assert "2 mutants of 2" in capsys.readouterr().out


def test_a_mutant_that_hangs_without_cpu_use_is_ended(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(idle, "IDLE", 3.0)
    monkeypatch.setattr(idle, "LOOK", 0.5)
    (tree / "firmware" / "sums.py").write_text("def most():\n    return 7\n", encoding="utf-8")
    (tree / "tests" / "test_sums.py").write_text(
        "import os\nfrom firmware.sums import most\n\n\ndef test_most():\n    into, out = os.pipe()\n"
        "    os.write(out, bytes(7))\n    assert len(b''.join(os.read(into, 1) for _ in range(most()))) == 7\n",
        encoding="utf-8",
    )
    assert main(["firmware", "--workers", "1"]) == 0
    assert "endless (1 tests): firmware/sums.py:2: `7` -> `8` in `return 7`" in capsys.readouterr().out


def test_a_test_file_is_monitored_once_for_each_content_of_sources_and_file(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched: list[list[str]] = []

    def watch(self: Copy, files: list[str], left: Path) -> None:
        watched.append([Path(file).stem for file in files])
        for file in files:
            (left / part_of(file)).write_text('{"seconds": {}, "lines": {}, "marked": {}}', encoding="utf-8")

    monkeypatch.setattr(Copy, "_watch", watch)
    for name, text in {
        "tests/test_more.py": "def test_more():\n    pass\n",
        "README.md": "A page.\n",
        "tests/test_sums.py": "def test_less():\n    pass\n",
        "firmware/more.py": "ONE = 1\n",
    }.items():
        (tree / name).write_text(text, encoding="utf-8")
        trying._matching.cache_clear()
        assert main(["firmware", "1", "--workers", "1"]) == 1
    assert watched == [["test_more", "test_sums"], ["test_sums"], ["test_more", "test_sums"]]


def test_durations_of_benches_are_measured_again_after_a_change_of_their_inputs(tree: Path, tmp_path: Path) -> None:
    digests: list[str] = []
    for name in ("", "README.md", "tests/unit/test_sums.py", "tests/block/test_sums.py", "firmware/more.py"):
        if name:
            (tree / name).parent.mkdir(exist_ok=True)
            (tree / name).write_text("# Other than before.\n", encoding="utf-8")
        digests.append(Copy(tmp_path / "copy", trying.Without())._of_benches)
    assert digests[0] == digests[1] == digests[2]
    assert len(set(digests[2:])) == 3


def test_tests_of_a_mutant_take_at_most_a_minute_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "MINUTE", 3.0)
    assert list(trying._together({"a": 1.0, "b": 1.5, "c": 2.0, "d": 3.0})) == ["a", "b", "c"]
    assert list(trying._together({"a": 9.0, "b": 9.0})) == ["a"]


def test_options_of_the_caller_for_pytest_do_not_reach_the_tests_of_a_mutant(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    main(["firmware", "--workers", "1"])
    assert "2 mutants of 2" in capsys.readouterr().out


def test_tests_that_fail_without_a_mutant_kill_nothing(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "tests" / "test_sums.py").write_text("def test_total():\n    assert False\n", encoding="utf-8")
    assert main(["firmware", "--workers", "1"]) == 2
    assert "tests/test_sums.py::test_total fails without any mutant" in capsys.readouterr().err


def test_a_report_leaves_equivalents_out_of_the_share(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    change = Change("firmware/a.py", Mutant(0, 1, "a", "b", 1, "a"))
    report([Tried(change, name) for name in ("killed", "killed", "survived", "equivalent")], Console(width=200))
    line = next(line for line in capsys.readouterr().out.splitlines() if "all" in line and "%" in line)
    assert "67 %" in line
