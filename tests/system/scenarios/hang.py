"""What does a run say when a host waits for a message that never comes?"""

from __future__ import annotations

from tb.lab.lab import Lab
from tb.plan.options import Option

OPTIONS = {"look_us": Option(0, "the host looks so often, in us; 0: it sleeps until the message comes", 0, 1000)}


async def run(lab: Lab) -> None:
    """The scenario."""
    hosts = lab.start_layer("echo")
    for host in hosts:
        await host.start()
    while lab.option("look_us"):
        await lab.kernel.sleep(lab.option("look_us") * 1_000_000, "the next look")
    await hosts[-1].receive()
