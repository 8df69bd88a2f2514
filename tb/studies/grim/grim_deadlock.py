"""Can NIs that wait for their outgoing link deadlock, and what is then the cycle of waits (paper 000, 4.2.2 and 4.2.3)?

Strategy: all hosts send to all others in random order, short and long messages mixed, so that links are busy when
answers are due. With the control-message queue every message arrives. Without it (`grim.control_queue=0`), NIs wait for
each other. The run then ends with the cycle of waits in `stuck.txt`, long before the network's time-outs cut packets.
The same holds for a hybrid queue whose NI waits between header and payload: `CLUSTER=two_hosts
SET="grim.queue_style=hybrid grim.hybrid_wait=1 longest=96 bridge.drain_den=255"`, two nodes that send to each other
faster than their hosts read. A header waits only if a short message is between it and the link, so messages of 96 bytes
deadlock and long ones do not.
"""

from __future__ import annotations

import random
from typing import Any

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.stuck.watch import until_deadlock
from tb.studies.grim._grim import bring_up

LAYER = "grim"
CLUSTER = "four_hosts"
CYCLIC_ROUTES = True
OPTIONS = {
    "each": Option(20, "messages from each host to each other host", 1, 100_000),
    "longest": Option(4096, "bytes of a long message; every third is long", 0, 1 << 20, unit="bytes"),
    "short": Option(64, "bytes of the others", 0, 1 << 20, unit="bytes"),
    "quiet_us": Option(
        200, "time without a message that counts as a deadlock; longer than any message takes", 10, 1_000_000
    ),
    **layer_options(LAYER),
}


async def run(lab: Lab) -> None:
    """Run the study."""
    hosts = [_Host(lab, vnn, library) for vnn, library in enumerate(lab.start_layer(LAYER))]
    await bring_up(lab, [host.library for host in hosts], [{"data": host.on_data} for host in hosts])
    streams = [lab.spawn(host.stream(len(hosts)), f"host {host.vnn}") for host in hosts]
    found = await until_deadlock(lab, streams, lab.option("quiet_us"), lambda: sum(host.handled for host in hosts))
    total = lab.option("each") * len(hosts) * (len(hosts) - 1)
    delivered = sum(host.handled for host in hosts)
    lab.metric("delivered", delivered)
    lab.metric("undelivered", total - delivered)
    lab.metric("deadlocks", len(found.cycles) if found else 0)
    lab.metric("units_in_cycles", len(found.units) if found else 0)
    waits = lab.text("grim.queue_style") == "hybrid" and lab.option("grim.hybrid_wait")
    may = waits or not lab.option("grim.control_queue")
    told = "; ".join(found.headlines()) if found else ""
    circles = found is None or bool(found.cycles)
    lab.check(
        "cycle of waits",
        circles,
        f"no message for {lab.option('quiet_us')} us, but no cycle of waits; increase quiet_us",
    )
    lab.check("deadlock", bool(may) or not told, f"deadlock although no NI waits for its link: {told}")


class _Host:
    """Host that sends to all others."""

    def __init__(self, lab: Lab, vnn: int, library: Any) -> None:
        self.lab, self.vnn, self.library = lab, vnn, library
        self.handled = 0

    async def stream(self, nodes: int) -> None:
        """Send all messages, then receive all."""
        number = await self.library.resolve_handler("data")
        rng = random.Random(f"{self.lab.seed}.{self.vnn}")
        targets = [vnn for vnn in range(nodes) if vnn != self.vnn] * self.lab.option("each")
        for i, vnn in enumerate(rng.sample(targets, len(targets))):
            size = self.lab.option("short" if i % 3 else "longest")
            await self.library.send(self.library.get_dest_id(vnn), number, i, payload=bytes(size))
        await self.library.wait_for(lambda: self.handled == len(targets))

    def on_data(self, source: int, number: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        """Handle a message."""
        self.handled += 1
        self.lab.findings.messages += 1
