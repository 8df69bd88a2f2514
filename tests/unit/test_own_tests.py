"""What mpi4py's own tests say is counted. Strategy: words of unittest, as it prints them."""

from __future__ import annotations

import pytest

from tb.program.mpi.own_tests import counts


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Ran 102 tests in 0.012s\n\nOK\n", {"passed": 102}),
        ("Ran 10 tests in 1s\n\nOK (skipped=3)\n", {"passed": 7, "skipped": 3}),
        ("Ran 9 tests in 1s\n\nFAILED (failures=2, errors=1)\n", {"passed": 6, "failures": 2, "errors": 1}),
        ("testA ... ok\n", None),
        ("Ran 0 tests in 0.000s\n\nOK\n", None),
    ],
)
def test_tests_are_counted_by_how_they_ended(said: str, found: dict[str, int] | None) -> None:
    assert counts(said) == found
