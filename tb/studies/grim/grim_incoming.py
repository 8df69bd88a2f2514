"""How often does a message use an incoming queue of the NI, by the interval of its endpoint's polls?

Strategy: NIs with buffers at both ends, as in early GRIM (paper 000, 4.3.3). All hosts but the first send null messages
to the first one as fast as they can. It polls until no message is left, then computes for a while, and polls again. The
result is the share of messages that found no room in the endpoint, and so waited in the NI, over the time between
polls. The paper found it to be small, since endpoints commonly keep up.
"""

from __future__ import annotations

from typing import Any

from firmware.grim.nic.layout import Counter
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.grim._grim import bring_up
from tb.studies.kit.arrivals import tally

LAYER = "grim"
NEEDS = ("incoming queues",)
CLUSTER = "four_hosts"
GAPS_US = (0, 250, 500, 1000, 2000)
"""Computing times of the endpoint between its polls in us."""
OPTIONS = {
    "messages": Option(100, "messages of each sender for each gap", 1, 100_000),
    "host_queue_bytes": Option(4096, "bytes of the endpoint's queue in host memory", 2048, 1 << 20, unit="bytes"),
}


async def run(lab: Lab) -> None:
    """Run the study."""
    size = lab.option("host_queue_bytes")
    options: dict[str, float | str] = {
        "buffering": "both",
        "segment_bytes": 512,
        "host_queue_bytes": size,
        "multicast_trees": 0,
    }
    reader = _Reader(lab, lab.start_layer(LAYER, options))
    await bring_up(lab, reader.libraries, [{"data": reader.on_data}, *({} for _ in reader.libraries[1:])])
    shares = []
    for done, gap in enumerate(GAPS_US):
        shares.append(100 * await reader.share_queued(gap, lab.option("messages")))
        lab.metric(f"queued_percent_{gap}us", shares[-1])
        lab.progress(done + 1, len(GAPS_US), "gaps between polls")
    lab.series("queued", GAPS_US, shares, "us", "%")


class _Reader:
    """Host that reads, and hosts that send to it."""

    def __init__(self, lab: Lab, libraries: list[Any]) -> None:
        self.lab, self.libraries = lab, libraries
        self._numbers: dict[int, list[int]] = {}

    def on_data(self, source: int, number: int, sender: int, a2: int, a3: int, payload: memoryview) -> None:
        """Handle a message."""
        self._numbers[sender].append(number)

    async def share_queued(self, gap_us: int, messages: int) -> float:
        """Return the share of the messages that waited in the NI's incoming queue."""
        lab, (near, *senders) = self.lab, self.libraries
        self._numbers = {sender: [] for sender in range(1, len(self.libraries))}
        before = await near.ni_counter(Counter.QUEUED)
        tasks = [lab.spawn(self._send(library, messages), f"sender {library.get_my_vnn()}") for library in senders]
        due = messages * len(senders)
        while sum(map(len, self._numbers.values())) < due:
            if not await near.poll():
                await lab.kernel.sleep(gap_us * 1_000_000 + 1_000_000, "the next poll")
        await lab.all(tasks)
        lab.findings.messages += due
        tally(lab, [(numbers, range(messages)) for numbers in self._numbers.values()], f"_{gap_us}us")
        queued: int = await near.ni_counter(Counter.QUEUED) - before
        return queued / due

    async def _send(self, library: Any, messages: int) -> None:
        data, where = await library.resolve_handler("data"), library.get_dest_id(0)
        for number in range(messages):
            await library.send(where, data, number, library.get_my_vnn())
