"""What a run of the tests may depend on. Strategy: examples of a property are drawn before and after a module of many
constants is imported; properties have no deadline; of the caller's variables none changes what is printed.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console


def drawn() -> list[int]:
    """The examples of a property."""
    found: list[int] = []

    @given(st.integers())
    def seen(number: int) -> None:
        found.append(number)

    seen()
    return found


def test_examples_are_the_same_whatever_was_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = drawn()
    (tmp_path / "many_constants.py").write_text(f"NUMBERS = {[10**9 + 7 * n for n in range(500)]}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        __import__("many_constants")
        assert drawn() == before
    finally:
        del sys.modules["many_constants"]


def test_no_example_has_a_deadline() -> None:
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check


def test_a_terminal_has_80_columns_and_no_colours() -> None:
    console = Console(file=io.StringIO())
    assert (console.width, console.is_terminal, console.no_color) == (80, False, False)
