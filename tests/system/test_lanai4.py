"""LANai 4 in clusters: same firmware, same promises.

Strategy: the runs of the other system tests on the profile `lanai4`. Results, traces and packets must be equal on both
simulators and with free-running clocks. Every message must arrive once and intact, also when fetched by DMA and with
each size of SRAM. The trace shows that a second host DMA waits for the first. The host must reach words at any address
of the card.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pymodels.errors import SanlabError
from pymodels.trace import Part, TraceEvent, unit
from tb.plan import studies
from tb.plan.request import plan, resolve
from tb.tools.paths import SIMULATORS
from tests.system.runs import Run, assert_equal, must

PROFILE = "lanai4"
SMALL = {"echo_pingpong": "repetitions=1", "grim_pingpong": "repetitions=1 largest=256"}


@pytest.fixture(name="reference", scope="module", params=SMALL)
def fixture_reference(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Run]:
    """Return a study and its run on Verilator with gated clocks."""
    study = request.param
    return study, must(study, "verilator", tmp_path_factory.mktemp(study), SMALL[study], profile=PROFILE)


@pytest.mark.parametrize(("simulator", "always_on"), [("verilator", 1), ("icarus", 0)])
def test_results_and_trace_are_equal(
    reference: tuple[str, Run], simulator: str, always_on: int, tmp_path: Path
) -> None:
    study, first = reference
    again = must(study, simulator, tmp_path, f"{SMALL[study]} run.always_on={always_on}", profile=PROFILE)
    assert len(again.trace) > 100, "there is something to compare"
    assert_equal(first, again)


@pytest.mark.parametrize(
    "settings", ["sram.bytes=262144 sram.queue_bytes=131072 grim.segment_bytes=2048", "sram.bytes=524288", ""]
)
def test_every_size_of_sram_delivers_messages_both_ways(settings: str, tmp_path: Path) -> None:
    done = must("grim_streaming", "verilator", tmp_path, f"messages=60 size=600 {settings}", profile=PROFILE)
    names = ("delivered", "lost", "doubled", "out_of_order", "changed")
    assert [done.metrics[name] for name in names] == [60, 0, 0, 0, 0]


def test_a_second_host_dma_waits_for_the_first(tmp_path: Path) -> None:
    settings = "messages=60 size=8000 grim.dma_inject=1"
    done = must("grim_streaming", "verilator", tmp_path, settings, profile=PROFILE)
    records = done.trace
    dma = records[(records["unit"] == unit(0, Part.HOST_DMA))]
    starts, ends = (dma[dma["event"] == event] for event in (TraceEvent.DMA_START, TraceEvent.DMA_DONE))
    assert len(starts) == len(ends) > 50
    assert (starts["time"][1:] > ends["time"][:-1]).all(), "one transfer at a time"
    directions = np.sign(starts["argument2"])
    assert set(directions) == {-1, 1}, "payloads in, messages out"
    asked = done.times(0, Part.NIC_CPU, TraceEvent.NIC_DMA_START)
    busy = [((starts["time"] < time) & (ends["time"] > time)).any() for time in asked]
    assert any(busy), "the firmware requested a transfer while another one was active"


def test_an_option_that_needs_doorbells_is_rejected_before_any_build() -> None:
    info = studies.load("grim_pingpong")
    request = resolve("grim_pingpong", "verilator", "1", False, "", PROFILE, "grim.doorbell_notify=1", SIMULATORS)
    with pytest.raises(SanlabError, match="the NIC has no doorbells"):
        plan(request, info)


@pytest.mark.parametrize("sram_bytes", [524288, 1048576])
def test_the_host_reaches_every_word_of_the_card(sram_bytes: int, tmp_path: Path) -> None:
    done = must("card_words", "verilator", tmp_path, f"sram.bytes={sram_bytes}", profile=PROFILE)
    assert done.metrics["words_wrong"] == 0


def test_a_dma_transfer_of_more_than_200_us_is_measured_to_its_end(tmp_path: Path) -> None:
    slow = "bridge.up_read_wait=9 bridge.up_read_initial=3 bridge.up_devsel=1 bridge.read_latency=9 bridge.drain_den=31"
    run = must("basic_costs", "verilator", tmp_path, f"{slow} dmas=1", profile="lanai4-now+ultra-167")
    started, ended = (run.times(0, Part.HOST_DMA, event) for event in (TraceEvent.DMA_START, TraceEvent.DMA_DONE))
    longest = max(end - start for start, end in zip(started, ended, strict=True)) / 1e6
    assert longest > 200
    assert 8192 / longest == pytest.approx(run.metrics["dma_MBps_8192B_host_to_nic"], rel=0.02)
