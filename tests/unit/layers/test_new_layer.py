"""`sanlab new layer`: names that are rejected, files that are left out, and files that are never replaced.

Strategy: layers are written into a folder of the test. `system/test_copied_nic.py` and `system/test_outside.py` run the
layers that the command writes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pymodels.errors import ConfigError
from pymodels.roots import TREE
from tb.sanlab.new import check, files, write


def test_a_layer_in_python_has_no_firmware_in_c() -> None:
    python, in_c = (set(files("mine", in_c, tests=False)) for in_c in (False, True))
    only = {path.removeprefix("firmware/mine/nic/") for path in in_c - python}
    assert only == {"boot.py", "firmware.c", "firmware.lanai4.toml", "firmware.lanai9.toml", "executed.toml"}
    assert "tb/studies/mine/mine_pingpong.py" in python and not python - in_c


@pytest.mark.parametrize("in_c", [False, True])
def test_a_new_layer_can_be_loaded(tmp_path: Path, in_c: bool) -> None:
    write("mine", tmp_path, in_c=in_c, tests=False)
    code = "from firmware.layers import load; print(load('mine').boot is not None, load('mine').firmware.__module__)"
    environment = {**os.environ, "SANLAB_PATH": str(tmp_path), "PYTHONPATH": str(TREE)}
    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert ended.stdout == f"{in_c} firmware.mine.nic\n", ended.stderr


def test_no_file_imports_the_template() -> None:
    for path, text in files("mine", in_c=True, tests=True).items():
        assert "firmware.echo" not in text and '"echo"' not in text, path
        assert "echo" not in path


@pytest.mark.parametrize("name", ["", "Mine", "9lives", "my-layer", "class", "a/b", "../a"])
def test_an_invalid_name_is_rejected(name: str) -> None:
    with pytest.raises(ConfigError, match="LAYER: invalid name"):
        check(name)


def test_the_name_of_a_layer_is_rejected() -> None:
    with pytest.raises(ConfigError, match="LAYER: name in use: a layer is named 'grim'"):
        check("grim")


def test_an_existing_file_is_kept_and_nothing_else_is_written(tmp_path: Path) -> None:
    study = tmp_path / "tb" / "studies" / "mine" / "mine_pingpong.py"
    study.parent.mkdir(parents=True)
    study.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match="mine_pingpong.py: file exists"):
        write("mine", tmp_path, in_c=False, tests=False)
    assert study.read_text(encoding="utf-8") == "mine"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [study]


def test_the_files_of_a_layer_are_written_below_the_root(tmp_path: Path) -> None:
    written = write("mine", tmp_path, in_c=False, tests=False)
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()} == set(written)
