"""EPOS on RTL: the results of its studies are equal on both simulators, and consistent.

Strategy: each study runs once with small settings. Both DMAs, the cable and the copying CPU are monitored. Payload must
be moved four times, and long messages must reach the bandwidth of the narrowest of these stages. One composition runs
on both simulators, with equal results, trace and packets.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.runs import assert_equal, must


def test_payload_is_moved_four_times_and_long_messages_reach_the_narrowest_stage(tmp_path: Path) -> None:
    measured = must("epos_pipeline", "verilator", tmp_path, "repetitions=1 messages=4").metrics
    assert measured["copies_per_message"] == 4 and measured["buffers"] == 6
    moved = {name: value for name, value in measured.items() if name.startswith("bytes_over_payload_")}
    header = moved.pop("bytes_over_payload_2_nic_to_nic")
    assert set(moved.values()) == {1.0}
    assert 1 + 12 / 4096 <= header < 1 + 24 / 4096, "of each frame: header, padding and syndrome"
    rates = {name: value for name, value in measured.items() if name.startswith("stage_MBps_")}
    narrowest = min(rates, key=lambda name: rates[name])
    assert len(rates) == 4 and measured["narrowest_stage"] == int(narrowest.removeprefix("stage_MBps_")[0])
    assert 85 <= measured[narrowest.replace("stage_MBps_", "percent_of_stage_")] <= 100


def test_payload_of_a_message_by_rendezvous_is_moved_three_times(tmp_path: Path) -> None:
    settings = "repetitions=1 messages=3 largest=16384 epos.protocols=rendezvous"
    measured = must("epos_pipeline", "verilator", tmp_path, settings).metrics
    assert (measured["copies_per_message"], measured["bytes_over_payload_4_copy"]) == (3, 0)


def test_last_posted_stores_of_a_host_do_not_affect_the_next_layer(tmp_path: Path) -> None:
    """Posted writes of the last freed slots are still on their way when the memories of the NICs are cleared."""
    metrics = must("epos_rendezvous", "verilator", tmp_path, "largest=16384").metrics
    assert metrics["one_way_us_16384B_rendezvous"] < metrics["one_way_us_16384B_staging"]


def test_nic_multicast_saves_the_host_the_cost_of_each_receiver(tmp_path: Path) -> None:
    measured = must("epos_multicast", "verilator", tmp_path, "repetitions=1", cluster="four_hosts").metrics
    one, three = (measured[f"sender_cpu_us_{count}_nic"] for count in (1, 3))
    assert three == pytest.approx(one, rel=0.05)
    assert measured["sender_cpu_us_3_loop"] == pytest.approx(3 * measured["sender_cpu_us_1_loop"], rel=0.1)


@pytest.mark.parametrize(("staging", "all_come"), [("hold", True), ("overwrite", False)])
def test_slow_reader_gets_all_messages_or_detects_overwritten_ones(
    staging: str, all_come: bool, tmp_path: Path
) -> None:
    measured = must("epos_staging", "verilator", tmp_path, f"messages=16 epos.staging={staging}").metrics
    assert measured["mixed_delivered"] == 0 and (measured["overwritten"] == 0) is all_come
    assert (measured["delivered"] == 16) is all_come and (measured["frames_held"] > 0) is all_come


@pytest.mark.parametrize(
    ("study", "settings"),
    [
        ("epos_pipeline", "repetitions=1 messages=2 largest=256"),
        ("epos_compose", "repetitions=1 epos.protocols=reliability+flow"),
    ],
)
def test_both_simulators_give_equal_results(study: str, settings: str, tmp_path: Path) -> None:
    one, other = (must(study, name, tmp_path / name, settings) for name in ("verilator", "icarus"))
    assert_equal(one, other)
