"""Committed counts: complete, used, up to date, and equal to those of the compiler.

Strategy: every message layer is found by its folder. Without a compiler the names in its Python are compared with its
table, and the hash of its C sources with that in the table. With clang-16 every path is compiled and counted again.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from pymodels.costs import PathTable
from pymodels.costs.compile import COMPILER, compiler_version, counts, layers, main
from pymodels.costs.compositions import declared
from pymodels.costs.named import named_paths
from pymodels.costs.sources import FIRMWARE, FOLDERS, fingerprint, sources
from pymodels.costs.targets import TARGETS, Target, targets_of

LAYERS = sorted(path.parent for side in TARGETS for path in FIRMWARE.glob(f"*/{side}/__init__.py"))
IDS = [f"{folder.parent.name}/{folder.name}" for folder in LAYERS]
each_layer = pytest.mark.parametrize("folder", LAYERS, ids=IDS)
TABLES = [(folder, target) for folder in layers() for target in targets_of(folder)]
each_table = pytest.mark.parametrize(
    ("folder", "target"), TABLES, ids=[f"{folder.parent.name}/{folder.name}-{target.name}" for folder, target in TABLES]
)
with_clang = pytest.mark.skipif(compiler_version() is None, reason=f"{COMPILER} is not installed")


def test_every_layer_has_its_paths_in_c() -> None:
    assert [folder for folder in LAYERS if named_paths(folder, *beside(folder)).paths] == layers()


@each_layer
def test_every_path_that_the_python_names_has_a_cost_and_every_cost_is_used(folder: Path) -> None:
    named = named_paths(folder, *beside(folder))
    assert not named.unknown, "name the path by a literal or a constant"
    if named.paths:
        tables = [load(folder, target) for target in targets_of(folder)]
        counted = {path for table in tables for path in (*table.paths, *table.elsewhere)}
        missing = {path: places for path, places in named.paths.items() if path not in counted}
        assert not missing, "write these paths in paths.c and run python -m pymodels.costs.compile"
        assert not counted - set(named.paths), "no Python names these paths"


def beside(folder: Path) -> list[Path]:
    """Return the Python files of firmware/nics that are charged by a layer's paths.

    These are the files of a NIC's driver whose C the layer's `paths.c` includes; files that no layer includes are
    charged by `common/nic`.
    """
    drivers = {one: included(one) for one in layers()}
    if folder != FIRMWARE / "common" / "nic":
        return drivers.get(folder, [])
    kinds = {path.parent for paths in drivers.values() for path in paths}
    return [place for place in (FIRMWARE / "nics").iterdir() if place.is_dir() and place not in kinds]


def included(folder: Path) -> list[Path]:
    """Return the Python files beside the C of a NIC's driver that the paths of a layer include."""
    named = re.findall(r'#include "../../nics/(\w+/\w+)\.h"', (folder / "paths.c").read_text(encoding="utf-8"))
    return [path for name in named if (path := FIRMWARE / "nics" / f"{name}.py").exists()]


def load(folder: Path, target: Target) -> PathTable:
    """Return the committed table of a layer for a processor."""
    return PathTable.load(folder.name, folder.parent.name, table=target.table)


@each_table
def test_the_counts_were_made_from_the_current_c(folder: Path, target: Target) -> None:
    table = load(folder, target)
    assert table.compiled["origin"] == "compiled"
    assert table.compiled["sources_sha256"] == fingerprint(folder, target), (
        f"run `make costs LAYER={folder.parent.name}`"
    )


def test_files_included_from_other_folders_are_part_of_the_fingerprint() -> None:
    assert {"words.h", "buffers.h", "cells.h"} <= {path.name for path in sources(FIRMWARE / "fifo" / "host")}
    assert "turns.h" in {path.name for path in sources(FIRMWARE / "hal" / "nic")}
    assert "turns.h" not in {path.name for path in sources(FIRMWARE / "via" / "nic")}


@with_clang
@pytest.mark.parametrize("folder", layers(), ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_a_fingerprint_covers_every_file_that_the_compiler_reads(folder: Path) -> None:
    known = {path.resolve() for path in sources(folder)}
    parts = [f"-DWITH_{part.upper()}" for one in declared(folder) for part in one]
    for target in targets_of(folder):
        command = [COMPILER, *target.flags, *dict.fromkeys(parts), *(f"-I{one}" for one in FOLDERS), "-MM", "paths.c"]
        told = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=True).stdout
        read = {(folder / name).resolve() for name in told.replace("\\\n", " ").split()[1:]}
        assert read and not read - known


@pytest.mark.parametrize("folder", layers(), ids=str)
def test_special_registers_in_paths_are_those_of_the_register_map(folder: Path) -> None:
    models = FIRMWARE.parent / "pymodels"
    maps = [models / "registers.py", *models.glob("nics/*/registers.py")]
    registers = "".join(path.read_text(encoding="utf-8") for path in maps)
    texts = "".join(path.read_text(encoding="utf-8") for path in (folder / "paths.c", *folder.glob("*.h")))
    used = set(re.findall(r"REGISTER_(?:SAMPLE|READ|WRITE)\((\w+)", texts))
    assert not {name for name in used if not re.search(rf"\b{name}\b", registers)}


@with_clang
@each_table
def test_the_compiler_counts_the_same_again(folder: Path, target: Target) -> None:
    table = load(folder, target)
    if table.compiled["compiler"] != compiler_version():
        pytest.skip(f"counted by {table.compiled['compiler']}, here is {compiler_version()}")
    assert counts(folder, target) == dict(table.paths)


@with_clang
def test_check_finds_everything_as_committed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().err


@with_clang
def test_counting_an_unknown_layer_is_rejected_with_the_nearest_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ecko"]) == 2
    assert (
        "LAYER: unknown layer 'ecko': no layer of this name has paths.c; did you mean 'echo'" in capsys.readouterr().err
    )


def test_showing_an_unknown_layer_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--show", "no_such_layer/nic", "x"]) == 1
    assert "layer 'no_such_layer/nic': has no paths.c; " in capsys.readouterr().err
