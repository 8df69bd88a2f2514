"""What do Active Messages cost when the kernel moves every message: time, traps, copies, CPU share?

Strategy: SSAM (paper 002) between the first and the last host. A request with data is answered by a reply with the same
data; half of a round trip is the one-way time, the median over the repetitions of a size. Medians of the stages of a
size come from the trace. Traps and copied bytes are counted per message sent. Explicit polls are excluded there and
counted separately in an idle network. The kernel's share is the part of both hosts' CPU time spent in traps. Every byte
is compared.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from firmware.ssam.host import Port
from firmware.ssam.host.kernel import SsamKernel
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.kit.echo import Echo
from tb.studies.kit.findings import curve
from tb.studies.kit.hosts import start_in_turn
from tb.studies.kit.stages import stage_times

LAYER = "ssam"
CLUSTER = "fifo_cards"
SIZES = (0, 28, 64, 256, 1024, 2000)
OPTIONS = {
    "repetitions": Option(3, "round trips of each size", 1, 100_000),
    "largest": Option(1024, "largest message in bytes", 0, 2000, unit="bytes"),
    **layer_options(LAYER),
}
POLLS = 10
"""Number of polls in the idle network."""
QUICK = "repetitions=1 largest=64"
TINY = "repetitions=1 largest=28"


async def run(lab: Lab) -> None:
    """Run the study."""
    layers = lab.start_layer(LAYER)
    far = len(layers) - 1
    await start_in_turn(layers)
    ends = Echo(lab)
    near_port, far_port = [await layers[vnn].open([ends.echo, ends.returned]) for vnn in (0, far)]
    serving = lab.spawn(ends.serve(far_port), "the far process")
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    kernels, hosts = (layers[0].kernel, layers[far].kernel), (lab.running.hosts[0], lab.running.hosts[far])
    before = _counts(kernels, hosts, (near_port, far_port))
    ways = []
    for done, size in enumerate(sizes):
        since = lab.kernel.now
        trips = await ends.round_trips(near_port, far, size, lab.option("repetitions"))
        ways.append(statistics.median(trips.us) / 2)
        for stage, times in stage_times(lab, 0, since).items():
            lab.metric(f"{stage}_us_{size}B", statistics.median(times))
        lab.progress(done + 1, len(sizes), "sizes")
    spent = {name: after - before[name] for name, after in _counts(kernels, hosts, (near_port, far_port)).items()}
    ends.over = True
    await lab.all([serving])
    curve(lab, "one_way", sizes, ways, "B", "us", "one_way_us_{}B")
    _ratios(lab, spent, 2 * lab.option("repetitions") * len(sizes))
    before = _counts(kernels, hosts, (near_port, far_port))
    for _ in range(POLLS):
        await near_port.poll()
    traps = (_counts(kernels, hosts, (near_port, far_port))["traps"] - before["traps"]) / POLLS
    lab.metric("traps_per_poll", traps)
    lab.check("traps of a poll", traps == 1, f"{traps} traps a poll, expected 1")


def _ratios(lab: Lab, spent: dict[str, float], messages: int) -> None:
    """Record the cost per message."""
    lab.findings.messages += messages
    traps, copies = (spent["traps"] - spent["polls"]) / messages, spent["copied"] / spent["sent"]
    lab.metric("traps_per_send", traps)
    lab.metric("copies_per_message", copies)
    lab.check(
        "traps and copies of a message",
        (traps, copies) == (2, 3),
        f"{traps} traps of the sender and {copies} copies a message, expected 2 and 3",
    )
    lab.metric("kernel_share_percent", 100 * spent["kernel_ps"] / spent["cpu_ps"])


def _counts(kernels: Sequence[SsamKernel], hosts: Sequence[Any], ports: Sequence[Port]) -> dict[str, float]:
    """Return the activity counters of both hosts."""
    return {
        "traps": sum(kernel.traps for kernel in kernels),
        "polls": sum(port.polls for port in ports),
        "copied": sum(sum(kernel.copied.values()) for kernel in kernels),
        "sent": sum(kernel.copied["process_to_card"] for kernel in kernels),
        "kernel_ps": sum(kernel.inside_ps for kernel in kernels),
        "cpu_ps": sum(host.cpu_ps for host in hosts),
    }
