"""FirmVIA between two SP adapters over an SP switch: the promises of every cluster, and what the hardware is to do.

Strategy: one small run on the profile `sp`; on the other simulator and with clocks always on results, traces and
packets must be equal, and on the slow path of Verilator. What the adapter's engines promise is read from the trace of
that run, packet by packet and command by command: what is sent has arrived, the right engine waits on send and overlaps
on receive, commands are done in their order.
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
"""What a record of the left engine is about."""


@pytest.fixture(name="reference", scope="module")
def fixture_reference(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Verilator, sleeping clocks."""
    return must(STUDY, "verilator", tmp_path_factory.mktemp(STUDY), SMALL, profile=PROFILE)


def records(run: Run, node: int, part: Part, event: TraceEvent) -> NDArray[np.void]:
    """What a part of a node recorded, in time."""
    trace = run.trace
    found: NDArray[np.void] = trace[(trace["unit"] == unit(node, part)) & (trace["event"] == event)]
    return found


def commands(run: Run, node: int, event: TraceEvent, kind: int) -> NDArray[np.void]:
    """Records of the left engine about commands of a kind."""
    every = records(run, node, Part.HOST_DMA, event)
    found: NDArray[np.void] = every[every["argument"] == kind]
    return found


@pytest.mark.parametrize(("simulator", "always_on"), [("verilator", 1), ("icarus", 0)])
def test_results_and_trace_are_equal(reference: Run, simulator: str, always_on: int, tmp_path: Path) -> None:
    again = must(STUDY, simulator, tmp_path, f"{SMALL} run.always_on={always_on}", profile=PROFILE)
    assert len(again.trace) > 1000, "there is something to compare"
    assert_equal(reference, again)


def test_verilators_public_eval_does_the_same(reference: Run, tmp_path: Path) -> None:
    again = must(STUDY, "verilator", tmp_path, f"{SMALL} run.public_eval=1", profile=PROFILE)
    assert_equal(reference, again, same_simulator=True)


@pytest.mark.parametrize(("source", "target"), [(0, 1), (1, 0)])
def test_every_packet_that_is_sent_arrives_whole(reference: Run, source: int, target: int) -> None:
    sent = records(reference, source, Part.NET_SEND, TraceEvent.TX_START)["packet"].tolist()
    arrived = records(reference, target, Part.NET_RECV, TraceEvent.RX_TAIL)
    assert sent == arrived["packet"].tolist() and len(set(sent)) > 20
    assert not arrived["argument2"].any(), "syndromes"


@pytest.mark.parametrize("node", [0, 1])
def test_the_right_engine_sends_what_is_fetched_whole(reference: Run, node: int) -> None:
    """The bytes of a packet of user data stand in the FIFO before its first word goes on, and its head leaves then."""
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
    """A STORE of a packet is on the bus before all of it is in the FIFO, for what is long enough."""
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
def test_commands_are_done_one_after_the_other_in_their_order(reference: Run, node: int) -> None:
    """So a status is in host memory after the data before it."""
    starts, ends = (
        records(reference, node, Part.HOST_DMA, event) for event in (TraceEvent.DMA_START, TraceEvent.DMA_DONE)
    )
    assert (starts["time"][1:] >= ends["time"][:-1]).all()
    assert (starts[["packet", "argument"]] == ends[["packet", "argument"]]).all()
    for kind in (FETCH, STORE):
        assert starts["packet"][starts["argument"] == kind].tolist() == list(range((starts["argument"] == kind).sum()))
