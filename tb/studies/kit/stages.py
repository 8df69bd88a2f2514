"""Stages of messages, from the trace: rate of each stage for long messages, and time of each message in each stage."""

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
"""Shortest transfer, in bytes or characters, that counts for a rate; shorter ones are dominated by start-up."""


def stage_times(lab: Lab, node: int, since_ps: int) -> dict[str, list[float]]:
    """Return the time in us that each message spent in each stage, by the name of the stage.

    Counts messages that node `node` sent after `since_ps` and that have arrived. Empty without a trace.
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
    """Return the rate of each stage, in MB/s, for the traffic from node `near` to node `far` in an interval.

    A rate is the bytes of the long transfers over the time that they took. A stage without long transfers is left out.
    The interval must begin while the stages are idle.

    Args:
        trace: trace records in time order.
        near: number of the sending node.
        far: number of the receiving node.
        begun: start of the interval, ps.
        ended: end of the interval, ps.
    """
    inside = trace[(trace["time"] >= begun) & (trace["time"] <= ended)]
    sender, receiver = (inside[inside["unit"] // PARTS_PER_NODE == node] for node in (near, far))
    stages = {"host_injection": _injection(sender), "link": link_rate(sender), "host_dma": dma_rate(receiver)}
    return {name: rate for name, rate in stages.items() if rate}


def of_part(trace: Records, event: TraceEvent, part: Part) -> Records:
    """Return the records of an event at one part of all nodes, such as the host DMA."""
    return trace[(trace["event"] == event) & (trace["unit"] % PARTS_PER_NODE == part)]  # type: ignore[no-any-return]


def _injection(trace: Records) -> float:
    """Return the rate of the host's stores in MB/s, from the send call to the end of the last piece."""
    calls, written = (
        of_part(trace, event, Part.HOST_CPU) for event in (TraceEvent.SEND_CALL, TraceEvent.PAYLOAD_WRITTEN)
    )
    if not len(calls) or not len(written):
        return 0.0
    return int(written["argument"].sum()) / (int(written["time"][-1]) - int(calls["time"][0])) * 1e6


def link_rate(trace: Records) -> float:
    """Return the rate of a node's link in MB/s, from head to tail of each long packet; 0 without long packets."""
    heads, tails = (of_part(trace, event, Part.LINK)["time"] for event in (TraceEvent.TX_HEAD, TraceEvent.TX_TAIL))
    return _rate(of_part(trace, TraceEvent.TX_TAIL, Part.NET_SEND)["argument"], heads, tails)


def dma_rate(trace: Records) -> float:
    """Return the rate of a node's host DMA in MB/s for long transfers, start-up included; 0 without long transfers."""
    starts, ends = (of_part(trace, event, Part.HOST_DMA) for event in (TraceEvent.DMA_START, TraceEvent.DMA_DONE))
    return _rate(np.abs(ends["argument2"]), starts["time"], ends["time"])


def _rate(sizes: NDArray[Any], begins: NDArray[Any], ends: NDArray[Any]) -> float:
    """Return the rate of the long transfers among successive transfers, in MB/s."""
    triples = zip(sizes.tolist(), begins.tolist(), ends.tolist(), strict=False)
    long = [(size, end - begin) for size, begin, end in triples if size >= LONG and end > begin]
    return sum(size for size, _ in long) / sum(took for _, took in long) * 1e6 if long else 0.0
