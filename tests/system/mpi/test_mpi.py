"""MPI on the RTL, over each layer below.

Strategy: the studies run as a user would run them. Random operations of four ranks must equal the sequential reference,
also on a network that loses packets; unit tests show that it detects faults. Times are compared with each other, not
with published values. `test_equality.py` compares the simulators, here only for the SP's layers.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.runs import assert_equal, must

SP = "sp+ppc604-332"
"""Nodes of paper 001, chapter 6."""


@pytest.mark.parametrize("on", ["grim", "via"])
def test_random_operations_equal_the_sequential_reference(on: str, tmp_path: Path) -> None:
    metrics = must("mpi_matching", "verilator", tmp_path, f"operations=200 mpi.on={on}").metrics
    assert metrics["wrong"] == 0
    assert metrics["operations"] >= 200 and metrics["matched"] > 60


@pytest.mark.parametrize("on", ["pipes", "lapi"])
def test_both_simulators_agree_over_the_layers_of_the_sp(on: str, tmp_path: Path) -> None:
    settings = f"repetitions=1 messages=1 largest=0 mpi.on={on}"
    one, other = (must("mpi_pingpong", name, tmp_path / name, settings, profile=SP) for name in ("verilator", "icarus"))
    assert_equal(one, other)


def test_no_message_is_lost_or_reordered_when_packets_are_lost(tmp_path: Path) -> None:
    settings = "operations=100 fault.loss=0.02 grim.timeout_us=300"
    assert must("mpi_matching", "verilator", tmp_path, settings).metrics["wrong"] == 0


@pytest.mark.parametrize("on", ["pipes", "lapi"])
def test_no_message_is_lost_when_sp_routes_reorder_and_links_lose_and_damage_packets(on: str, tmp_path: Path) -> None:
    bad = f"fault.loss=0.02 fault.damage=0.02 fault.late_port=chip1.6 fault.late_us=20 {on}.timeout_us=200"
    settings = f"operations=60 mpi.on={on} {bad}"
    assert must("mpi_matching", "verilator", tmp_path, settings, "sp_board", profile=SP).metrics["wrong"] == 0


def test_native_mpi_is_faster_for_bytes_that_bypass_the_pipes(tmp_path: Path) -> None:
    settings = "repetitions=1 messages=4 largest=65536 mpi.on=pipes mpi.eager_limit=100000"
    metrics = must("mpi_pingpong", "verilator", tmp_path, settings, "sp_board", profile=SP).metrics
    assert metrics["bandwidth_MBps_65536B"] > 1.15 * metrics["bandwidth_MBps_16384B"]
    assert metrics["one_way_us_0B"] < metrics["one_way_us_64B"] < metrics["one_way_us_4095B"]


def test_modes_cost_what_their_protocols_need(tmp_path: Path) -> None:
    us = must("mpi_modes", "verilator", tmp_path).metrics
    standard, asks = us["posted_standard_us_4095B"], us["posted_standard_us_4096B"]
    assert us["posted_ready_us_4095B"] == pytest.approx(standard, rel=0.01)
    assert us["posted_ready_us_4096B"] == pytest.approx(standard, rel=0.01)
    assert us["posted_synchronous_us_4095B"] == pytest.approx(asks, rel=0.01)
    assert asks > standard + us["posted_standard_us_64B"]
    copy = us["posted_buffered_us_4095B"] - standard
    assert us["early_standard_us_4095B"] == pytest.approx(copy, rel=0.05), "early: a copy more, as buffered"


@pytest.mark.parametrize("on", ["grim", "via"])
def test_a_rendezvous_message_takes_longer_and_has_more_bandwidth_than_an_empty_one(on: str, tmp_path: Path) -> None:
    metrics = must("mpi_pingpong", "verilator", tmp_path, f"repetitions=2 messages=4 largest=4096 mpi.on={on}").metrics
    assert metrics["one_way_us_0B"] < metrics["one_way_us_64B"] < metrics["one_way_us_4095B"]
    assert metrics["one_way_us_4095B"] + metrics["one_way_us_0B"] < metrics["one_way_us_4096B"]


def test_nas_benchmarks_verify_and_a_stream_arrives_unchanged(tmp_path: Path) -> None:
    metrics = must("mpi_nas", "verilator", tmp_path, "codes=MG,LU").metrics
    assert metrics["verified_MG"] == 1
    assert metrics["changed_LU"] == 0
    assert metrics["communication_percent_LU"] < metrics["communication_percent_MG"]


def test_a_code_on_both_stacks_verifies_and_its_gain_matches_its_times(tmp_path: Path) -> None:
    """EP communicates little, so its gain is close to zero."""
    metrics = must("mpi_nas", "verilator", tmp_path, "codes=EP stacks=both mpi.on=lapi", "sp_board", profile=SP).metrics
    assert metrics["verified_EP"] == 1
    gain = 100 * (1 - metrics["ms_EP_lapi"] / metrics["ms_EP_native"])
    assert metrics["gain_percent_EP"] == pytest.approx(gain) and abs(gain) < 0.1
    assert all(0 < metrics[f"communication_percent_EP_{stack}"] < 0.1 for stack in ("native", "lapi"))
    assert metrics["codes_slower"] == 0


def test_mpi_over_lapi_is_faster_than_native_mpi_where_copies_dominate(tmp_path: Path) -> None:
    nodes = "sp+ppc604-332"
    us = must("mpi_latency", "verilator", tmp_path / "us", "repetitions=5 largest=512", profile=nodes).metrics
    assert us["us_lapi_512B"] < us["us_native_512B"]
    assert us["crossing_B"] <= 512
    assert us["us_native_4B"] < 1.1 * us["us_lapi_4B"]
    rates = must("mpi_bandwidth", "verilator", tmp_path / "rates", "messages=8", profile=nodes).metrics
    assert rates["MBps_lapi_1024B"] > rates["MBps_native_1024B"] > rates["MBps_native_256B"]


def test_only_the_native_interrupt_routine_waits_for_further_packets(tmp_path: Path) -> None:
    us = must("mpi_interrupt", "verilator", tmp_path, "repetitions=3 largest=4", profile=SP).metrics
    assert us["us_native_4B"] > us["us_lapi_4B"] + 30
    gains = [us[f"gain_percent_4B_{delay_us}us"] for delay_us in (5, 20, 70)]
    assert gains == sorted(gains)
