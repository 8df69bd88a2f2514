"""Charges and traces of operations equal the committed table: a dropped or duplicated call fails.

Strategy: tours of every layer's operations run on the pure-Python machine. The charges of hosts and NICs are counted by
path, their trace records by event. Counts that depend on durations may differ by a factor of two. The sources list all
calls that charge or trace, and each must be in a tour.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.unit.layers.charges import TOURS, Charges, charged_calls, committed, tour

HOW = "`python -m tests.unit.layers.charges` writes the tables again: read what has changed, and why"


@cache
def toured(name: str) -> Charges:
    """Return the charges of a tour, which runs once."""
    return tour(name)


def agree(found: int, told: str) -> bool:
    """Return True if a count equals that of the table, or with `~` is about the same."""
    about = int(told.removeprefix("~"))
    return about <= 2 * found <= 4 * about if told.startswith("~") else found == about


def test_every_table_has_its_tour() -> None:
    tables = Path(__file__).parents[1].glob("*/charged_*.toml")
    assert sorted(tables) == sorted(path.with_suffix(".toml") for path in TOURS.values())


@pytest.mark.parametrize("name", TOURS)
def test_operations_charge_the_paths_of_the_table(name: str) -> None:
    found, expected = toured(name).counts, committed(name)
    assert found.keys() == expected.keys(), HOW
    wrong = [
        f"{operation}: {path} comes {found[operation].get(path, 0)} times, not {expected[operation].get(path, 0)}"
        for operation in expected
        for path in found[operation].keys() | expected[operation].keys()
        if not agree(found[operation].get(path, 0), expected[operation].get(path, "0"))
    ]
    assert not wrong, "\n".join([*sorted(wrong), HOW])


def test_every_call_that_charges_something_is_in_a_tour() -> None:
    places = set[tuple[str, int]]().union(*(toured(name).places for name in TOURS))
    calls = list(charged_calls())
    assert len(calls) > 300
    missing = [f"{file}:{lines.start}" for file, lines in calls if not any((file, line) in places for line in lines)]
    assert not missing, "no operation of a tour comes here: " + ", ".join(missing)
