"""Registry of message layers: they are found by their folders, and descriptors are checked when loaded.

Strategy: an external root, in which layers are added and removed while the process runs, and descriptors have one fault
at a time.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

import firmware
from firmware.layer import LayerError
from firmware.layers import exists, folder_of, load, names
from firmware.shown import HARDWARE_SHOWN
from pymodels.roots import TREE


@pytest.fixture(name="host")
def _host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create the host part of a root without layers."""
    folder = tmp_path / "firmware"
    folder.mkdir(parents=True)
    monkeypatch.setattr("pymodels.roots.roots", lambda: (TREE, tmp_path))
    return folder


def _add(firmware: Path, layer: str, file: str = "layer.py") -> None:
    (firmware / layer).mkdir(parents=True)
    (firmware / layer / file).write_text("", encoding="utf-8")


def test_added_and_removed_layers_are_found(host: Path) -> None:
    before = names()
    _add(host, "somebodys")
    _add(host, "no_layer", "__init__.py")
    assert names() == sorted([*before, "somebodys"])
    _add(host, "zealous")
    assert names() == sorted([*before, "somebodys", "zealous"])
    shutil.rmtree(host / "somebodys")
    assert names() == sorted([*before, "zealous"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no descriptor; write LAYER = Layer(name=..., library=...)"),
        ("LAYER = print", "has no descriptor; write LAYER = Layer(name=..., library=...)"),
        (
            "LAYER = Layer(name='other', library=print)",
            "its descriptor is named 'other'; name it 'wrong', as its folder",
        ),
        ("LAYER = Layer(name='wrong')", "a field is missing: 1 required keyword-only argument: 'library'; give it"),
        (
            "LAYER = Layer(name='wrong', library=print, limit=print)",
            "Layer has no field 'limit'; did you mean 'limits'?",
        ),
        ("LAYER = Layer(name='wrong', library=3)", "library is 3; give a function"),
        ("LAYER = Layer(name='wrong', library=None)", "library is None; give a function"),
        ("LAYER = Layer(name='wrong', library=print, options=3)", "options is 3; give a subclass of LayerOptions"),
        ("LAYER = Layer(name='wrong', library=print, options=dict)", "'dict'>; give a subclass of LayerOptions"),
        ("LAYER = Layer(name='wr ong', library=print)", "the name is not an identifier; use letters, digits and _"),
        ("LAYER = Layer(name='wrong', library=print, stands_on='hal')", "stands_on is 'hal'; give a tuple of names"),
        (
            "LAYER = Layer(name='wrong', library=print, firmware=print, stands_on=('hal',))",
            "has both firmware and stands_on='hal'; remove one of the two",
        ),
    ],
)
def test_a_descriptor_with_a_fault_is_rejected(
    host: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    (host / "wrong").mkdir()
    (host / "wrong" / "layer.py").write_text(f"from firmware.layer import Layer\n{text}\n", encoding="utf-8")
    monkeypatch.setattr(firmware, "__path__", [*firmware.__path__, str(host)])
    for name in [name for name in sys.modules if name.startswith("firmware.wrong")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(LayerError) as error:
        load("wrong")
    assert said in str(error.value)


def test_an_error_of_the_code_of_a_layer_is_raised_as_it_is(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (host / "failing").mkdir()
    (host / "failing" / "layer.py").write_text("import not_installed\n", encoding="utf-8")
    monkeypatch.setattr(firmware, "__path__", [*firmware.__path__, str(host)])
    with pytest.raises(ModuleNotFoundError, match="not_installed"):
        load("failing")


def test_every_descriptor_is_complete() -> None:
    for name in names():
        layer = load(name)
        folder = folder_of(name)
        assert (layer.options is not None) == (folder / "options.py").exists(), name
        assert (layer.mail is not None) == (folder / "mail.py").exists(), name
        assert (layer.shown is not HARDWARE_SHOWN) == (folder / "shown.py").exists(), name
        assert (layer.boot is not None) == (folder / "nic" / "boot.py").exists(), name


def test_an_unknown_layer_names_the_nearest() -> None:
    with pytest.raises(LookupError, match="message layer 'grmi' does not exist; did you mean 'grim'"):
        load("grmi")
    assert not exists("") and not exists("../grim") and not exists("common")
