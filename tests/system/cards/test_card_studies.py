"""Claims of the card studies, with minimal settings.

Strategy: each study runs once on Verilator, and its results are checked against the purpose of the cards. No host CPU
may be on the path from card to card, and results must equal the models'. The bus must be shared, no message lost in a
reconfiguration, and a picture in the display's memory. The stream through two circuits also runs on Icarus and must
agree record for record.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.tpil.host import read_config
from pymodels.errors import ConfigError
from pymodels.formats.png import SIGNATURE
from tb.plan import studies
from tb.tools.paths import SIMULATORS
from tests.system.runs import assert_equal, must, run

CARDS, FAST = "two_cards", "fpga.image_bytes=3200"


def test_no_host_cpu_works_on_the_path_from_card_to_card(tmp_path: Path) -> None:
    metrics = must(
        "card_message", "verilator", tmp_path, cluster=CARDS, settings=f"{FAST} repetitions=1 row=2 largest=64"
    ).metrics
    assert metrics["host_cpu_events_card_to_card"] == 0
    assert metrics["host_cpu_events_card_to_host"] > 0, "the control: a host as the target"
    assert metrics["host_to_host_us_0B"] < metrics["host_to_remote_card_us_64B"]


def test_stream_through_circuits_of_two_hosts_is_the_models_on_both_simulators(tmp_path: Path) -> None:
    settings = f"{FAST} bytes=1024 message=512"
    one = must("card_pipeline", "verilator", tmp_path / "verilator", settings, CARDS)
    assert one.metrics["bytes_equal"] == one.metrics["bytes_equal_hosts"] == 1
    assert one.metrics["cards_over_hosts"] > 1, "two circuits beside two CPUs that filter sample by sample"
    assert_equal(one, must("card_pipeline", "icarus", tmp_path / "icarus", settings, CARDS))


def test_nic_to_card_dma_reaches_the_burst_limit_unless_results_share_the_bus(tmp_path: Path) -> None:
    metrics = must("card_contention", "verilator", tmp_path, cluster=CARDS, settings=f"{FAST} messages=3").metrics
    assert 0.85 <= metrics["p2p_share_of_burst_limit_4096B"] <= 1
    assert 0.85 <= metrics["p2p_share_card"] <= 1, "in a row: 50 MHz of user clock outrun the bus"
    assert metrics["p2p_us_longest_both_and_results"] > 1.1 * metrics["p2p_us_longest_lone"]
    assert metrics["host_MBps_both"] < metrics["host_MBps_host"]


def test_card_behind_a_bridge_leaves_the_bus_of_the_host_its_speed(tmp_path: Path) -> None:
    slow, fast = (
        must("card_contention", "verilator", tmp_path / name, f"{FAST} messages=3 fpga.bridge={bridge}", CARDS).metrics
        for name, bridge in (("beside", "false"), ("behind", "true"))
    )
    assert fast["bus_use_host"] < 0.7 * slow["bus_use_host"], "66 MHz again: the same bytes in half the time"
    assert fast["p2p_share_card"] > 0.85, "the NIC's DMA crosses the bridge at the speed of the card's bus"
    assert fast["host_MBps_both"] >= slow["host_MBps_both"]


def test_no_message_is_lost_while_an_image_is_swapped(tmp_path: Path) -> None:
    metrics = must("card_reconfigure", "verilator", tmp_path, cluster=CARDS, settings=f"{FAST} messages=8").metrics
    assert metrics["lost"] == 0
    assert metrics["bytes_equal"] == metrics["state_dropped"] == 1
    assert metrics["held"] > 0
    assert metrics["gap_us"] >= 96, "the bytes of the image, a clock of 30 ns each"


@pytest.mark.parametrize("study", [name for name in studies.names() if studies.load(name).cluster == CARDS])
def test_a_cluster_without_its_cards_is_rejected_before_a_run(study: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"CLUSTER: no (CELOXICA|FRAME_BUFFER): .*, or choose CLUSTER=two_cards"):
        run(study, "verilator", tmp_path, cluster="two_hosts")


@pytest.mark.parametrize("into", ["card", "ni"])
def test_the_display_contains_the_last_frame_as_a_picture(into: str, tmp_path: Path) -> None:
    settings = f"{FAST} frames=2 width=16 height=8 depth=32 into={into}"
    done = must("card_video", "verilator", tmp_path, cluster=CARDS, settings=settings)
    assert done.metrics["bytes_equal"] == 1
    assert done.metrics["frames_per_s"] > 0
    assert (tmp_path / "frame.png").read_bytes().startswith(SIGNATURE)


@pytest.mark.parametrize("settings", ["width=10", "width=4096 height=4096"])
def test_a_picture_that_does_not_fit_is_rejected_before_a_run(settings: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="width is 10|too large"):
        run("card_video", "verilator", tmp_path, settings, CARDS)


@pytest.mark.parametrize("card", ["CELOXICA", "FRAME_BUFFER", "MYRI"])
def test_tpil_moves_any_bytes_into_every_kind_of_card(card: str, tmp_path: Path) -> None:
    done = must("tpil", "verilator", tmp_path, f"largest=64 odd=16 card={card}", CARDS)
    config = read_config(tmp_path / "tpil.toml")
    cuts = [(f"{place}_{n}_{method.value}", first) for place in ("aligned", "askew")
            for n, (first, method) in enumerate(getattr(config, place))]  # fmt: skip
    assert {f"cutoff_{name}_B": first for name, first in cuts}.items() <= done.metrics.items()
    assert "tpil_choose" in (tmp_path / "tpil.h").read_text(encoding="utf-8")


def test_tpil_on_both_simulators(tmp_path: Path) -> None:
    one, other = (must("tpil", name, tmp_path / name, "largest=64 odd=8", CARDS) for name in SIMULATORS)
    assert_equal(one, other)


def test_tpil_chooses_within_five_percent_of_the_best_and_otherwise_on_another_bus(tmp_path: Path) -> None:
    slow = must("tpil", "verilator", tmp_path / "slow", "largest=6144", CARDS).metrics
    fast = must("tpil", "verilator", tmp_path / "fast", "largest=6144 fpga.width=64 fpga.mhz=66", CARDS).metrics
    assert max(slow["tpil_worst_loss"], fast["tpil_worst_loss"]) <= 0.05
    cuts = [{name: value for name, value in run.items() if name.startswith("cutoff")} for run in (slow, fast)]
    assert cuts[0] != cuts[1]
    assert any("direct" in name for name in cuts[0]), "DMA without a copy wins on the slow bus"
