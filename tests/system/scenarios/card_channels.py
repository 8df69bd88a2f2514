"""Are cards and processes endpoints of the channels that the configuration connects them to?

Strategy: on each host a process and the host's own application send payloads through the loopbacks of both cards, which
return them to their sender. The CRC of the far card sends its results to the process of the far host. Every endpoint
polls by itself, and must receive its own results alone. The channels are those of the cluster's file.
"""

from __future__ import annotations

import random
from typing import Any

from firmware.grim.formats import Device, reference
from pymodels.card.circuits import CIRCUITS
from pymodels.card.registers import Forward
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.grim._grim import bring_up, serve_until

CLUSTER = "card_channels"
OPTIONS = {**layer_options("grim"), "largest": Option(4096, "bytes of the largest payload", 64, 4096)}
SIZES = (0, 5, 64, 1000, 4096)
PROCESS = "viewer"

Result = tuple[int, int, bytes]


class Endpoint:
    """Endpoint of a host or of its process, and the results that have reached it."""

    def __init__(self, library: Any, name: str) -> None:
        self.library, self.name = library, name
        self.came: list[Result] = []

    def take(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        """Keep a received result."""
        self.came.append((reference(source).vnn, a0, bytes(payload)))

    async def work(self, cards: list[int], payloads: list[bytes], more: int) -> None:
        """Send every payload through both loopbacks, and wait until all results and `more` others have arrived."""
        back, loopback = self.library.handlers.numbers["result"], self.library.handlers.numbers["loopback"]
        for card in cards:
            for number, payload in enumerate(payloads):
                await self.library.send(card, loopback, number, 0, 0, back, payload)
        await self.library.wait_for(lambda: len(self.came) == len(cards) * len(payloads) + more)


async def run(lab: Lab) -> None:
    """Run the scenario."""
    libraries = lab.start_layer("grim")
    hosts = [Endpoint(library, f"host {node}") for node, library in enumerate(libraries)]
    viewers = [Endpoint(library.process(PROCESS), f"viewer {node}") for node, library in enumerate(libraries)]
    for viewer in viewers:
        viewer.library.register_handler(viewer.take, "result")
    await bring_up(lab, libraries, [{"result": host.take} for host in hosts])
    for viewer in viewers:
        task = lab.spawn(viewer.library.sync_handlers(), viewer.name)
        await serve_until(lab, libraries[:1], lambda task=task: task.finished.done, also=[task])
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    payloads = [random.Random(f"{lab.seed} {size}").randbytes(size) for size in sizes]
    grim = libraries[0]
    cards = [grim.get_resource(vnn, Device.CELOXICA) for vnn in (0, 1)]
    lab.metric("card_channel_0", reference(cards[0]).channel)
    lab.metric("card_channel_1", reference(cards[1]).channel)
    result = await grim.resolve_handler("result")
    for card in cards:
        await grim.forward(card, "loopback", Forward.REPLY)
    await grim.forward(cards[1], "crc32", Forward.ENDPOINT, grim.get_process(1, PROCESS), result)
    for number, payload in enumerate(payloads):
        await grim.send(cards[1], await grim.resolve_handler("crc32"), number, payload=payload)
    ends = [*hosts, *viewers]
    more = [0, 0, 0, len(payloads)]
    tasks = [lab.spawn(end.work(cards, payloads, own), end.name) for end, own in zip(ends, more, strict=True)]
    await lab.all(tasks)
    crc = CIRCUITS["crc32"]()
    echoes = [(card, number, payload) for card in (0, 1) for number, payload in enumerate(payloads)]
    crcs = [(1, number, crc.run(0, payload)) for number, payload in enumerate(payloads)]
    for end, own in zip(ends, ([], [], [], crcs), strict=True):
        lab.check("results of an endpoint", sorted(end.came) == sorted(echoes + own), f"{end.name} got other results")
    lab.metric("results", sum(len(end.came) for end in ends))
