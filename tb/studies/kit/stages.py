"""What the trace says of stages: how fast each moves a long message, how long messages of one node take in each."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pymodels.trace import PARTS_PER_NODE, Part, TraceEvent
from tb.lab.lab import Lab
from tb.report.lives import Lives
from tb.report.stages import stages_of
from tb.report.wire import rows

Records = NDArray[np.void]

LONG = 512
"""Bytes or characters from which a transfer counts: shorter ones are start-up."""


def stage_times(lab: Lab, node: int, since_ps: int) -> dict[str, list[float]]:
    """By stage, in us, how long each message took that a node has sent since a time and that has arrived; empty
    without the trace.
    """
    lives, trace = Lives(lab.legend()), lab.trace()
    lives.take_all(rows(trace[trace["time"] >= since_ps]))
    found = defaultdict[str, list[float]](list)
    for life in lives.lives:
        if life.node == node and life.arrived is not None:
            for stage in stages_of(life):
                found[stage.name].append(stage.duration / 1e6)
    return dict(found)


def stage_rates(trace: Records, near: int, far: int, begun: int, ended: int) -> dict[str, float]:
    """MB/s, by stage, of what went from node `near` to node `far` between two times (ps): bytes over the time of the
    transfers. A stage without long transfers is left out. The interval must begin while the stages are idle.
    """
    inside = trace[(trace["time"] >= begun) & (trace["time"] <= ended)]
    sender, receiver = (inside[inside["unit"] // PARTS_PER_NODE == node] for node in (near, far))
    stages = {"host_injection": _injection(sender), "link": link_rate(sender), "host_dma": dma_rate(receiver)}
    return {name: rate for name, rate in stages.items() if rate}


def of_part(trace: Records, event: TraceEvent, part: Part) -> Records:
    """The records of an event on one part of the nodes, such as the host DMA."""
    return trace[(trace["event"] == event) & (trace["unit"] % PARTS_PER_NODE == part)]  # type: ignore[no-any-return]


def _injection(trace: Records) -> float:
    """The host's stores: from the call to the end of the last piece."""
    calls, written = (
        of_part(trace, event, Part.HOST_CPU) for event in (TraceEvent.SEND_CALL, TraceEvent.PAYLOAD_WRITTEN)
    )
    if not len(calls) or not len(written):
        return 0.0
    return int(written["argument"].sum()) / (int(written["time"][-1]) - int(calls["time"][0])) * 1e6


def link_rate(trace: Records) -> float:
    """MB/s of the link of a node in long packets, from the head of each to its tail; 0: it has sent none."""
    heads, tails = (of_part(trace, event, Part.LINK)["time"] for event in (TraceEvent.TX_HEAD, TraceEvent.TX_TAIL))
    return _rate(of_part(trace, TraceEvent.TX_TAIL, Part.NET_SEND)["argument"], heads, tails)


def dma_rate(trace: Records) -> float:
    """MB/s of the host DMA of a node while it moves long pieces, start-up included; 0: it has moved none."""
    starts, ends = (of_part(trace, event, Part.HOST_DMA) for event in (TraceEvent.DMA_START, TraceEvent.DMA_DONE))
    return _rate(np.abs(ends["argument2"]), starts["time"], ends["time"])


def _rate(sizes: NDArray[Any], begins: NDArray[Any], ends: NDArray[Any]) -> float:
    """Of transfers that follow each other, those that are long."""
    triples = zip(sizes.tolist(), begins.tolist(), ends.tolist(), strict=False)
    long = [(size, end - begin) for size, begin, end in triples if size >= LONG and end > begin]
    return sum(size for size, _ in long) / sum(took for _, took in long) * 1e6 if long else 0.0
