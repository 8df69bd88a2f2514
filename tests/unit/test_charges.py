"""No operation charges more or less than the committed table says: a `work`, `spend` or system call that is dropped, or
made twice, fails here.

Strategy: a tour of every layer's operations runs on the pure-Python machine, and what hosts and NICs charge meanwhile
is counted by path. Counts that depend on how long something takes must only be there.
"""

from __future__ import annotations

import pytest

from tests.unit.charges import TOURS, committed, tour

HOW = "`python -m tests.unit.charges` writes the tables anew: read what has changed, and why"


def agree(found: int, told: str) -> bool:
    """Whether a count is the one of the table; `+` stands for any."""
    return found > 0 if told == "+" else found == int(told)


@pytest.mark.parametrize("name", TOURS)
def test_operations_charge_what_the_table_says(name: str) -> None:
    found, expected = tour(name), committed(name)
    assert found.keys() == expected.keys(), HOW
    wrong = [
        f"{operation}: {path} is charged {found[operation].get(path, 0)} times, not {expected[operation].get(path, 0)}"
        for operation in expected
        for path in found[operation].keys() | expected[operation].keys()
        if not agree(found[operation].get(path, 0), expected[operation].get(path, "0"))
    ]
    assert not wrong, "\n".join([*sorted(wrong), HOW])
