"""Mixed fuzz test on the RTL, with constant seeds.

Strategy: the programs of the machine's fuzz test, each in a copy of one simulation, with the invariants of the
hardware. Cards have programs of their own.
"""

from __future__ import annotations

import pytest

from tb.fuzz import reach
from tb.fuzz.batch import Batch, Found, run_batch
from tb.fuzz.known import known
from tb.tools.paths import ROOT

SEEDS = {
    **dict.fromkeys(("am2", "hal", "lapi", "pipes", "udp"), 4),
    **dict.fromkeys(("am", "hpam", "ssam"), 6),
    "cards": 40,
    "io_cards": 8,
    "epos": 8,
    "grim": 45,
    "via": 40,
}
"""Seeds that take two minutes together."""
IN_C = 12
PAUSED = {
    ("grim", "lanai9"): 6,
    ("grim", "lanai4"): 6,
    ("via", "lanai9"): 6,
    ("via", "lanai4"): 6,
    ("via", "sp"): 6,
    ("ssam", ""): 3,
}
"""Seeds that run with pauses, by layer and profile of the NICs."""
MONITORED = 4
"""Seeds of each layer that run with monitors."""


@pytest.mark.parametrize("layer", SEEDS)
def test_mixed_programs_match_their_reference_on_the_rtl(layer: str) -> None:
    done = run_batch(Batch(layer, 0, SEEDS[layer], "verilator"))
    assert done.failures == ()
    failures = Found.read(done.results).failures
    wrong = {seed: lines for seed, lines in failures.items() if known(layer, lines) is None}
    assert wrong == {}


def test_programs_of_grim_on_nics_that_execute_c_match_the_same_reference() -> None:
    done = run_batch(Batch("grim", 0, IN_C, "verilator", in_c=True))
    assert (done.failures, Found.read(done.results).failures) == ((), {})


@pytest.mark.parametrize(("layer", "profile"), PAUSED)
def test_programs_with_pauses_match_their_reference_on_each_nic(layer: str, profile: str) -> None:
    batch = Batch(layer, 0, PAUSED[layer, profile], "verilator", pauses_us=20, profile=profile)
    done = run_batch(batch)
    assert (done.failures, Found.read(done.results).failures) == ((), {})


@pytest.mark.parametrize("layer", ["grim", "via"])
def test_programs_break_no_rule_of_buses_links_and_memories(layer: str) -> None:
    done = run_batch(Batch(layer, 0, MONITORED, "verilator", monitors="pci,dma,doorbell,sram,link"))
    assert (done.failures, Found.read(done.results).failures) == ((), {})


def test_repeats_of_connection_messages_do_not_keep_a_lanai4_from_confirming_them() -> None:
    """Check that retransmissions of three connections, which back off, do not starve a LANai 4."""
    done = run_batch(Batch("via", 1016, 1, "verilator", profile="lanai4"))
    assert (done.failures, Found.read(done.results).failures) == ((), {})


def test_the_coverage_of_programs_on_the_rtl_is_recorded() -> None:
    found = Found.read(run_batch(Batch("cards", 0, 2, "verilator", covered=True)).results)
    told = reach.covered(found.arcs, "cards")["files"]["firmware/grim/nic/cards.py"]
    lines = (ROOT / "firmware/grim/nic/cards.py").read_text(encoding="utf-8").splitlines()
    (takes,) = (number for number, line in enumerate(lines, 1) if "turn, back =" in line)
    assert takes in told["executed_lines"]
