"""A build whose sources change during the compilation is discarded, and a stale process leaves no wrong build.

Strategy: the compilers are replaced by functions that write a file, and that edit a source as a rebase would. The
store is a folder of the test.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tb.bench import counts, cpp
from tb.build import build as builds
from tb.build import compilers, doorway, store
from tb.build.build import Design
from tb.build.compilers import Job
from tb.fpga import board_sim, mapping
from tb.program.mpi import build as mpi_build
from tb.program.mpi import command as mpi_command
from tb.tools import programs
from tb.tools.programs import ToolError


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if not path.name.endswith(".lock")]


@pytest.fixture(name="source")
def fixture_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a C file that is the only source of the doorway, and a source of every design."""
    folder = tmp_path / "sources"
    folder.mkdir()
    for name in ("DOORWAY", "TWIN"):
        monkeypatch.setattr(doorway, name, folder)
    monkeypatch.setattr(builds, "NATIVE", (folder,))
    monkeypatch.setattr(store, "_held", {})
    source = folder / "doorway.c"
    source.write_text("int before;\n", encoding="utf-8")
    return source


@pytest.fixture(name="compile_with")
def fixture_compile_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], Path]:
    """Return a function that builds a design on Icarus, and calls a function during its compilation."""
    monkeypatch.setattr(builds, "kept_by_sources", partial(store.kept_by_sources, store=tmp_path / "store"))
    for name in ("check_compilers", "icarus"):
        monkeypatch.setattr(programs, name, lambda: None)
    monkeypatch.setattr(builds, "copy_doorway", lambda folder: None)

    def compile_with(during: Callable[[], object]) -> Path:
        def compiled(job: Job) -> None:
            (job.folder / "program").write_text("compiled", encoding="utf-8")
            during()

        monkeypatch.setattr(compilers, "compile_icarus", compiled)
        return builds.build(
            Design("made_up", generated={"made_up.sv": "module made_up;\nendmodule\n"}), "icarus"
        ).folder

    return compile_with


def test_a_build_whose_source_changes_during_the_compilation_is_discarded(
    source: Path, compile_with: Callable[[Callable[[], object]], Path], tmp_path: Path
) -> None:
    with pytest.raises(ToolError) as caught:
        compile_with(lambda: source.write_text("int after;\n", encoding="utf-8"))
    begun, told = str(caught.value).split(" ", 1)
    assert begun.startswith("icarus-made_up-")
    assert told == (
        "not kept: its sources changed during the compilation; run the command again when the sources no longer change"
    )
    assert names(tmp_path / "store") == []
    folder = compile_with(lambda: None)
    assert folder.name != begun and (folder / "program").exists()


def test_a_file_that_is_not_a_source_of_a_design_may_change(
    source: Path, compile_with: Callable[[Callable[[], object]], Path], tmp_path: Path
) -> None:
    folder = compile_with(lambda: source.with_suffix(".txt").write_text("a note", encoding="utf-8"))
    assert names(tmp_path / "store") == [folder.name]


