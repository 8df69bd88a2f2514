"""Does every message arrive once and in order when all send to all, and receivers stop and start?

Strategy: each host sends messages of random sizes to all others in random order. Between calls of GRIM it stops for
random times, in which it neither sends nor polls. So its small queue fills and causes NACKs and roll-backs. Payloads
are determined by source, destination and number, and are compared on arrival.
"""

from __future__ import annotations

import random
from typing import Any

from firmware.grim.formats import reference
from firmware.grim.nic.layout import Counter
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.grim._grim import bring_up

OPTIONS = {
    "each": Option(5, "messages from each host to each other", 1, 10_000),
    "largest": Option(2000, "largest message in bytes", 0, 65536),
    "stop_us": Option(300, "a receiver stops for up to so long", 0, 1_000_000),
    "stop_percent": Option(20, "how often it stops", 0, 100),
    **layer_options("grim"),
}
COUNTERS = ("NACKS_SENT", "NACKS_SEEN", "ROLLED_BACK", "RESENT", "SENT", "ACCEPTED", "BAD_CRC", "STRANGE", "OVERLONG")


def payload(seed: int, source: int, target: int, number: int, size: int) -> bytes:
    """Return the bytes of one message."""
    return random.Random(f"{seed}.{source}.{target}.{number}").randbytes(size)


async def run(lab: Lab) -> None:
    """Run the scenario."""
    libraries = lab.start_layer("grim")
    hosts = [_Host(lab, vnn, library, len(libraries)) for vnn, library in enumerate(libraries)]
    await bring_up(lab, libraries, [{"data": host.on_data} for host in hosts])
    await lab.all([lab.spawn(host.application(), f"host {host.vnn}") for host in hosts])
    lab.metric("handled", sum(host.handled for host in hosts))
    for name in COUNTERS:
        lab.metric(name.lower(), sum([await library.ni_counter(Counter[name]) for library in libraries]))


class _Host:
    """Program of one host."""

    def __init__(self, lab: Lab, vnn: int, library: Any, nodes: int) -> None:
        self.lab, self.vnn, self.library, self.nodes = lab, vnn, library, nodes
        self.random = random.Random(f"{lab.seed}.{vnn}")
        self.next = [0] * nodes
        """Next expected number from each source."""
        self.handled = 0

    async def application(self) -> None:
        """Send all messages with random stops, then receive all."""
        number = await self.library.resolve_handler("data")
        each, largest = self.lab.option("each"), self.lab.option("largest")
        sent = [0] * self.nodes
        others = [vnn for vnn in range(self.nodes) if vnn != self.vnn] * each
        for vnn in self.random.sample(others, len(others)):
            await self._stop()
            size = self.random.randint(0, largest)
            data = payload(self.lab.seed, self.vnn, vnn, sent[vnn], size)
            await self.library.send(self.library.get_dest_id(vnn), number, sent[vnn], size, payload=data)
            sent[vnn] += 1
        while self.handled < len(others):
            await self._stop()
            if not await self.library.poll():
                await self.lab.kernel.sleep(1_000_000, "the next poll")

    async def _stop(self) -> None:
        if self.random.randrange(100) < self.lab.option("stop_percent"):
            await self.lab.kernel.sleep(
                self.random.randint(0, self.lab.option("stop_us") * 1_000_000), "the end of its pause"
            )

    def on_data(self, source: int, number: int, size: int, a2: int, a3: int, data: memoryview) -> None:
        """Handle a message: check and count it."""
        vnn = reference(source).vnn
        self.lab.check(
            "order of messages",
            number == self.next[vnn],
            f"{vnn} -> {self.vnn}: message {number} arrived, expected {self.next[vnn]}",
        )
        self.lab.check(
            "received bytes",
            data == payload(self.lab.seed, vnn, self.vnn, number, size),
            f"{vnn} -> {self.vnn}: message {number} of {size} bytes arrived corrupted",
        )
        self.next[vnn] += 1
        self.handled += 1
        self.lab.findings.messages += 1
        self.lab.progress(self.lab.findings.messages, self.lab.option("each") * self.nodes * (self.nodes - 1))
