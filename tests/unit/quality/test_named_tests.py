"""Tests named on pages exist. Strategy: each `file.py::name` on all pages is searched in the files of tests."""

from __future__ import annotations

import re

import pytest

from tb.tools.paths import ROOT

NAMED = re.compile(r"`((?:tests/[\w/]+/)?\w+\.py)::(\w+)`")
PAGES = sorted(page for top in ("firmware", "hdl", "pymodels", "tb", "tests") for page in (ROOT / top).rglob("*.md"))


def lacking(text: str) -> list[str]:
    """Tests that a page names and that are not there."""
    found = []
    for file, name in NAMED.findall(text):
        path = next(ROOT.glob(file if "/" in file else f"tests/unit/*/{file}"), None)
        if path is None or not re.search(rf"^(?:async )?def {name}\(", path.read_text("utf-8"), re.MULTILINE):
            found.append(f"{file}::{name}")
    return found


def test_tests_named_on_pages_exist() -> None:
    pages = {page: page.read_text("utf-8") for page in PAGES}
    assert sum(len(NAMED.findall(text)) for text in pages.values()) > 30
    assert {str(page): gone for page, text in pages.items() if (gone := lacking(text))} == {}


@pytest.mark.parametrize("name", ["test_named_tests.py::test_of_nothing", "tests/system/test_gone.py::test_of_nothing"])
def test_a_missing_test_is_reported(name: str) -> None:
    assert lacking(f"as `{name}` and `test_named_tests.py::test_tests_named_on_pages_exist` say") == [name]