def test_doorway_libraries_are_discarded_if_a_source_changes_during_the_compilation(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compiled(folder: Path) -> None:
        (folder / "libdoorway.so").write_text("compiled", encoding="utf-8")
        source.write_text("int after;\n", encoding="utf-8")

    monkeypatch.setattr(programs, "check_compilers", lambda: None)
    monkeypatch.setattr(doorway, "_compile", compiled)
    into = tmp_path / "build"
    into.mkdir()
    with pytest.raises(ToolError, match=r"^doorway-\w+ not kept: its sources changed"):
        doorway.copy_doorway(into, tmp_path / "store")
    assert names(tmp_path / "store") == names(into) == []
    doorway.copy_doorway(into, tmp_path / "store")
    assert names(into) == ["libdoorway.so"]


def ran(edit: Callable[[], object]) -> Callable[..., SimpleNamespace]:
    """Return a replacement of subprocess.run that edits a source and succeeds."""

    def run(*_: object, **__: object) -> SimpleNamespace:
        edit()
        return SimpleNamespace(returncode=0, stdout="", stderr="")

    return run


def library_of_programs(source: Path, edit: Callable[[], object], patch: pytest.MonkeyPatch) -> Callable[[], object]:
    patch.setattr(mpi_build, "C", source.parent)
    patch.setattr(mpi_build, "check_compilers", lambda: None)
    patch.setattr(subprocess, "run", ran(edit))
    return mpi_build.library


def program_in_c(source: Path, edit: Callable[[], object], patch: pytest.MonkeyPatch) -> Callable[[], object]:
    patch.setattr(mpi_command, "library", lambda: source.parent)
    patch.setattr(subprocess, "run", ran(edit))
    return partial(mpi_command.ready, [str(source)])


def crossbar_in_cpp(source: Path, edit: Callable[[], object], patch: pytest.MonkeyPatch) -> Callable[[], object]:
    patch.setattr(cpp, "needed_files", lambda design: [source])
    patch.setattr(cpp, "_build", lambda files, folder: edit())
    return cpp._program


def library_that_counts(source: Path, edit: Callable[[], object], patch: pytest.MonkeyPatch) -> Callable[[], object]:
    patch.setattr(counts, "HERE", source.parent)
    patch.setattr(subprocess, "run", ran(edit))
    return counts._library


def netlist(source: Path, edit: Callable[[], object], patch: pytest.MonkeyPatch) -> Callable[[], object]:
    def yosys(*_: object) -> tuple[int, list[str]]:
        edit()
        return 0, []

    patch.setattr(mapping, "tool", lambda name: name)
    patch.setattr(mapping, "version", lambda name: "1")
    patch.setattr(mapping, "yosys", yosys)
    block: Any = SimpleNamespace(module="made_up", files=[source], shown="made_up")
    return partial(mapping.worked, "netlist", block, "script")


def stand_in(source: Path, edit: Callable[[], object], patch: pytest.MonkeyPatch) -> Callable[[], object]:
    patch.setattr(programs, "check_compilers", lambda: None)
    patch.setattr(programs, "verilator", lambda: SimpleNamespace(version="1"))
    patch.setattr(board_sim, "needed_files", lambda design: [source])
    patch.setattr(board_sim, "wrapper", lambda design: "")
    patch.setattr(board_sim, "_build", lambda files, texts, folder: edit())
    design: Any = SimpleNamespace(name="made_up", module="made_up", cells="")
    return partial(board_sim.program, design)


@pytest.mark.parametrize(
    ("module", "prepared"),
    [
        (mpi_build, library_of_programs),
        (mpi_command, program_in_c),
        (cpp, crossbar_in_cpp),
        (counts, library_that_counts),
        (mapping, netlist),
        (board_sim, stand_in),
    ],
    ids=lambda value: value.__name__,
)
def test_what_is_compiled_from_files_is_discarded_if_they_change_meanwhile(
    module: Any,
    prepared: Callable[[Path, Callable[[], object], pytest.MonkeyPatch], Callable[[], object]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "sources").mkdir()
    source = tmp_path / "sources" / "counting.c"
    source.write_text("int before;\n", encoding="utf-8")
    monkeypatch.setattr(store, "_held", {})
    monkeypatch.setattr(module, "kept_by_sources", partial(store.kept_by_sources, store=tmp_path / "store"))
    make = prepared(source, lambda: source.write_text("int after;\n", encoding="utf-8"), monkeypatch)
    with pytest.raises(ToolError, match=r"^\S+ not kept: its sources changed during the compilation"):
        make()
    assert names(tmp_path / "store") == []
    make()
    assert len(names(tmp_path / "store")) == 1


def test_the_name_of_a_build_follows_the_loaded_modules_and_not_their_files(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = tmp_path / "doorway.py"
    newer.write_bytes(Path(doorway.__file__).read_bytes().replace(b'"polling_python.c",', b""))
    loaded = doorway._digest()
    monkeypatch.setattr(doorway, "__file__", str(newer))
    assert doorway._digest() == loaded, "this process still compiles the list of sources that it has loaded"
    monkeypatch.setattr(doorway, "LOADED", newer.read_bytes())
    assert doorway._digest() != loaded, "a new process compiles the new list"
