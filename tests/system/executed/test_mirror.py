"""C firmware outside the tree, as in the tutorial tb/docs/tutorials/c_firmware.md.

Strategy: the files of the page are written into an empty folder. The committed image must match the sources on the
page. With this image the study runs on both simulators with equal results, and its figures are checked. Where clang-16
is installed, the command of the page must compile the same image.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pymodels import generated
from pymodels.costs.compile import compiler_version
from pymodels.results import Results, differences, read_results
from pymodels.toml import read_toml
from tb.docs.reader import FILE, blocks
from tb.tools.paths import ROOT

PAGE = (ROOT / "tb" / "docs" / "tutorials" / "c_firmware.md").read_text(encoding="utf-8")
FIRST_LINES = [block.text.partition("\n") for block in blocks(PAGE)]
FILES = {named[1]: text for line, _, text in FIRST_LINES if (named := FILE.fullmatch(line))}
COMPILE = ("firmware", "mirror")
"""Command that `make firmware LAYER=mirror` of the page executes."""
IMAGE = "firmware/mirror/nic/firmware.lanai9.toml"
COMMITTED = Path(__file__).with_name("mirror.lanai9.toml")


def write_page(folder: Path) -> Path:
    """Write the files of the page into `mylab` in a folder."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(name="folder")
def fixture_folder(tmp_path: Path) -> Path:
    """Return a folder of a user, with the files of the page."""
    return write_page(tmp_path)


def sanlab(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `sanlab` with the root of the page."""
    env = {**os.environ, "SANLAB_PATH": "mylab", "PYTHONPATH": str(ROOT), "SANLAB_OUT": str(folder / "out")}
    return subprocess.run(
        [sys.executable, "-m", "tb.sanlab", *words],
        cwd=folder,
        env=env,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def compile_page(folder: Path) -> Path:
    """Run the compiling command of the page, and return the path of the image (`pymodels.generated`)."""
    ended = sanlab(folder, *COMPILE)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return folder / "mylab" / IMAGE


def ran(folder: Path, simulator: str) -> Results:
    ended = sanlab(folder, "run", f"--sim={simulator}", f"--out={simulator}", "--set=repetitions=2", "mirror_time")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return read_results(folder / simulator / "results.json")


def test_firmware_in_c_from_an_external_folder_mirrors_packets(folder: Path) -> None:
    shutil.copy(COMMITTED, folder / "mylab" / IMAGE)
    one, other = (ran(folder, simulator) for simulator in ("verilator", "icarus"))
    assert differences(one, other, same_simulator=False) == []
    assert one.metrics["mirrored"] == 6
    assert 2 < one.metrics["round_us_0B"] < one.metrics["round_us_56B"] < 30


def test_missing_image_error_names_the_command_that_makes_it(folder: Path) -> None:
    ended = sanlab(folder, "run", "mirror_time")
    assert ended.returncode == 2
    assert "layer 'mirror' has no image for a lanai9" in ended.stderr
    assert "run `make firmware LAYER=mirror`" in ended.stderr


@pytest.mark.skipif(compiler_version() is None, reason="clang-16 is not installed")
def test_the_command_of_the_page_makes_the_image(folder: Path) -> None:
    made = generated.table(compile_page(folder))
    committed, _ = read_toml(COMMITTED)
    stale = f"{COMMITTED.name} is stale: make it with `python -m tests.system.executed.test_mirror`"
    assert made["compiled"]["sources_sha256"] == committed["compiled"]["sources_sha256"], stale
    if made["compiled"]["compiler"] == committed["compiled"]["compiler"]:
        assert made == committed


if __name__ == "__main__":  # make the committed image again, after a change of what it includes
    with tempfile.TemporaryDirectory() as made:
        COMMITTED.write_text(generated.found(compile_page(write_page(Path(made)))) or "", encoding="utf-8")
