"""What does it cost the NI to look up a message's sequence number by source channel, NI and destination channel?

Strategy: two pairs of hosts, one sequenced per NI, one any-to-any, as paper 000 compares them in 4.3.2. Null messages
one at a time, on an idle network, on all channels by turns: the stages of the trace tell what sending and receiving
cost each NI, and the round trip what the message sees of it.
"""

from __future__ import annotations

import statistics
from typing import Any

from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.grim._grim import RoundTrips, bring_up
from tb.studies.kit.stages import stage_times

LAYER = "grim"
NEEDS = ("per-NI sequencing",)
CLUSTER = "four_hosts"
SCHEMES = ("any-to-any", "per-ni")
STAGES = ("nic_send", "nic_receive")
OPTIONS = {
    "channels": Option(8, "channels of each NI", 1, 32),
    "repetitions": Option(16, "round trips of each pair", 1, 10_000),
}


async def run(lab: Lab) -> None:
    """The study."""
    of_host = {vnn: {"sequencing": SCHEMES[vnn // 2]} for vnn in range(2 * len(SCHEMES))}
    common = {"channels": lab.option("channels"), "host_queue_bytes": 1 << 16, "multicast_trees": 0}
    libraries: list[Any] = lab.start_layer(LAYER, common, of_host)
    pairs = [RoundTrips(lab, scheme, libraries[2 * i], libraries[2 * i + 1], 0) for i, scheme in enumerate(SCHEMES)]
    await bring_up(lab, libraries, [one for pair in pairs for one in pair.handlers()])
    for done, pair in enumerate(pairs):
        name, begun = pair.name.replace("-", "_"), lab.kernel.now
        lab.metric(f"one_way_us_{name}", await pair.one_way_us(0, lab.option("repetitions")))
        for stage, times in stage_times(lab, pair.near.host.node, begun).items():
            if stage in STAGES:
                lab.metric(f"{stage}_us_{name}", statistics.median(times))
        lab.progress(done + 1, len(pairs), "ways of sequencing")
    metrics = lab.findings.metrics
    for stage in STAGES:
        if f"{stage}_us_per_ni" in metrics:  # not without the trace
            more = metrics[f"{stage}_us_any_to_any"] - metrics[f"{stage}_us_per_ni"]
            lab.metric(f"{stage}_more_us", more)
