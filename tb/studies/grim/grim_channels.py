"""How do latency, bandwidth and receive cost depend on the number of logical channels of a NI?

Strategy: four pairs of hosts whose NIs have 1, 8, 16 and 32 channels, as in Figure 4.10 (paper 000, 4.3.4). Each pair
measures the one-way time of a null message and the bandwidth of a long one. Then null messages arrive on all channels
in turn, far enough apart to find an idle NI. The trace gives the stages of each message: its NI's search, its detection
by the other NI, and its reception. According to the paper, the search grows with the number of channels and the
reception does not.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import Any

from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.grim._grim import OneWay, start_pairs
from tb.studies.kit.arrivals import tally
from tb.studies.kit.findings import curve
from tb.studies.kit.stages import stage_times

LAYER = "grim"
CLUSTER = "eight_hosts"
COUNTS = (1, 8, 16, 32)
STAGES = {"bus_and_channel_search": "search", "nic_notices": "notice", "nic_receive": "receive"}
"""Stages of a message on a NI's processor, with their names in the metrics."""
OPTIONS = {
    "repetitions": Option(10, "round trips of a null message", 1, 10_000),
    "size": Option(4096, "bytes of the message for the bandwidth", 64, 64000, unit="bytes"),
    "messages": Option(64, "null messages that arrive on the channels in turn", 1, 10_000),
}
QUICK = "repetitions=5 messages=32"
GAP_PS = 40_000_000
"""Interval in ps of two messages; a part of it varies, so that they arrive at any point of the polling loop."""


async def run(lab: Lab) -> None:
    """Run the study."""
    choices, common = [{"channels": count} for count in COUNTS], {"host_queue_bytes": 1 << 15, "multicast_trees": 0}
    pairs = await start_pairs(lab, choices, lambda i, near, far: _Pair(lab, COUNTS[i], near, far), common)
    size, measured = lab.option("size"), defaultdict[str, list[float]](list)
    for done, pair in enumerate(pairs):
        measured["one_way"].append(await pair.one_way_us(0, lab.option("repetitions")))
        measured["bandwidth"].append(size / await pair.one_way_us(size, max(lab.option("repetitions") // 5, 1)))
        begun = lab.kernel.now
        await pair.stream(lab.option("messages"))
        for stage, values in stage_times(lab, pair.near.host.node, begun).items():
            if stage in STAGES:
                measured[STAGES[stage]].append(statistics.mean(values))
        lab.progress(done + 1, len(pairs), "numbers of channels")
    tally(lab, [arrived for pair in pairs for arrived in pair.arrived.values()])
    for name, values in measured.items():
        unit = "MBps" if name == "bandwidth" else "us"
        curve(lab, name, COUNTS, values, "channels", unit.replace("p", "/"), f"{name}_{unit}_{{}}_channels")
    if "receive" in measured:  # missing without the trace
        lab.metric("receive_growth", measured["receive"][-1] / measured["receive"][0])
        lab.metric("search_growth", measured["search"][-1] / measured["search"][0])


class _Pair(OneWay):
    """Two hosts whose NIs have a number of channels."""

    def __init__(self, lab: Lab, count: int, near: Any, far: Any) -> None:
        super().__init__(lab, f"{count}", near, far, lab.option("size"))
        self.count = count
        self.arrived: dict[int, tuple[list[int], list[int]]] = {}
        """Received and expected message numbers, by channel."""

    def on_data(self, source: int, number: int, channel: int, a2: int, a3: int, payload: memoryview) -> None:
        """Handle a one-way message."""
        self.arrived[channel][0].append(number)

    async def stream(self, messages: int) -> None:
        """Send null messages on all channels in turn."""
        near, far, lab = self.near, self.far, self.lab
        data, _ = await self.to_far()
        for channel in range(self.count):
            self.arrived[channel] = [], list(range(channel, messages, self.count))
        due = sum(len(numbers) for _, numbers in self.arrived.values())
        serving = self.reading(lambda: sum(len(got) for got, _ in self.arrived.values()) == due)
        for number in range(messages):
            channel = number % self.count
            where = near.get_dest_id(far.get_my_vnn(), 0, channel)
            await near.send(where, data, number, channel, channel=channel)
            await lab.kernel.sleep(GAP_PS + number * 970_001 % (GAP_PS // 4), "the next message")
        await lab.all([serving])
        lab.findings.messages += messages
