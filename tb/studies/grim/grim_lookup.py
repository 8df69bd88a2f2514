"""What does the lookup of a sequence number by source channel, NI and destination channel cost the NI?

Strategy: two pairs of hosts, one sequenced per NI, one any-to-any, as paper 000 compares them in 4.3.2. Null messages
are sent one at a time, on an idle network, on all channels in turn. The stages of the trace give the cost of sending
and receiving for each NI, and the round trip its effect on the latency.
"""

from __future__ import annotations

import statistics

from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.grim._grim import RoundTrips, start_pairs
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
    """Run the study."""
    common = {"channels": lab.option("channels"), "host_queue_bytes": 1 << 16, "multicast_trees": 0}
    choices = [{"sequencing": scheme} for scheme in SCHEMES]
    pairs = await start_pairs(lab, choices, lambda i, near, far: RoundTrips(lab, SCHEMES[i], near, far, 0), common)
    for done, pair in enumerate(pairs):
        name, begun = pair.name.replace("-", "_"), lab.kernel.now
        lab.metric(f"one_way_us_{name}", await pair.one_way_us(0, lab.option("repetitions")))
        for stage, times in stage_times(lab, pair.near.host.node, begun).items():
            if stage in STAGES:
                lab.metric(f"{stage}_us_{name}", statistics.median(times))
        lab.progress(done + 1, len(pairs), "ways of sequencing")
    metrics = lab.findings.metrics
    for stage in STAGES:
        if f"{stage}_us_per_ni" in metrics:  # missing without the trace
            more = metrics[f"{stage}_us_any_to_any"] - metrics[f"{stage}_us_per_ni"]
            lab.metric(f"{stage}_more_us", more)
