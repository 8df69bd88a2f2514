"""Published values of GRIM's papers, compared with GRIM's studies on RTL.

Strategy: each study runs as users run it, with small settings. Its metrics must be within the agreement that it
declares for each published value, and in the order that the paper's text states. Figure 4.10 is compared with the
clocks charged for its path.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.costs import PathTable
from pymodels.hardware.processors import NicProcessor, nic_charge
from pymodels.profiles import load_profile
from pymodels.published import load_published
from tb.report.life import COPY
from tests.amount import EVERY_CASE
from tests.system.lives import kinds, whole_lives
from tests.system.runs import must


@pytest.mark.parametrize(
    ("profile", "simulator", "nic"),
    [
        ("lanai9", "verilator", "lanai9_133MHz"),
        ("lanai4", "verilator", "lanai4_33MHz"),
        ("lanai9", "icarus" if EVERY_CASE else "verilator", "lanai9_100MHz"),
    ],
)
def test_search_of_a_channel_takes_the_clocks_of_its_path(
    profile: str, simulator: str, nic: str, tmp_path: Path
) -> None:
    """Figure 4.10 has four values for each card, all of which are measured."""
    period = {"lanai9_133MHz": 7500, "lanai4_33MHz": 30000, "lanai9_100MHz": 10000}[nic]
    settings = f"times=3 disturbed=30 stream=20000 clock.nic_ps={period}"
    metrics = must("grim_channel_scan", simulator, tmp_path, settings, profile=profile).metrics
    charge = nic_charge(PathTable.of_nic("grim").cost("poll_channel"), NicProcessor.from_profile(load_profile(profile)))
    assert metrics[f"scan_us_per_channel_{nic}"] == pytest.approx(charge.clocks * period / 1e6)
    rows = [row for row in load_published() if row.study == "grim_channel_scan" and row.metric in metrics]
    assert len([row for row in rows if not row.over]) == 5
    assert metrics[f"scan_disturbed_us_{nic}_32"] > metrics[f"scan_us_{nic}_32"]


@pytest.mark.parametrize("simulator", ["verilator", "icarus"])
def test_nic_multicast_tree_relieves_the_sender_and_reaches_all(simulator: str, tmp_path: Path) -> None:
    if simulator == "icarus":
        done = must("grim_multicast", simulator, tmp_path, "size=256", cluster="two_hosts")
        assert done.metrics["delivered"] == 1 * 2 * 2
        return
    done = must("grim_multicast", simulator, tmp_path, "size=64", cluster="eight_hosts")
    assert done.metrics["delivered"] == (1 + 3 + 7) * 2 * 2
    assert done.metrics["copies"] == (1 + 3 + 7) * 2
    assert kinds(whole_lives(done, nameless=8 * 7 * 2))[COPY] == done.metrics["copies"]
    assert done.metrics["tree_host_us_8_hosts_64B"] < done.metrics["loop_host_us_8_hosts_64B"] / 4


def test_knees_of_bursts_agree_with_figure_4_6_and_the_law(tmp_path: Path) -> None:
    done = must("grim_policing", "verilator", tmp_path, "limits=3", cluster="eight_hosts")
    rows = [row for row in load_published() if row.study == "grim_policing" and row.metric in done.metrics]
    assert len(rows) == 3
    for row in rows:
        assert row.agrees(done.metrics[row.metric]), f"{row.name}: {done.metrics[row.metric]}"
    assert done.metrics["knee_law_worst_error"] < 0.1
    for limit in (4, 8, 16):
        assert done.metrics[f"steady_us_{limit}"] > 10 * done.metrics[f"plateau_us_{limit}"], (
            "past the limit it rises steeply"
        )


@pytest.mark.parametrize("profile", ["lanai9", "lanai4"])
def test_measured_knee_of_an_unlimited_burst_agrees_with_the_law(profile: str, tmp_path: Path) -> None:
    done = must(
        "grim_policing",
        "verilator",
        tmp_path,
        "limits=1 queue=1024 burst=800 queue_bytes=16384",
        "eight_hosts",
        1,
        profile,
    )
    assert done.metrics["unbounded_knee_messages"] == pytest.approx(done.metrics["knee_by_law_messages"], rel=0.1)
    series = done.results.series
    assert series["overhead_unbounded_16384B"].x[-1] == series["overhead_4"].x[-1] == 800


def test_receiving_costs_the_same_on_any_number_of_channels_and_searching_does_not(tmp_path: Path) -> None:
    metrics = must("grim_channels", "verilator", tmp_path, "repetitions=3 messages=64", cluster="eight_hosts").metrics
    assert metrics["receive_growth"] == pytest.approx(1, rel=0.02)
    for stage in ("search", "notice", "one_way"):
        times = [metrics[f"{stage}_us_{count}_channels"] for count in (1, 8, 16, 32)]
        assert times == sorted(times) and times[-1] > 1.5 * times[0], stage


def test_congested_endpoint_slows_others_per_ni_but_not_any_to_any(tmp_path: Path) -> None:
    done = must("grim_sequencing", "verilator", tmp_path, "channels=3 messages=40 late_us=1500", cluster="eight_hosts")
    rates = {
        scheme: [done.metrics[f"messages_per_s_{scheme}_{i}"] for i in range(3)] for scheme in ("any_to_any", "per_ni")
    }
    assert max(rates["per_ni"][1:]) < 1.2 * rates["per_ni"][0], "per NI, all wait for the congested one"
    assert min(rates["any_to_any"][1:]) > 1.8 * rates["any_to_any"][0]
    assert done.metrics["resent_any_to_any"] > 0 < done.metrics["resent_per_ni"]


def test_incoming_queues_save_retransmissions_and_cost_room_and_latency(tmp_path: Path) -> None:
    metrics = must("grim_buffering", "verilator", tmp_path, "repetitions=2", cluster="eight_hosts").metrics
    assert metrics["injected_at_once_sending"] > 1.5 * metrics["injected_at_once_both"]
    assert metrics["one_way_us_both_0B"] > metrics["one_way_us_sending_0B"]
    assert metrics["queued_both"] > 0 == metrics["queued_sending"]
    assert metrics["resent_sending"] > 0 == metrics["resent_both"]


def test_queue_styles_use_their_room_as_the_paper_says(tmp_path: Path) -> None:
    metrics = must("grim_queues", "verilator", tmp_path, "repetitions=1", cluster="eight_hosts").metrics
    for size in (64, 256, 1024):
        append, slotted, hybrid = (
            metrics[f"payload_percent_{style}_{size}B"] for style in ("append", "slotted", "hybrid")
        )
        assert append > hybrid > slotted, f"{size} bytes"
    assert metrics["messages_slotted_0B"] == metrics["messages_slotted_4096B"], "a slot takes any message"


def test_latency_and_bandwidth_are_of_the_class_of_the_papers(tmp_path: Path) -> None:
    metrics = must("grim_pingpong", "verilator", tmp_path, "repetitions=5").metrics
    assert metrics["one_way_us_0B"] < 20
    assert metrics["percent_of_link_65536B"] > 85, "the link is the narrowest stage"


def test_combined_stores_carry_more_than_words_and_up_to_a_kilobyte_more_than_dma(tmp_path: Path) -> None:
    metrics = must("grim_injection", "verilator", tmp_path, "repetitions=1", cluster="eight_hosts").metrics
    for size in (64, 256, 1024, 4096):
        words, combined, dma = (metrics[f"inject_MBps_{way}_{size}B"] for way in ("words", "combined", "dma"))
        assert combined > 2 * words
        assert dma < combined or size > 1024, "the NI must ask the bus first, and the host waits for it"
    assert metrics["inject_MBps_dma_4096B"] > 3 * metrics["inject_MBps_words_4096B"]
    assert metrics["send_us_doorbell_0B"] < 1.05 * metrics["send_us_combined_0B"]


def test_injection_by_words_is_as_fast_as_the_bus_takes_words(tmp_path: Path) -> None:
    metrics = must("grim_injection", "verilator", tmp_path, "repetitions=1", "eight_hosts", 1, "lanai4").metrics
    (row,) = (row for row in load_published() if row.study == "grim_injection")
    assert row.agrees(metrics[row.metric])


def test_immediate_retransmissions_delay_other_messages(tmp_path: Path) -> None:
    metrics = must("grim_retry", "verilator", tmp_path, cluster="eight_hosts").metrics
    assert metrics["nacks_0us"] > metrics["nacks_10us"] > metrics["nacks_50us"] > 0
    assert metrics["others_us_0us"] > 1.2 * metrics["others_us_50us"]
    assert metrics["late_us_10us"] < metrics["late_us_50us"]


def test_only_working_sets_larger_than_the_translation_cache_miss(tmp_path: Path) -> None:
    metrics = must("grim_translation", "verilator", tmp_path, "writes=16 grim.translation_runtime=4").metrics
    rates = [metrics[f"hit_percent_{blocks}_blocks"] for blocks in (1, 2, 4, 5, 6, 8, 16)]
    assert rates[:3] == [100, 100, 100]
    assert rates[3] < 100 and rates[-1] < 60
    assert metrics["write_us_16_blocks"] > metrics["write_us_4_blocks"] + 10, "most writes wait for the driver"


def test_a_lock_in_the_message_takes_less_than_a_second_write(tmp_path: Path) -> None:
    metrics = must("grim_notification", "verilator", tmp_path, "repetitions=3").metrics
    assert metrics["saved_us_4B"] > 1
    assert metrics["in_message_per_s"] > 1.4 * metrics["two_writes_per_s"]


def test_sequence_lookup_at_the_receiver_is_slower_any_to_any(tmp_path: Path) -> None:
    metrics = must("grim_lookup", "verilator", tmp_path, "repetitions=4", cluster="four_hosts").metrics
    assert metrics["nic_receive_more_us"] > 0


def test_incoming_queues_are_used_only_if_an_endpoint_polls_rarely(tmp_path: Path) -> None:
    metrics = must("grim_incoming", "verilator", tmp_path, "messages=60", cluster="four_hosts").metrics
    assert metrics["queued_percent_0us"] == metrics["queued_percent_250us"] == 0 < metrics["queued_percent_2000us"]


def test_unused_overflow_queue_costs_a_reply_little(tmp_path: Path) -> None:
    metrics = must("grim_overflow_cost", "verilator", tmp_path, "repetitions=4", cluster="four_hosts").metrics
    for size in (0, 256, 4096):
        assert metrics[f"penalty_percent_{size}B"] < 6


def test_remote_memory_in_pages_and_missed_costs_more_at_every_size(tmp_path: Path) -> None:
    metrics = must("grim_remote_memory", "verilator", tmp_path, "repetitions=1 largest=65536").metrics
    for faster, slower in (("rm_v", "rm_v_scattered"), ("rm_v_scattered", "rm_v_miss")):
        assert metrics[f"{faster}_us_65536B"] < metrics[f"{slower}_us_65536B"]
