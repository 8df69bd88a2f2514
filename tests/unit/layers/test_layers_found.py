"""Message layers are found by their folders: read once in a process, and again when one has come or gone.

Strategy: a root of somebody else, in which layers are added and taken away while the process runs; reading of files is
counted.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from firmware.layers import names
from pymodels.roots import TREE


@pytest.fixture(name="host")
def _host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The host side of a root that has no layer yet."""
    folder = tmp_path / "firmware"
    folder.mkdir(parents=True)
    monkeypatch.setattr("pymodels.roots.roots", lambda: (TREE, tmp_path))
    return folder


def _add(host: Path, layer: str, text: str = "open_layer = None\n") -> None:
    (host / layer / "host").mkdir(parents=True)
    (host / layer / "host" / "__init__.py").write_text(text, encoding="utf-8")


def test_layers_that_come_and_go_are_seen(host: Path) -> None:
    before = names()
    _add(host, "somebodys")
    _add(host, "no_layer", "open_layers = None\n")
    assert names() == sorted([*before, "somebodys"])
    _add(host, "zealous")
    assert names() == sorted([*before, "somebodys", "zealous"])
    shutil.rmtree(host / "somebodys")
    assert names() == sorted([*before, "zealous"])


def test_a_layer_whose_folder_is_written_meanwhile_is_found_when_it_is_whole(host: Path) -> None:
    before = names()
    (host / "late" / "host").mkdir(parents=True)
    assert names() == before
    (host / "late" / "host" / "__init__.py").write_text("open_layer = None\n", encoding="utf-8")
    assert names() == sorted([*before, "late"])


def test_nothing_is_read_where_nothing_has_changed(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _add(host, "somebodys")
    known = names()

    def refuse(self: Path, *_: str, **named: str) -> str:
        raise AssertionError(f"{self} is read again")

    monkeypatch.setattr(Path, "read_text", refuse)
    monkeypatch.setattr("firmware.layers.things", refuse)
    assert names() == known
    names().clear()
    assert names() == known
