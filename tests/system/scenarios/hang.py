"""What does a run say when a host waits for a message that never comes?"""

from __future__ import annotations

from tb.lab import Lab


async def run(lab: Lab) -> None:
    """The scenario."""
    hosts = lab.start_layer("echo")
    for host in hosts:
        await host.start()
    await hosts[-1].receive()
