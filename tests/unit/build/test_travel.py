"""Builds that travel to workers elsewhere.

Strategy: a build is made in one store and unpacked in another, as on a second machine; there the same design must be
found, files and modes alike, and nothing made. A machine of another kind takes nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.build import build as building
from tb.build import compilers, store, travel
from tb.build.build import Build, Design, build

DESIGN = Design("top", generated={"top.sv": "module top;\nendmodule\n"})


@pytest.fixture(name="made")
def fixture_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """Make a build in a store of its own, whose compiler is a function of the test."""

    def compile_it(job: compilers.Job) -> None:
        program = job.folder / "obj" / "Vtop"
        program.parent.mkdir()
        program.write_bytes(b"\x7fELF")
        program.chmod(0o755)

    monkeypatch.setattr(compilers, "compile_icarus", compile_it)
    monkeypatch.setattr(building, "copy_doorway", lambda folder: None)
    monkeypatch.setattr(
        building, "kept_by_sources", lambda name, make: store.kept_by_sources(name, make, tmp_path / "here")
    )
    return build(DESIGN, "icarus")


def test_a_worker_with_a_received_build_does_not_build(
    made: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "there"
    assert travel.unpack(travel.packed(made), there)
    monkeypatch.setattr(building, "kept_by_sources", lambda name, make: store.kept_by_sources(name, make, there))
    monkeypatch.setattr(building, "_make", lambda *given: pytest.fail("it was made again"))
    found = build(DESIGN, "icarus")
    assert found.cached and found.folder == there / made.folder.name
    for path in (path for path in made.folder.rglob("*") if path.is_file()):
        same = found.folder / path.relative_to(made.folder)
        assert (same.read_bytes(), same.stat().st_mode) == (path.read_bytes(), path.stat().st_mode)


def test_a_build_of_an_incompatible_machine_is_not_used(made: Build, tmp_path: Path) -> None:
    parcel = travel.packed(made)._replace(machine="Linux riscv64 glibc 2.36")
    assert not travel.unpack(parcel, tmp_path / "there")
    assert not (tmp_path / "there").exists()
