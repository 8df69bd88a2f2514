"""Up to which size does a message go faster in its descriptor than by DMA, for the NIC and with the host's stores?

Strategy (paper 001, 3.3.2, Figure 3.5): two pairs of hosts differ in the longest message that is written into the queue
instead of its address. The NIC's overhead is the time from its first access to the descriptor to the first character on
the link, from the trace: it includes reading the descriptor, but not the host's stores. The second curve is the host's
time in the posting call. The sum of both decides which choice is better for a message as a whole (readings C4).
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from pymodels.trace import Part, TraceEvent, unit
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.kit.findings import curve
from tb.studies.kit.records import since
from tb.studies.kit.statistics import cheaper_up_to
from tb.studies.via._via_case import Case
from tb.studies.via._via_ends import NETFINITY, End, pairs, stock
from tb.studies.via._via_rounds import latency

LAYER = "via"
CLUSTER = "four_hosts"
SIZES = (4, 8, 12, 16, 20, 24, 32, 48, 64)
CHOICES: dict[str, dict[str, float | str]] = {"pio": {"inline": max(SIZES)}, "dma": {"inline": 0}}
OPTIONS = {
    "rounds": Option(8, "round trips of each size", 2, 100_000),
    **layer_options(LAYER),
}
QUICK = "rounds=3"


async def run(lab: Lab) -> None:
    """Run the study."""
    nic: dict[str, list[float]] = {}
    whole: dict[str, list[float]] = {}
    for done, (choice, (near, far)) in enumerate((await pairs(lab, CHOICES)).items()):
        nic[choice], host, whole[choice] = [], [], []
        for size in SIZES:
            on_nic, on_host = await _overheads(lab, near, far, size)
            nic[choice].append(on_nic)
            host.append(on_host)
            whole[choice].append(on_nic + on_host)
        curve(lab, f"nic_send_{choice}", SIZES, nic[choice], "bytes", "us", f"nic_send_us_{choice}_{{}}B")
        curve(lab, f"host_send_{choice}", SIZES, host, "bytes", "us", f"host_send_us_{choice}_{{}}B")
        lab.series(f"both_{choice}", SIZES, whole[choice], "bytes", "us")
        lab.progress(done + 1, len(CHOICES), "ways to send")
    lab.metric("pio_wins_up_to_B_nic", cheaper_up_to(SIZES, nic["pio"], nic["dma"]))
    lab.metric("pio_wins_up_to_B_with_host", cheaper_up_to(SIZES, whole["pio"], whole["dma"]))
    if stock(lab, NETFINITY):
        for curves, of in ((nic, "the NIC"), (whole, "NIC and host")):
            first, last = (curves["pio"][i] < curves["dma"][i] for i in (0, -1))
            lab.check(
                f"crossover of {of}",
                first and not last,
                f"for {of}, short messages are not faster inline, or long ones are",
            )


async def _overheads(lab: Lab, near: End, far: End, size: int) -> tuple[float, float]:
    """Return the time of the NIC and of the host for one send, in us: medians over some round trips.

    The first message is left out, because its thread has just been given the CPU.
    """
    begun = lab.kernel.now
    await latency(near, far, Case(size), lab.option("rounds"))
    late = since(lab, begun)
    return nic_sends(late, near.node), host_sends(late, near.node)


def host_sends(trace: NDArray[Any], node: int) -> float:
    """Return the median time in us from a process's posting call to its return; excludes the kernel's own sends."""
    host = trace[trace["unit"] == unit(node, Part.HOST_CPU)]
    called, returned = (_by(host, event, "message") for event in (TraceEvent.SEND_CALL, TraceEvent.SEND_RETURN))
    return _median([(called[number], end) for number, end in returned.items()])


def nic_sends(trace: NDArray[Any], node: int) -> float:
    """Return the median time in us from the NIC's first access to a process's descriptor to the packet's first
    character.
    """
    nic = trace[trace["unit"] == unit(node, Part.NIC_CPU)]
    left = _by(trace[trace["unit"] == unit(node, Part.LINK)], TraceEvent.TX_HEAD, "packet")
    spans, noticed = [], 0
    for row in nic:
        if row["event"] == TraceEvent.NIC_NOTICED:
            noticed = int(row["time"])
        elif row["event"] == TraceEvent.NIC_DESCRIPTOR and row["argument2"] & 0xFF:  # VI 0 belongs to the kernels
            spans.append((noticed, left[int(row["packet"])]))
    return _median(spans)


def _by(trace: NDArray[Any], event: TraceEvent, field: str) -> dict[int, int]:
    """Return the time of each record of an event in ps, by the value of a field."""
    return {int(row[field]): int(row["time"]) for row in trace[trace["event"] == event]}


def _median(spans: Sequence[tuple[int, int]]) -> float:
    """Return the median of all spans but the first, in us."""
    return statistics.median(end - begin for begin, end in spans[1:]) / 1e6
