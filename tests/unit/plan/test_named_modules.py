"""Studies and options of layers are modules found by name: a missing one is unknown, a broken one is reported.

Strategy: packages are written to a folder on the path, whole or with an import in them that fails at some depth. An
unknown name must be reported as unknown, a failing import as its own error with the name of the missing module.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import firmware
from pymodels.errors import ConfigError
from pymodels.roots import TREE
from tb.plan import options, studies
from tb.plan.declared import StudyError
from tb.plan.modules import module_if_there

BROKEN = "from not_installed import nothing\n"


@pytest.fixture(name="write")
def fixture_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a folder on the path; its imported modules are forgotten afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def package(folder: Path, name: str, **files: str) -> None:
    (folder / name).mkdir()
    for file, text in {"__init__": "", **files}.items():
        (folder / name / f"{file}.py").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", ["sl_none", "sl_none.options", "sl_there.none", "sl_there.options.none"])
def test_a_missing_module_is_none(write: Path, name: str) -> None:
    package(write, "sl_there", options="x = 1\n")
    assert module_if_there(name) is None


@pytest.mark.parametrize(
    "files",
    [
        {"options": BROKEN},
        {"__init__": BROKEN, "options": ""},
        {"options": "from sl_broken import helper\n", "helper": BROKEN},
        {"options": "import sl_broken.missing\n"},
    ],
)
def test_a_failing_import_is_raised_as_it_is(write: Path, files: dict[str, str]) -> None:
    package(write, "sl_broken", **files)
    with pytest.raises(ModuleNotFoundError, match="not_installed|sl_broken.missing"):
        module_if_there("sl_broken.options")


def test_a_failed_import_of_a_layer_is_raised_when_its_options_are_read(
    write: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (write / "firmware").mkdir()
    package(write / "firmware", "sl_layer", layer="from firmware.sl_layer.options import Options\n", options=BROKEN)
    monkeypatch.setattr("pymodels.roots.roots", lambda: (TREE, write))
    monkeypatch.setattr(firmware, "__path__", [*firmware.__path__, str(write / "firmware")])
    with pytest.raises(ModuleNotFoundError, match="not_installed"):
        options.layer_options("sl_layer")
    assert options.layer_options("run") == {}
    assert options.layer_options("") == {}


def test_a_failed_import_of_an_external_study_is_reported_as_such(write: Path) -> None:
    package(write, "sl_mine", study=f'"""What?"""\n{BROKEN}')
    with pytest.raises(StudyError, match="study.py:2: the study cannot be imported: .*not_installed"):
        studies.load("sl_mine.study")


@pytest.mark.parametrize("name", ["sl_mine.none", "..", ".x", "a.b", "json.decoder"])
def test_an_unknown_study_name_is_rejected(name: str) -> None:
    with pytest.raises(ConfigError, match="unknown study"):
        studies.load(name)
