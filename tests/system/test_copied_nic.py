"""A NIC and a layer consist of their own folders: the files listed on the pages suffice to add another one.

Strategy: the checkout is copied, and in it the files of the page's table again, with another name in place of the FIFO
card's; only `sources.f` gets a line. Then the page's commands are run on the copy, on Icarus, which builds fastest: the
map's package, the unit tests, the first tests of the bench. The tests of the whole tree also run, after `sanlab new`
has written a copy of the layer `echo`: everything found by name must be complete, no list may lack the copies, and the
copied layer's own tests pass. Finally the copy's study must measure the same as the FIFO card's own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pymodels.results import read_results
from tb.tools.paths import ROOT
from tests.patience import PATIENCE_S
from tests.system.runs import must

OLD, NEW = "fifo", "toy"
SMALL = "repetitions=1 messages=2 largest=16"
FEW = "a_packet_goes_out_of_its_buffer|a_received_packet_fills"
"""Tests of the bench that run: sending and receiving, in both forms; all of them take long on Icarus."""
WHOLE_TREE = [
    str(next(ROOT.glob(f"tests/unit/*/test_{name}.py")).relative_to(ROOT))
    for name in (
        "charges",
        "config_reads",
        "import_direction",
        "layer_names",
        "named_modules",
        "nic_kinds",
        "profiles",
        "quality_rules",
        "ranges",
        "readme_is_true",
    )
]
"""Tests of discovery: profiles, clusters, kinds, layers, studies, benches, pages, charged operations."""
WORD = re.compile(r"(?<!myri_cdc_)(?<!myri_)fifo|myri_fifo(?=_card)|Fifo")
"""Names of the card that are replaced; the FIFO of `hdl/prim` is not."""
PATH = re.compile(r"`((?:pymodels|hdl|tb|tests|firmware)/[\w/.]+)`")


def renamed(text: str) -> str:
    """Return text about the FIFO card as text about its copy."""
    return WORD.sub(lambda found: found[0].replace(OLD, NEW).replace("Fifo", "Toy"), text)


def page() -> str:
    """Return the table of "Add a NIC"."""
    text = (ROOT / "hdl" / "nic" / "README.md").read_text(encoding="utf-8")
    return text[text.index("## Add a NIC") :]


def places() -> list[Path]:
    """Return the files and folders that the page names for the FIFO card, and the tests that it runs."""
    named = [*PATH.findall(page()), *re.findall(r"pytest (tests/[\w/.]+)", page())]
    return sorted({Path(one) for one in named if re.search(r"(?:^|[/_])fifo(?=[/_.]|$)", one)})


def files(place: Path) -> list[Path]:
    """Return the files of a folder, or the file itself."""
    here = ROOT / place
    found = [here] if here.is_file() else [path for path in here.rglob("*") if "__pycache__" not in path.parts]
    return [path.relative_to(ROOT) for path in found if path.is_file()]


@pytest.fixture(name="tree", scope="module")
def fixture_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a checkout that contains the copy beside the FIFO card."""
    tree = tmp_path_factory.mktemp("copied") / "sanlab"
    left = shutil.ignore_patterns("sim_build", ".venv", ".git", "__pycache__", ".*_cache")
    shutil.copytree(ROOT, tree, ignore=left)
    for path in (path for place in places() for path in files(place)):
        copy = tree / renamed(str(path))
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(renamed((ROOT / path).read_text(encoding="utf-8")), encoding="utf-8")
    sources = tree / "hdl" / "sources.f"
    line = f"hdl/nic/{OLD}/\n"
    sources.write_text(sources.read_text(encoding="utf-8").replace(line, line + renamed(line)), encoding="utf-8")
    return tree


def surroundings(tree: Path) -> dict[str, str]:
    """Return the environment of the copy's commands, without pytest options of the outer run."""
    return {**os.environ, "PYTHONPATH": str(tree), "PYTEST_ADDOPTS": ""}


def ran(tree: Path, *words: str, only: str = "") -> str:
    """Return the output of a command of the copy, which must succeed. `only`: name filter of the bench's tests."""
    environment = {**surroundings(tree), **({"COCOTB_TEST_FILTER": only} if only else {})}
    command = [sys.executable, *words]
    ended = subprocess.run(
        command, cwd=tree, env=environment, encoding="utf-8", capture_output=True, check=False, timeout=PATIENCE_S
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    return ended.stdout


def test_the_page_names_all_files_of_the_card() -> None:
    assert {Path("pymodels/nics/fifo/kind.py"), Path("hdl/nic/fifo"), Path("tb/nics/fifo.py")} <= set(places())
    assert [place for place in places() if not files(place)] == []


def test_its_map_writes_its_package(tree: Path) -> None:
    (package,) = (tree / "hdl" / "nic" / NEW).glob("*_card_pkg.sv")
    text = package.read_text(encoding="utf-8")
    package.unlink()
    ran(tree, "-m", f"pymodels.nics.{NEW}.registers", "--sv")
    assert package.read_text(encoding="utf-8") == text


def test_its_unit_tests_pass(tree: Path) -> None:
    tests = [renamed(str(place)) for place in places() if place.match("tests/unit/*/test_*.py")]
    assert tests
    ran(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)


def test_no_list_of_the_tree_lacks_it(tree: Path) -> None:
    ran(tree, "-m", "tb.sanlab", "new", "layer", "mine")
    said = ran(tree, "-m", "pytest", "-v", "-p", "no:cacheprovider", *WHOLE_TREE, "tests/unit/mine/test_mine.py")
    assert all(f"[{name}]" in said for name in (NEW, "mine", f"hdl/nic/{NEW}/README.md")), (
        "the tests have seen the copy"
    )


def test_a_study_without_a_page_is_reported(tree: Path) -> None:
    page = tree / "hdl" / "nic" / NEW / "README.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace(f"{NEW}_pingpong", f"{OLD}_pingpong"), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/unit/quality/test_readme_is_true.py",
    ]
    ended = subprocess.run(
        [*command, "-k", "is_on_a_page"],
        cwd=tree,
        env=surroundings(tree),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    page.write_text(text, encoding="utf-8")
    assert ended.returncode == 1 and f"{NEW}_pingpong" in ended.stdout


def test_its_bench_passes(tree: Path) -> None:
    ran(tree, "-m", "tb.run.block_bench", "--sim=icarus", "--", f"{NEW}_card", only=FEW)
    results = (tree / "sim_build" / f"{NEW}_card" / "icarus" / "results.xml").read_text(encoding="utf-8")
    assert results.count("<testcase") - results.count("<skipped") == 4


def test_its_study_measures_the_same(tree: Path, tmp_path: Path) -> None:
    ran(tree, "-m", "tb.run", "--sim=icarus", f"--set={SMALL}", "--", f"{NEW}_pingpong")
    copied = read_results(tree / "sim_build" / f"{NEW}_pingpong" / "results.json")
    assert copied.profile.startswith(NEW)
    original = must(f"{OLD}_pingpong", "verilator", tmp_path, SMALL).results
    assert (copied.metrics, copied.sim_time_ns) == (original.metrics, original.sim_time_ns)
