"""Does `grim_enable` wait for every NI when hosts enable in any order, with their cards in reset until then?

Strategy: each host releases its card from reset at a random time, and enables later; notices that arrive before are
lost. No host may complete before the last one began, and a message must arrive in each direction.
"""

from __future__ import annotations

import random
from typing import Any

from firmware.grim.nic.layout import Counter
from pymodels.registers import Control
from tb.lab.lab import Lab
from tb.plan.options import Option

OPTIONS = {"latest_us": Option(400, "the last one enables before this time", 1, 100_000)}


async def run(lab: Lab) -> None:
    """Run the scenario."""
    rng = random.Random(f"enable {lab.seed}")
    for host in lab.running.hosts:
        await host.pio_write(host.card.control, (1 << Control.LANAI_RESET_ON).to_bytes(4, "big"))
    libraries = lab.start_layer("grim")
    begun: list[int] = []
    through: list[int] = []
    got: list[list[int]] = [[] for _ in libraries]
    lab.running.invariants.faults_expected = True  # packets are dropped at a NIC in reset

    async def node(library: Any) -> None:
        await library.host.sleep(rng.randrange(1, lab.option("latest_us")) * 1_000_000)
        begun.append(lab.kernel.now)
        await library.grim_enable()
        mine = got[library.get_my_vnn()]
        library.register_handler(lambda source, *unused: mine.append(source), "hello")
        through.append(lab.kernel.now)
        await library.sync_handlers()
        if library.get_my_vnn() == 0:
            await library.wait_for(lambda: library.nodes_served == len(libraries) - 1)
        number = await library.resolve_handler("hello")
        for vnn in range(len(libraries)):
            if vnn != library.get_my_vnn():
                await library.send(library.get_dest_id(vnn), number)
        await library.wait_for(lambda: len(mine) == len(libraries) - 1)

    await lab.all([lab.spawn(node(library), f"host {vnn}") for vnn, library in enumerate(libraries)])
    lab.findings.messages += sum(map(len, got))
    lab.metric("messages", sum(map(len, got)))
    lab.metric("apart_us", (max(begun) - min(begun)) / 1e6)
    lab.metric("notices", sum([await library.ni_counter(Counter.SYNC_SENT) for library in libraries]))
    lab.check("order of the ends", min(through) > max(begun), "a host was through before the last one began")
