"""How long does a message of EPOS take, how fast do long ones flow, and which stage of the pipeline limits them?

Strategy: the baseline of paper 004, or any composition (`SET="epos.protocols=reliability"`). The first host sends, the
last one sends the same bytes back: half of the round trip is the one-way time. Then it sends long messages one after
the other, and the receiver says when it has the last one. What crosses the bus, the cable and `copy_memory` meanwhile
is counted in bytes. The stages of the pipeline are raw times of a frame in hardware, read from the trace of the run:
host DMA, cable, host DMA, and the copy out of staging; the narrowest is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options

if TYPE_CHECKING:
    from firmware.host.epos import Epos

LAYER = "epos"
SIZES = (0, 4, 16, 64, 256, 1024, 4096, 16384, 65536)
OPTIONS = {
    "repetitions": Option(3, "round trips of each size", 1, 100_000),
    "messages": Option(8, "long messages, one after the other", 2, 100_000),
    "largest": Option(65536, "largest message in bytes", 0, 1 << 20),
    **layer_options(LAYER),
}
QUICK = "repetitions=1 messages=4"


def pattern(size: int) -> bytes:
    """The bytes of a message."""
    return bytes((7 * at + size) & 0xFF for at in range(size))


async def echo(host: Epos, count: int) -> None:
    """Send back what comes, so often."""
    for _ in range(count):
        message = await host.receive()
        await host.send(message.source, message.data)


async def run(lab: Lab) -> None:
    """The study."""
    hosts: list[Any] = lab.start_layer(LAYER)
    await lab.all([lab.spawn(host.start(), f"start of {host.me}") for host in hosts])
    near, far, count = hosts[0], hosts[-1], lab.option("repetitions")
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    for size in sizes:
        answers, data = lab.spawn(echo(far, count), "the far host"), pattern(size)
        begun = lab.kernel.now
        for _ in range(count):
            await near.send(far.me, data)
            lab.check((await near.receive()).data == data, f"{size} bytes came back changed")
        one_way = (lab.kernel.now - begun) / count / 2 / 1e6
        await lab.all([answers])
        lab.metric(f"one_way_us_{size}B", one_way)
        lab.findings.messages += 2 * count
