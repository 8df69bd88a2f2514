"""How much does NIC-based multicast of EPOS save over a loop of sends on the host, by the number of receivers?

Strategy: the first host sends a message to 1, 2, ... others, once by its NIC, which repeats the frame from its Send
Ring for each receiver, and once by a loop of sends. The time ends when the last receiver has the message. The host's
part is the CPU time of the sender.
"""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Any

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.epos._epos import LAYER, started
from tb.studies.kit.cpu import CpuTime
from tb.studies.kit.findings import curve

CLUSTER = "eight_hosts"
_LAYER = layer_options(LAYER)
OPTIONS = {
    "repetitions": Option(3, "multicasts for each number of receivers and way", 1, 100_000),
    "size": Option(256, "bytes of a message", 0, 1 << 16, unit="bytes"),
    **_LAYER,
    "epos.protocols": replace(_LAYER["epos.protocols"], default="multicast"),
}
QUICK = "repetitions=1"


async def run(lab: Lab) -> None:
    """Run the study."""
    hosts = await started(lab)
    numbers = list(range(1, len(hosts)))
    curves: dict[str, list[float]] = {"nic": [], "loop": []}
    for count in numbers:
        for way, values in curves.items():
            took, used = zip(
                *[await _once(lab, hosts, count, way) for _ in range(lab.option("repetitions"))], strict=True
            )
            values.append(statistics.mean(took))
            lab.metric(f"sender_cpu_us_{count}_{way}", statistics.mean(used))
        lab.progress(count, len(numbers), "numbers of receivers")
    for way, values in curves.items():
        curve(lab, f"all_have_it_{way}", numbers, values, "receivers", "us", f"all_have_it_us_{{}}_{way}")


async def _once(lab: Lab, hosts: list[Any], count: int, way: str) -> tuple[float, float]:
    """Send one multicast to `count` hosts; return the time until the last one has it and the sender's CPU time (us)."""
    near, nodes, data = hosts[0], list(range(1, count + 1)), bytes(at & 0xFF for at in range(lab.option("size")))
    takes = [lab.spawn(hosts[node].receive(), f"host {node}") for node in nodes]
    begun, cpu = lab.kernel.now, CpuTime(near.host)
    if way == "nic":
        await near.multicast(nodes, data)
    else:
        for node in nodes:
            await near.send(node, data)
    used = cpu.used
    got = await lab.all(takes)
    took = (lab.kernel.now - begun) / 1e6
    lab.check("received copies", all(message.data == data for message in got), "a message arrived corrupted")
    lab.findings.messages += count
    await near.left()
    return took, used / 1e6
