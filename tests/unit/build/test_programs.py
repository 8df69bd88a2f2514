"""Programs that a build needs are found by the names that it calls.

Strategy: PATH is a folder of made-up programs: complete, complete except for one, or with another compiler. Only the
complete one may pass; every other one must be rejected before a build begins, with the name of the missing program. A
Verilator other than the pinned one is made up too: it must be reported with both versions, and never be called by names
that only the pinned one is known to have.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tb.build import build as builds
from tb.build.compilers import MAKE_FLAGS
from tb.tools import programs
from tb.tools.paths import ROOT
from tb.tools.programs import CC, CXX, PINNED, ToolError, Verilator, check_compilers, gpi_users, icarus, vpi_include

CALLED = ("gcc", "g++", "make")


@pytest.fixture(name="folder")
def fixture_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a PATH with all programs that a build calls."""
    for name in CALLED:
        add(tmp_path, name)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def add(folder: Path, name: str) -> None:
    (folder / name).touch(mode=0o755)


def test_a_machine_with_all_build_tools_is_accepted(folder: Path) -> None:
    check_compilers()


@pytest.mark.parametrize("name", CALLED)
def test_a_missing_program_is_named_even_if_clang_is_installed(folder: Path, name: str) -> None:
    (folder / name).unlink()
    add(folder, "clang")
    add(folder, "clang++")
    with pytest.raises(ToolError) as refused:
        check_compilers()
    told = f"{name} is missing: it is not on the PATH; type `apt-get install g++ make` (as root)"
    assert str(refused.value) == told


def test_library_paths_for_simulators_equal_those_of_python_and_cocotb() -> None:
    said = [
        subprocess.check_output([sys.executable, "-m", *words], encoding="utf-8", cwd=ROOT).strip()
        for words in (["find_libpython"], ["cocotb_tools.config", "--pygpi-entry-point"])
    ]
    assert gpi_users() == ";".join(said)


def test_icarus_is_located_again_after_a_change_of_the_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = folder / "other"
    other.mkdir()
    for place in (folder, other):
        add(place, "iverilog")
        add(place, "vvp")
        monkeypatch.setenv("PATH", str(place))
        assert icarus() == place
        assert vpi_include() == place.parent / "include" / "iverilog"


def test_make_gets_the_checked_compiler() -> None:
    assert {f"CXX={CXX}", f"LINK={CXX}"} <= set(MAKE_FLAGS)
    assert {CC, CXX} < set(CALLED)


def test_the_pinned_verilator_is_that_of_the_requirements() -> None:
    assert f"verilator=={PINNED} " in (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert Verilator(Path(), PINNED).said_if_other == ""


def test_another_verilator_version_is_reported_with_both_versions() -> None:
    said = Verilator(Path(), "5.99.0").said_if_other
    assert said.startswith(
        f"Verilator 5.99.0 is installed instead of {PINNED}: models are evaluated by its public eval()"
    )
    assert "\n" not in said


@pytest.mark.parametrize(
    ("version", "asked", "public"), [(PINNED, False, False), (PINNED, True, True), ("5.99.0", False, True)]
)
def test_models_use_the_public_interface_on_request_or_with_another_verilator(
    version: str, asked: bool, public: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[builds.Kind] = []
    monkeypatch.setattr(programs, "verilator", lambda: Verilator(Path(), version))

    def digest(_: builds.Design, kind: builds.Kind) -> str:
        made.append(kind)
        return "0"

    monkeypatch.setattr(builds, "_digest", digest)
    monkeypatch.setattr(builds, "kept_by_sources", lambda name, _: (Path(name()), True))
    builds.build(builds.Design("top", models=(builds.Design("node", library=True),)), "verilator", public=asked)
    assert made == [builds.Kind("verilator", False, public)], "its models are built when it is made, in the same way"
