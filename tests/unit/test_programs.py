"""What a build needs of the machine is looked for by the names that it calls.

Strategy: the PATH is a folder of made-up programs, complete but for one, or with another compiler in its place. Only
the complete one may pass; everything else must be refused before a build begins, by the name that is missing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.build.compilers import MAKE_FLAGS
from tb.tools.programs import CC, CXX, ToolError, check_compilers

CALLED = ("gcc", "g++", "make")


@pytest.fixture(name="folder")
def fixture_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with all that a build calls."""
    for name in CALLED:
        add(tmp_path, name)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def add(folder: Path, name: str) -> None:
    (folder / name).touch(mode=0o755)


def test_a_machine_with_all_that_a_build_calls_is_taken(folder: Path) -> None:
    check_compilers()


@pytest.mark.parametrize("name", CALLED)
def test_a_missing_program_is_named_also_where_clang_is(folder: Path, name: str) -> None:
    (folder / name).unlink()
    add(folder, "clang")
    add(folder, "clang++")
    with pytest.raises(ToolError) as refused:
        check_compilers()
    told = f"{name} is missing: it is not on the PATH; type `apt-get install g++ make` (as root)"
    assert str(refused.value) == told


def test_make_is_told_the_compiler_that_was_looked_for() -> None:
    assert {f"CXX={CXX}", f"LINK={CXX}"} <= set(MAKE_FLAGS)
    assert {CC, CXX} < set(CALLED)
