"""A point of an external study has a new key when any file changes that its results follow from.

Strategy: a package with a study is written to a folder on the path, with helpers that it imports in every possible way:
at the top, in a function, relatively, through another one, through a package, as a second package. Each file is changed
in turn. The key must change, except for a file that the study never imports. A computed name cannot be followed, and is
rejected.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from importlib.util import spec_from_file_location
from pathlib import Path

import pytest

from pymodels.errors import SanlabError
from tb.plan import studies
from tb.plan.request import resolve
from tb.sweep.outside import PACKAGES, outside
from tb.sweep.points import spread
from tb.tools.sources import SOURCES

FILES = {
    "so_mine/__init__.py": "",
    "so_mine/study.py": '''"""What?"""
import json
import numpy
from firmware.verbs import Host
from so_mine.parts import size
from . import beside
async def run(lab):
    import so_other.late
''',
    "so_mine/beside.py": "from .deep.inner import x\n",
    "so_mine/parts.py": "size = 1\n",
    "so_mine/deep/__init__.py": "",
    "so_mine/deep/inner.py": "import tb.lab.lab\nx = 1\n",
    "so_mine/unused.py": "",
    "so_other/__init__.py": "",
    "so_other/late.py": "import importlib\nimportlib.import_module('so_other.by_name')\n",
    "so_other/by_name.py": "",
    "so_third.py": "",
}
LED_TO = sorted(FILES.keys() - {"so_mine/unused.py", "so_third.py"})


@pytest.fixture(name="folder")
def fixture_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make the packages, on the path."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("so_")]:
        del sys.modules[name]


def key() -> str:
    """Return the key of the only point of a sweep of the study."""
    request = resolve("echo_pingpong", "icarus", "1", False, "", "", "", ("icarus",))
    return spread(replace(request, study="so_mine.study"), studies.load("so_mine.study"), [{}])[0].key


def test_the_inputs_of_a_study_are_all_files_that_it_imports(folder: Path) -> None:
    assert [path.relative_to(folder).as_posix() for path in outside("so_mine.study", SOURCES).files] == LED_TO


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_change_of_an_imported_file_makes_another_point(folder: Path, name: str) -> None:
    before = key()
    assert key() == before
    with (folder / name).open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert (key() != before) == (name in LED_TO)


def test_a_computed_import_is_rejected(folder: Path) -> None:
    (folder / "so_mine" / "parts.py").write_text(
        "import importlib\nsize = importlib.import_module('a' + 'b')\n", encoding="utf-8"
    )
    with pytest.raises(SanlabError) as refused:
        outside("so_mine.study", SOURCES)
    cause = f"{folder}/so_mine/parts.py:2 imports a module by a computed name, so its inputs are unknown"
    assert str(refused.value) == f"the study cannot be swept: {cause}; import it by its name"


def test_an_installed_study_depends_on_its_own_package_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tb.sweep.outside.PACKAGES", (*PACKAGES, folder))
    found = {path.relative_to(folder).parts[0] for path in outside("so_mine.study", SOURCES).files}
    assert found == {"so_mine"}


def test_an_installed_package_counts_by_its_version(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert outside("so_mine.study", SOURCES).versions == [f"numpy {version('numpy')}"]
    before = key()
    monkeypatch.setattr("tb.sweep.outside.version", lambda name: "0")
    assert outside("so_mine.study", SOURCES).versions == ["numpy 0"]
    assert key() != before


def test_a_package_with_its_own_finder_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Find packages by a finder, as editable installations do."""
    elsewhere = folder / "src"
    elsewhere.mkdir()
    (elsewhere / "so_edited.py").write_text("", encoding="utf-8")
    (folder / "so_mine" / "parts.py").write_text("import so_edited\n", encoding="utf-8")

    class Finder:
        """Knows one module."""

        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> object:
            return spec_from_file_location(name, elsewhere / "so_edited.py") if name == "so_edited" else None

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    assert elsewhere / "so_edited.py" in outside("so_mine.study", SOURCES).files
