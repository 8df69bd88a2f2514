"""FirmVIA between two SP adapters over an SP switch: the invariants of every cluster, and the adapter's engines.

Strategy: one small run on the profile `sp`. Results, traces and packets must be equal on the other simulator, with
clocks always on, and with Verilator's public evaluation. The engines' behaviour is read from the trace, packet by
packet and command by command: sent packets arrive, the right engine waits on send and overlaps on receive, and commands
execute in order.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pymodels.trace import Part, TraceEvent, unit
from tests.system.runs import Run, assert_equal, must

STUDY, SMALL, PROFILE = "firmvia_latency", "repetitions=2 largest=1024", "sp"
FETCH, STORE = 0, 1
"""Command kinds in records of the left engine."""


@pytest.fixture(name="reference", scope="module")
def fixture_reference(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Reference run on Verilator with gated clocks."""
    return must(STUDY, "verilator", tmp_path_factory.mktemp(STUDY), SMALL, profile=PROFILE)


def records(run: Run, node: int, part: Part, event: TraceEvent) -> NDArray[np.void]:
    """Return the records of a part of a node, ordered by time."""
    trace = run.trace
    found: NDArray[np.void] = trace[(trace["unit"] == unit(node, part)) & (trace["event"] == event)]
    return found


def commands(run: Run, node: int, event: TraceEvent, kind: int) -> NDArray[np.void]:
    """Return the left engine's records of commands of a kind."""
    every = records(run, node, Part.HOST_DMA, event)
    found: NDArray[np.void] = every[every["argument"] == kind]
    return found


@pytest.mark.parametrize(("simulator", "always_on"), [("verilator", 1), ("icarus", 0)])
def test_results_and_trace_are_equal(reference: Run, simulator: str, always_on: int, tmp_path: Path) -> None:
    again = must(STUDY, simulator, tmp_path, f"{SMALL} run.always_on={always_on}", profile=PROFILE)
    assert len(again.trace) > 1000, "there is something to compare"
    assert_equal(reference, again)


def test_verilators_public_eval_gives_equal_results(reference: Run, tmp_path: Path) -> None:
    again = must(STUDY, "verilator", tmp_path, f"{SMALL} run.public_eval=1", profile=PROFILE)
    assert_equal(reference, again, same_simulator=True)


@pytest.mark.parametrize(("source", "target"), [(0, 1), (1, 0)])
def test_every_sent_packet_arrives_complete(reference: Run, source: int, target: int) -> None:
    sent = records(reference, source, Part.NET_SEND, TraceEvent.TX_START)["packet"].tolist()
    arrived = records(reference, target, Part.NET_RECV, TraceEvent.RX_TAIL)
    assert sent == arrived["packet"].tolist() and len(set(sent)) > 20
    assert not arrived["argument2"].any(), "syndromes"


@pytest.mark.parametrize("node", [0, 1])
def test_the_right_engine_sends_completely_fetched_packets(reference: Run, node: int) -> None:
    """Check that all bytes of a packet are in the FIFO before its head is sent."""
    starts = records(reference, node, Part.NET_SEND, TraceEvent.TX_START)
    tails = records(reference, node, Part.NET_SEND, TraceEvent.TX_TAIL)
    fetched = commands(reference, node, TraceEvent.DMA_START, FETCH)
    assert (starts["packet"] == tails["packet"]).all()
    long = tails["argument"] > 64
    assert long.sum() == (fetched["argument2"] > 64).sum() > 4
    moved = starts["time"][long] - fetched["time"][fetched["argument2"] > 64]
    assert (moved > fetched["argument2"][fetched["argument2"] > 64] * 30_000 // 4).all(), "a word a clock of the bus"
    heads = records(reference, node, Part.LINK, TraceEvent.TX_HEAD)["time"]
    assert (heads > starts["time"]).all() and (heads[long] < tails["time"][long]).all()


@pytest.mark.parametrize("node", [0, 1])
def test_left_and_right_engine_overlap_on_receive(reference: Run, node: int) -> None:
    """Check that a STORE of a long packet starts before all of the packet is in the FIFO."""
    stores = commands(reference, node, TraceEvent.DMA_START, STORE)
    at = dict(zip(stores["packet"].tolist(), stores["time"].tolist(), strict=True))
    begun = records(reference, node, Part.NET_RECV, TraceEvent.MOVE_START)
    moved = records(reference, node, Part.NET_RECV, TraceEvent.MOVE_DONE)
    overlaps = [
        begin["time"] < at[int(begin["argument"])] < end["time"]
        for begin, end in zip(begun, moved, strict=True)
        if begin["argument2"] == 1024
    ]
    assert len(overlaps) >= 2 and all(overlaps)


@pytest.mark.parametrize("node", [0, 1])
def test_commands_execute_one_after_the_other_in_order(reference: Run, node: int) -> None:
    """Check the order of commands, which puts a status in host memory after its data."""
    starts, ends = (
        records(reference, node, Part.HOST_DMA, event) for event in (TraceEvent.DMA_START, TraceEvent.DMA_DONE)
    )
    assert (starts["time"][1:] >= ends["time"][:-1]).all()
    assert (starts[["packet", "argument"]] == ends[["packet", "argument"]]).all()
    for kind in (FETCH, STORE):
        assert starts["packet"][starts["argument"] == kind].tolist() == list(range((starts["argument"] == kind).sum()))
