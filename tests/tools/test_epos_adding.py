"""Addition of a protocol to EPOS as described on its page, by a header and a module alone.

Strategy: the code of the page is added to a copy of the tree, its commands are run there, and then its program. All
files that the page writes are new: no existing file is edited.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pymodels.costs.compile import COMPILER, compiler_version
from pymodels.generated import NAME, texts

pytestmark = pytest.mark.skipif(compiler_version() is None, reason=f"{COMPILER} is not installed")
TREE = Path(__file__).parents[2]
PAGE = (TREE / "firmware/epos/adding.md").read_text(encoding="utf-8")
FILES = re.findall(r"^\*\*(\S+)\*\*:\n\n```(?:python|c)\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE)
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the parts that a layer needs, with the files of the page, after its commands."""
    root = tmp_path_factory.mktemp("tree")
    for folder in ("firmware", "pymodels"):
        shutil.copytree(TREE / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "tests/unit/epos").mkdir(parents=True)
    for name in (
        "tests/__init__.py",
        "tests/unit/__init__.py",
        "tests/unit/epos/__init__.py",
        "tests/unit/epos/epos_bench.py",
    ):
        if (TREE / name).exists():
            shutil.copy(TREE / name, root / name)
    for name, text in FILES:
        assert not (TREE / name).exists()
        (root / name).write_text(text, encoding="utf-8")
    for command in COMMANDS:
        run(root, *shlex.split(command)[1:])
    return root


def run(root: Path, *arguments: str) -> str:
    """Run a Python program in the copy and return its output."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=root, env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"},
        capture_output=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout


def test_the_program_of_the_page_runs_as_described(copy: Path) -> None:
    said = re.search(r"It prints `(.*?)`, and `(.*?)`", PAGE)
    assert said is not None
    assert run(copy, "use.py").splitlines() == list(said.groups())


def test_compositions_without_the_new_protocol_cost_the_same(copy: Path) -> None:
    after = ""
    for side in ("nic", "host"):
        before, after = (
            re.sub(r'sources_sha256 = "\w+"', "", texts(root / "firmware/epos" / NAME)[f"{side}/composed.toml"])
            for root in (TREE, copy)
        )
        blocks = [block for block in re.split(r"\n\n", before) if block.startswith(('[composition."', "[path]"))]
        kept = [one for one in blocks if not re.match(r'\[composition."(dynamic|[\w+]{30,})"', one)]
        assert len(kept) > 20
        assert [one.split("\n")[0] for one in kept if one.strip() not in after] == []
    assert '[composition."checksum+flow"]' in after
