"""What does it cost to simulate an idle cluster, with GRIM up on every host and no traffic?

Strategy: GRIM is enabled, and every NIC and host polls for a second of simulated time in which no message arrives.
Clock edges and wall-clock time are counted. Idle clocks make both almost zero.
"""

from __future__ import annotations

import time

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.grim._grim import bring_up

LAYER = "grim"
HOSTS = 1
"""Numbers of hosts; a single host is silent, too."""
OPTIONS = {"silence_ms": Option(1000, "simulated silence", 1, 100_000), **layer_options(LAYER)}


async def run(lab: Lab) -> None:
    """Run the study."""
    libraries = lab.start_layer(LAYER)
    await bring_up(lab, libraries, [{} for _ in libraries])
    loops = [lab.spawn(library.wait_for(lambda: False), f"host {i}") for i, library in enumerate(libraries)]
    await lab.kernel.sleep(1_000_000_000, "GRIM to settle")
    begun = time.perf_counter()
    await lab.kernel.sleep(lab.option("silence_ms") * 1_000_000_000, "silence")
    wall = time.perf_counter() - begun
    lab.metric("wall_ms_per_sim_s", wall * 1e3 / lab.option("silence_ms") * 1000)
    lab.metric("silent_hosts", sum(not loop.finished.done for loop in loops))
