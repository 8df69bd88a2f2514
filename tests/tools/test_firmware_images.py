"""Committed images of C firmware against the output of the compiler.

Strategy: with clang-16 every image is built again and compared, word by word and line by line. With another version of
the compiler the words may differ, and nothing is compared. A source that does not compile, and a program that does not
fit, are tested in a copy.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from firmware import build, images
from pymodels import generated
from pymodels.costs.compile import compiler_version
from pymodels.costs.sources import FOLDERS
from pymodels.lanai.elf import LinkError
from pymodels.lanai.image import Image
from pymodels.lanai.toolchain import COMPILER, CompileError, compiled
from pymodels.roots import TREE

pytestmark = pytest.mark.skipif(compiler_version() is None, reason=f"{COMPILER} is not installed")
IMAGES = [(layer, kind) for layer in images.layers() for kind in images.kinds_of(layer)]


@pytest.mark.parametrize(("layer", "kind"), IMAGES)
def test_the_compiler_makes_the_same_image_again(layer: str, kind: str) -> None:
    committed = Image.load(images.image(layer, kind))
    if committed.compiled["compiler"] != compiler_version():
        pytest.skip(f"made by {committed.compiled['compiler']}, here is {compiler_version()}")
    assert build.build(layer, kind) == committed
    assert build.main(["--check", layer]) == 0


def test_a_source_that_does_not_compile_is_reported_with_the_compiler_message(tmp_path: Path) -> None:
    source = tmp_path / "bad.c"
    source.write_text("int main(void) { return there; }\n", encoding="utf-8")
    with pytest.raises(CompileError, match=r"bad\.c: does not compile; \nbad\.c:1:25: error: .*'there'"):
        compiled(source, ["--target=lanai"], tmp_path)


def test_a_program_that_does_not_fit_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, kind = IMAGES[0]
    small = images.layout(layer) | {"PROGRAM_END": 0x200}
    monkeypatch.setattr(build, "layout", lambda _: small)
    with pytest.raises(LinkError, match="program before the stack's begin at 0x200"):
        build.build(layer, kind)


def test_a_layer_outside_of_the_tree_is_built_in_its_own_folder(tmp_path: Path) -> None:
    folder = tmp_path / "firmware" / "counter" / "nic"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "layout.py").write_text("PROGRAM_END, COUNT = 0x4000, 0x4000\n", encoding="utf-8")
    (folder / images.SOURCE).write_text(
        '#include "layout.h"\n#include "paths.h"\n'
        "int main(void) {\n"
        "    for (u32 count = 0;; count += REGISTER_READ(RTC) % 10) SHARED32(AT_COUNT) = count;\n"
        "}\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "firmware.build", "counter"]
    told = subprocess.run(
        command,
        cwd=TREE,
        env=os.environ | {"SANLAB_PATH": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout
    (kept,) = generated.texts(folder.parent / generated.NAME)
    made = folder.parent / kept
    assert told == f"{made}: written\n"
    program = Image.load(made).program
    assert {"main", "__umodsi3"} <= program.symbols.keys(), "the library is linked as far as it is needed"
    line = program.line(program.symbols["main"])
    assert line is not None and line.file == "firmware/counter/nic/firmware.c"
    assert str(tmp_path) not in (generated.found(made) or "")


@pytest.mark.parametrize(("layer", "kind"), IMAGES)
def test_a_fingerprint_covers_every_file_that_the_compiler_reads(layer: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "layout.h").write_text(images.layout_header(layer), encoding="utf-8")
    (tmp_path / "lanai.h").write_text(images.cores()[kind].header(), encoding="utf-8")
    folder = images.image(layer, kind).parent
    command = [COMPILER, *images.FLAGS, *(f"-I{one}" for one in (*FOLDERS, tmp_path)), "-MM", images.SOURCE]
    told = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=True).stdout
    read = {(folder / name).resolve() for name in told.replace("\\\n", " ").split()[1:]}
    known = {path.resolve() for path in images.sources(layer, kind)} | set(tmp_path.resolve().iterdir())
    assert read and not read - known


def test_commands_rebuild_files_made_stale_by_a_changed_source(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    copy = shutil.copytree(TREE / "firmware" / "echo", tmp_path / "firmware" / "renewed", ignore=ignored)
    for path in copy.rglob("*.py"):
        path.write_text(path.read_text(encoding="utf-8").replace("firmware.echo", "firmware.renewed"), encoding="utf-8")
    with (tmp_path / "firmware/renewed/nic/paths.c").open("a", encoding="utf-8") as file:
        file.write("\nvoid more(u32 *where) { *where = 1; }\n")
    env = os.environ | {"SANLAB_PATH": str(tmp_path)}
    ask = "from firmware.images import load; from pymodels.costs import PathTable; PathTable.of_nic('renewed'); "
    ask += "load('renewed', 'lanai9'); load('renewed', 'lanai4')"
    for words, code in (("-c", 1), ("costs", 0), ("-c", 1), ("firmware", 0), ("-c", 0)):
        command = ["-c", ask] if words == "-c" else ["-m", "tb.sanlab", words, "renewed"]
        done = subprocess.run(
            [sys.executable, *command], cwd=TREE, env=env, capture_output=True, encoding="utf-8", check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert code == 0 or "StaleError" in done.stderr
