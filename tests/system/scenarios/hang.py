"""What does a run report when a host waits for a message that never arrives?"""

from __future__ import annotations

from tb.lab.lab import Lab
from tb.plan.options import Option

OPTIONS = {
    "polls": Option(0, "1: the host polls a word of its card that never changes", 0, 1),
    "look_us": Option(0, "the host looks so often, in us; 0: it sleeps until the message comes", 0, 1000),
}


async def run(lab: Lab) -> None:
    """Run the scenario."""
    hosts = lab.start_layer("echo")
    for host in hosts:
        await host.start()
    while lab.option("look_us"):
        await lab.kernel.sleep(lab.option("look_us") * 1_000_000, "the next look")
    if lab.option("polls"):
        host = hosts[-1].host
        await host.poll_card(host.nic_base, 0, "look_flag")
    await hosts[-1].receive()
