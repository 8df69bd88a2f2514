"""The committed costs of EPOS composed and written by hand are equal, and belong to the sources beside them.

Strategy: no compiler; `tests/tools/test_epos_composed.py` compiles both, and compares the instructions too.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.costs import PathTable
from pymodels.costs.compile import BYHAND, fingerprint
from pymodels.costs.compositions import declared, key
from pymodels.toml import read_toml
from tb.studies.epos_compose import over_hand_written

FIRMWARE = Path(__file__).parents[2] / "firmware"
SETS = declared(FIRMWARE / "nic/epos" / BYHAND)


@pytest.mark.parametrize("composition", SETS, ids=lambda one: key(one) or "none")
def test_no_composition_costs_a_clock_more_than_what_is_written_by_hand(composition: tuple[str, ...]) -> None:
    for side in ("nic", "host"):
        more = over_hand_written(side, composition, lambda cost: cost.instructions + 1000 * cost.loads)
        assert more and set(more.values()) == {0}


def test_flags_that_are_tested_at_run_time_cost_more() -> None:
    for side in ("nic", "host"):
        assert sum(over_hand_written(side, ("dynamic",), lambda cost: cost.instructions).values()) > 10


def test_each_set_that_is_composed_is_written_by_hand_too() -> None:
    assert {("dynamic",), *SETS} == set(declared(FIRMWARE / "nic/epos")) == set(declared(FIRMWARE / "host/epos"))


@pytest.mark.parametrize("side", ["nic", "host"])
def test_the_table_of_what_is_written_by_hand_is_of_the_sources_beside_it(side: str) -> None:
    folder = FIRMWARE / side / "epos" / BYHAND
    data, _ = read_toml(folder / "costs.toml")
    assert data["compiled"]["sources_sha256"] == fingerprint(folder)
    assert PathTable.load(side, f"epos/{BYHAND}").paths
