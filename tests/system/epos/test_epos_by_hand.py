"""Composed EPOS takes the same time on RTL as hand-written EPOS, to the picosecond; flags tested at run time cost more.

Strategy: variants of a composition run the same traffic in copies of one booted simulation
(`tests/system/scenarios/epos_by_hand.py`). Each message must end at the same picosecond, with equal traces, NIC
memories and wakes of Python. The compositions are the baseline, each protocol alone, pairs whose order matters, and all
together, charged by the hand-written paths; three of them also have a hand-written library and NIC program. Two
controls must differ: flags tested at run time, by the clocks of their paths, and a dummy that waits.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.epos.nic.pointcuts import NAMES
from pymodels.costs import PathTable
from pymodels.hardware.processors import HostProcessor, NicProcessor, host_clocks, nic_charge
from pymodels.profiles import load_profile
from tests.system.runs import Run, must

PAIRS = (
    *("flow+reliability", "active+reliability", "multicast+reliability", "rendezvous+reliability"),
    *("multicast+flow", "rendezvous+flow", "protection+reliability", "mtu+rendezvous"),
)
"""Pairs of protocols of which one acts on the other's work, or has its header words before the other's."""
SETS = ("none", *NAMES, *PAIRS, "+".join(NAMES))


def variants(run: Run, chosen: str) -> dict[str, dict[str, float]]:
    """Return the measurements of a composition, by variant and name."""
    found: dict[str, dict[str, float]] = {}
    for name, value in run.metrics.items():
        if name.startswith(f"{chosen}_"):
            variant = next(one for one in ("composed", "counted", "by_hand", "dynamic", "waits") if f"_{one}_" in name)
            found.setdefault(variant, {})[name.removeprefix(f"{chosen}_{variant}_")] = value
    return found


@pytest.fixture(name="ran", scope="module")
def fixture_ran(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run of all compositions in one simulation."""
    folder = tmp_path_factory.mktemp("verilator")
    return must("epos_by_hand", "verilator", folder, f"sets={','.join(SETS)}", cluster="two_hosts")


@pytest.mark.parametrize("chosen", SETS)
def test_each_message_ends_at_the_same_picosecond_as_in_the_hand_written_layer(ran: Run, chosen: str) -> None:
    found = variants(ran, chosen)
    assert found["composed"]["records"] > 500 and found["composed"]["message_3_ps"] > found["composed"]["message_0_ps"]
    assert found["counted"] == found["composed"]
    assert ("by_hand" in found) == (chosen in ("none", "reliability", "flow+reliability"))
    assert found.get("by_hand", found["composed"]) == found["composed"]


def test_hand_written_layer_ends_at_the_same_picosecond_on_icarus(ran: Run, tmp_path: Path) -> None:
    icarus = must("epos_by_hand", "icarus", tmp_path, "sets=flow+reliability", cluster="two_hosts")
    one, other = (variants(done, "flow+reliability") for done in (icarus, ran))
    assert one["composed"] == one["by_hand"] == one["counted"]
    del one["composed"]["wakes"], other["composed"]["wakes"]  # Icarus executes turns that Verilator computes
    assert one["composed"] == other["composed"]


def test_run_time_flags_cost_the_clocks_of_their_paths(ran: Run) -> None:
    found = variants(ran, "none")
    profile = load_profile(ran.results.profile)
    nic, host = NicProcessor.from_profile(profile), HostProcessor.from_profile(profile)

    def more(path: str) -> float:
        tables = [PathTable.of_nic("epos", composition=one) for one in ((), ("dynamic",))]
        bare, dynamic = (nic_charge(table.cost(path), nic).clocks for table in tables)
        return profile.integer("clock.nic_ps") * (dynamic - bare)

    def more_here(path: str) -> float:
        tables = [PathTable.of_host("epos", composition=one) for one in ((), ("dynamic",))]
        bare, dynamic = (host_clocks(table.cost(path), host) for table in tables)
        return 1e6 / profile.integer("host.clock_mhz") * (dynamic - bare)

    took = {name: found["dynamic"][name] - value for name, value in found["composed"].items()}
    assert took["nic_send_ps"] == more("epos_tx") > 0
    assert took["nic_receive_ps"] == more("epos_rx") > 0
    assert took["host_send_ps"] == pytest.approx(more_here("epos_message") + more_here("epos_frame"), abs=2)
    assert all(took[f"message_{number}_ps"] > 0 for number in range(4))


def test_waiting_dummy_protocol_is_detected(ran: Run) -> None:
    found = variants(ran, "none")
    assert any(found["waits"][name] != value for name, value in found["composed"].items() if "message" in name)
    assert found["waits"]["trace"] != found["composed"]["trace"]
