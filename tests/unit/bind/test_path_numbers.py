"""Numbers of paths: a study that names a path of a table gets its number, or an error for a wrong name.

Strategy: the paths of a small table are numbered; numbers of correct, foreign and misspelt names are requested.
"""

from __future__ import annotations

import pytest

from pymodels.costs.table import PathTable
from pymodels.costs.walk import PathCost
from tb.bind.actor import PathNumbers


def numbers() -> PathNumbers:
    """Numbers of a table of two paths."""
    found = PathNumbers()
    cost = PathCost(1, 0, 0, 0)
    found.know(PathTable("toy/nic", {"take": cost, "send": cost}, {}))
    return found


def test_a_path_in_use_has_the_number_that_the_trace_has() -> None:
    paths = numbers()
    assert [paths.known("toy/nic", path) for path in ("send", "take")] == [0, 1]
    assert paths.number("toy/nic", "take") == 1


@pytest.mark.parametrize(("table", "path"), [("nic/toy", "send"), ("toy/nic", "sent")])
def test_an_unknown_path_is_rejected_and_gets_no_number(table: str, path: str) -> None:
    paths = numbers()
    with pytest.raises(LookupError, match=rf"path {table}:{path}: .*toy/nic:send"):
        paths.known(table, path)
    assert paths.names == ["toy/nic:send", "toy/nic:take"]
