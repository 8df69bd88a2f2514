"""Costs of VIA's design choices relative to each other, as ordered by paper 001 (2.2 and 2.3), on the RTL.

Strategy: each study runs as a user runs it, with small settings, on a system of the paper. Compared are the orderings
of its text and, where a value is published with an agreement, that value; not the present results.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.npb import CODES
from pymodels.published import load_published
from tests.system.runs import must

RUNS = {"lanai4": "lanai4+p2-300", "sp": "sp+p3-450"}


def published(study: str, metric: str, profile: str) -> float:
    """Return a published value."""
    (row,) = (row for row in load_published() if (row.study, row.metric, row.profile) == (study, metric, profile))
    return row.value


@pytest.mark.parametrize("profile", RUNS)
def test_translation_costs_a_kernel_entry_or_cache_misses(profile: str, tmp_path: Path) -> None:
    metrics = must("via_translation", "verilator", tmp_path, "rounds=4", "eight_hosts", profile=profile).metrics
    entry = published("via_translation", "at1_us", RUNS[profile])
    assert metrics["at1_us"] == pytest.approx(entry, rel=0.02)
    start = published("via_translation", "at3_miss_us", RUNS[profile])
    assert 0.7 * start < metrics["at3_miss_us"] < 3 * start, (
        "a miss is a start of the DMA, and what the NIC does for it"
    )
    assert metrics["at3_misses_per_message"] > 1, "a fresh buffer misses"
    for code in CODES:
        rate = metrics[f"miss_percent_{code}_A4_1024"]
        assert rate <= metrics[f"miss_percent_{code}_A4_128"], "a larger cache misses no more"
        assert (rate > 5) == (code == "IS"), "with 1,024 entries only IS misses"
    assert metrics["codes_over_80_percent_A4_128"] == 4


def test_polled_doorbells_cost_more_with_more_vis_and_others_do_not(tmp_path: Path) -> None:
    metrics = must("via_doorbells", "verilator", tmp_path, "rounds=10 vis=32", "eight_hosts", profile="lanai9").metrics
    grown = {choice: metrics[f"us_per_vi_{choice}"] for choice in ("d1_word", "d1_ring", "d2", "hw")}
    assert min(grown["d1_word"], grown["d1_ring"]) > 3 * max(abs(grown["d2"]), abs(grown["hw"]))
    assert grown["d1_ring"] > 0.02


@pytest.mark.parametrize("profile", RUNS)
def test_writing_short_descriptors_costs_less_than_fetching_them(profile: str, tmp_path: Path) -> None:
    metrics = must("via_descriptors", "verilator", tmp_path, "rounds=8", "eight_hosts", profile=profile).metrics
    words = published("via_descriptors", "words_by_start_up", RUNS[profile])
    assert metrics["words_by_start_up"] == words == {"lanai4": 10, "sp": 5}[profile]
    assert metrics["words_with_transfer"] >= words, "the words of a DMA take time too"
    ways = {way: metrics[f"one_way_us_{way}_1_segments"] for way in ("pio", "dma", "prefetch")}
    assert max(ways.values()) < 1.5 * min(ways.values()), "its twelve words are near the crossing"
    assert max(ways["pio"], ways["prefetch"]) < 1.05 * ways["dma"], "what is fetched when a message comes delays it"


def test_berkeley_via_costs_cache_misses_and_carries_longer_messages_in_its_second_version(tmp_path: Path) -> None:
    settings = "rounds=4 messages=4"
    metrics = must("via_compare", "verilator", tmp_path, settings, "eight_hosts", profile="lanai4").metrics
    assert metrics["bvia2_us"] < metrics["bvia2_us_fresh_buffers"] < metrics["bvia2_one_entry_us"]
    assert metrics["bvia2_MBps"] > metrics["bvia1_MBps"] > 20
    assert metrics["firmvia_us"] == pytest.approx(metrics["firmvia_us_fresh_buffers"], rel=0.02), "it translates anyway"


def test_small_inline_messages_cost_less(tmp_path: Path) -> None:
    metrics = must("firmvia_pio_dma", "verilator", tmp_path, "rounds=3", "four_hosts", profile="sp").metrics
    for size in (4, 8):
        assert metrics[f"nic_send_us_pio_{size}B"] < metrics[f"nic_send_us_dma_{size}B"]
    assert metrics["nic_send_us_pio_64B"] > metrics["nic_send_us_dma_64B"]
    assert 8 <= metrics["pio_wins_up_to_B_with_host"] <= metrics["pio_wins_up_to_B_nic"] < 64
    stores = [metrics[f"host_send_us_pio_{size}B"] for size in (4, 8, 16, 32, 64)]
    assert stores == sorted(stores), "the host stores every word of an inline message"
    fetched = [metrics[f"nic_send_us_dma_{size}B"] for size in (4, 64)]
    assert fetched[1] < 1.1 * fetched[0], "the start of a DMA outweighs its words"
