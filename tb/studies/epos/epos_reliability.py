"""Does EPOS with reliability deliver each message exactly once over a network with loss and damage, and at what cost?

Strategy: every host sends messages of random sizes to the next one, all at the same time, and receives as many. Packets
are lost and damaged (`fault.loss`, `fault.damage`), frames and acknowledgements alike. The content of each message
follows from its number, so that lost, duplicated, reordered and changed messages are detected. Goodput relative to a
run with `fault.loss=0` is the cost of losses. `SET="epos.protocols=reliability+flow"` adds credits, which may be lost
too.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from firmware.epos.nic.words import Word
from pymodels.errors import ConfigError
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.plan.request import Plan
from tb.studies.epos._epos import LAYER, started
from tb.studies.kit.hosts import together

CLUSTER = "four_hosts"
_LAYER = layer_options(LAYER)
OPTIONS = {
    "messages": Option(20, "messages of each host", 1, 1_000_000),
    "largest": Option(6000, "bytes of the largest message", 1, 1 << 16, unit="bytes"),
    **_LAYER,
    "epos.protocols": replace(_LAYER["epos.protocols"], default="reliability"),
    "fault.loss": Option(0.01, "probability that a packet is lost before it reaches a host, by seed", 0, 1),
    "fault.damage": Option(0.01, "probability that a bit of a packet is flipped before it reaches a host", 0, 1),
}
QUICK = "messages=10"
TINY = "messages=4 largest=600 fault.loss=0.1 epos.timeout_us=60"
VARIANTS = {
    "none": ("", "fault.loss=0 fault.damage=0"),
    "flow": ("", "epos.protocols=reliability+flow"),
    "much": ("", "fault.loss=0.05 fault.damage=0.05"),
}


def check(plan: Plan) -> None:
    """Raise ConfigError for a composition that assumes a reliable network."""
    if "reliability" not in str(plan.options["epos.protocols"]).split("+"):
        cause = "without reliability EPOS assumes a lossless network"
        raise ConfigError("SET", 0, "epos.protocols without reliability", cause, "compose reliability in")


async def run(lab: Lab) -> None:
    """Run the study."""
    hosts = await started(lab)
    begun, last = lab.kernel.now, len(hosts)
    ends = await together(lab, "host", [_host(lab, host, last) for host in hosts])
    took, size = (lab.kernel.now - begun) / 1e6, sum(end for end, _ in ends)
    wrong = sum(wrong for _, wrong in ends)
    lab.findings.messages += last * lab.option("messages")
    lab.metric("exactly_once", int(not wrong))
    lab.metric("goodput_MBps", size / took)
    lab.metric("resent", sum(host.protocols["reliability"].resent for host in hosts))
    lab.metric("damaged", sum([await host.host.pio_read(host.host.nic_base + Word.BAD) for host in hosts]))
    lab.metric("frames_held", sum([await host.host.pio_read(host.host.nic_base + Word.HELD) for host in hosts]))
    lab.check("arrivals", not wrong, f"{wrong} messages were lost, duplicated, reordered or changed")


def drawn(lab: Lab, node: int) -> list[bytes]:
    """Return the messages of a host."""
    rng = random.Random(f"{lab.seed} {node}")
    return [rng.randbytes(rng.randrange(lab.option("largest") + 1)) for _ in range(lab.option("messages"))]


async def _host(lab: Lab, host: Any, nodes: int) -> tuple[int, int]:
    """Send and receive all messages; return the number of bytes received and of wrong messages."""
    mine, other = drawn(lab, host.me), drawn(lab, (host.me - 1) % nodes)
    got = []
    for data in mine:
        await host.send((host.me + 1) % nodes, data)
        while (message := await host.poll()) is not None:
            got.append(message.data)
    while len(got) < len(other):
        got.append((await host.receive()).data)
    return sum(map(len, got)), sum(one != two for one, two in zip(got, other, strict=True))
