"""Composed and hand-written EPOS: committed costs and all events of a run on the machine are equal.

Strategy: a library and a NIC program are written by hand for three compositions (`byhand/library.py`,
`byhand/program.py`). They run the same traffic as the composed ones, with slow readers and lost frames.
`tests/system/epos/test_epos_by_hand.py` does the same on RTL. `tests/tools/test_epos_composed.py` compiles both and
compares their instructions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pymodels import generated
from pymodels.costs import PathTable
from pymodels.costs.compositions import declared, key
from pymodels.costs.sources import by_hand, fingerprint
from pymodels.costs.targets import TARGETS
from pymodels.generated import BYHAND
from tb.studies.epos.epos_compose import over_hand_written
from tests.unit.epos.byhand import program
from tests.unit.epos.byhand.library import SENDS, ByHand
from tests.unit.epos.epos_bench import Bench
from tests.unit.epos.test_epos import drawn

FIRMWARE = Path(__file__).parents[3] / "firmware"
SETS = declared(by_hand(FIRMWARE / "epos" / "nic"))


@pytest.mark.parametrize("composition", SETS, ids=lambda one: key(one) or "none")
def test_no_composition_costs_more_clocks_than_hand_written_paths(composition: tuple[str, ...]) -> None:
    for side in ("nic", "host"):
        more = over_hand_written(side, composition, lambda cost: cost.instructions + 1000 * cost.loads)
        assert more and set(more.values()) == {0}


def test_run_time_flags_cost_additional_clocks() -> None:
    for side in ("nic", "host"):
        assert sum(over_hand_written(side, ("dynamic",), lambda cost: cost.instructions).values()) > 10


def test_each_compiled_set_has_hand_written_paths() -> None:
    assert {("dynamic",), *SETS} == set(declared(FIRMWARE / "epos/nic")) == set(declared(FIRMWARE / "epos/host"))


@pytest.mark.parametrize("side", ["nic", "host"])
def test_cost_table_of_hand_written_paths_is_up_to_date(side: str) -> None:
    data = generated.table(FIRMWARE / "epos" / BYHAND / side / "costs.toml")
    assert data["compiled"]["sources_sha256"] == fingerprint(by_hand(FIRMWARE / "epos" / side), TARGETS[side][0])
    assert PathTable.load(side, f"epos/{BYHAND}").paths


class BenchByHand(Bench):
    """Bench of two hosts with the hand-written library and program."""

    program = staticmethod(program.main)
    library = ByHand


SIZES = (0, 1, 64, 256, 257, 512, 700, 1500, 2048) * 2


def events(bench: Bench, lossy: bool) -> tuple[list[Any], list[Any], int]:
    """Return all events while two hosts, one of them a slow reader, exchange messages of all sizes."""
    if lossy:
        bench.machine.faults.lose(0.05, 0.05, 3)
    messages = drawn(20, SIZES)

    async def late() -> list[Any]:
        await bench.hosts[1].host.sleep(300_000_000, "other work")
        return await bench.take(1, len(messages))

    async def first() -> list[Any]:
        await bench.give(0, 1, messages[:4])
        await bench.give(0, 1, messages[4:])
        return await bench.take(0, len(messages))

    async def other() -> list[Any]:
        got = await late()
        await bench.give(1, 0, messages)
        return got

    got = bench.run(first(), other())
    assert [[message.data for message in one] for one in got] == [messages] * 2
    images = [bench.machine.nic(node).load_bytes(0, 1 << 20) for node in range(2)]
    return bench.machine.trace.records, images, bench.machine.kernel.now


@pytest.mark.parametrize(
    ("chosen", "lossy"), [*((one, False) for one in SENDS), *((one, True) for one in SENDS if one)]
)
def test_run_equals_the_hand_written_layer_event_by_event(chosen: tuple[str, ...], lossy: bool) -> None:
    options: dict[str, Any] = {"protocols": "+".join(chosen), "mtu": 512, "slot_bytes": 2048, "timeout_us": 60}
    composed, by_hand = (events(kind(**options), lossy) for kind in (Bench, BenchByHand))
    assert len(composed[0]) > 1000 and composed == by_hand
