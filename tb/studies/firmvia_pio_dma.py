"""Up to which size does a message go faster in its descriptor than by DMA, for the NIC and with the host's stores?

Strategy (paper 001, 3.3.2, Figure 3.5): two pairs of hosts differ in the longest message that is written into the queue
instead of its address. The NIC's overhead is the time from its first look at the descriptor to the first character on
the link, from the trace: reading the descriptor included, the host's stores left out. The host's own time of the call
that posts is the second curve; their sum tells which choice is right for a message as a whole (readings C4).
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from pymodels.trace import Part, TraceEvent, unit
from tb.lab import Lab
from tb.studies import Option, layer_options
from tb.studies._curves import cheaper_up_to
from tb.studies._via_case import Case
from tb.studies._via_ends import NETFINITY, End, pairs, stock
from tb.studies._via_rounds import latency

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
    """The study."""
    nic: dict[str, list[float]] = {}
    whole: dict[str, list[float]] = {}
    for done, (choice, (near, far)) in enumerate((await pairs(lab, CHOICES)).items()):
        nic[choice], host, whole[choice] = [], [], []
        for size in SIZES:
            on_nic, on_host = await _overheads(lab, near, far, size)
            nic[choice].append(on_nic)
            host.append(on_host)
            whole[choice].append(on_nic + on_host)
            lab.metric(f"nic_send_us_{choice}_{size}B", on_nic)
            lab.metric(f"host_send_us_{choice}_{size}B", on_host)
        lab.series(f"nic_send_{choice}", SIZES, nic[choice], "bytes", "us")
        lab.series(f"host_send_{choice}", SIZES, host, "bytes", "us")
        lab.series(f"both_{choice}", SIZES, whole[choice], "bytes", "us")
        lab.progress(done + 1, len(CHOICES), "ways to send")
    lab.metric("pio_wins_up_to_B_nic", cheaper_up_to(SIZES, nic["pio"], nic["dma"]))
    lab.metric("pio_wins_up_to_B_with_host", cheaper_up_to(SIZES, whole["pio"], whole["dma"]))
    if stock(lab, NETFINITY):
        for curves, of in ((nic, "the NIC"), (whole, "NIC and host")):
            first, last = (curves["pio"][i] < curves["dma"][i] for i in (0, -1))
            lab.check(first and not last, f"for {of}, a few bytes do not go faster inline, or many bytes do")


async def _overheads(lab: Lab, near: End, far: End, size: int) -> tuple[float, float]:
    """Time of the NIC and of the host for one send, in us: medians over the messages of some round trips."""
    begun = lab.kernel.now
    await latency(near, far, Case(size), lab.option("rounds"))
    trace = lab.trace()
    late = trace[trace["time"] >= begun]
    noticed = _times(late, TraceEvent.NIC_NOTICED, unit(near.node, Part.NIC_CPU))
    left = _times(late, TraceEvent.TX_HEAD, unit(near.node, Part.LINK))
    called = _times(late, TraceEvent.SEND_CALL, unit(near.node, Part.HOST_CPU))
    returned = _times(late, TraceEvent.SEND_RETURN, unit(near.node, Part.HOST_CPU))
    return _median(noticed, left), _median(called, returned)


def _times(trace: NDArray[Any], event: TraceEvent, where: int) -> list[int]:
    """When a unit did something, ps."""
    return [int(time) for time in trace["time"][(trace["event"] == event) & (trace["unit"] == where)]]


def _median(begins: Sequence[int], ends: Sequence[int]) -> float:
    """Of the times from each begin to the first end after it, in us."""
    took = [min((end for end in ends if end > begin), default=begin) - begin for begin in begins]
    return statistics.median(took) / 1e6
