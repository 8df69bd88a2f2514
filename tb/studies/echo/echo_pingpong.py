"""How long does a message take from host to host on the smallest message layer there is?

Strategy: the first host sends, the last one echoes; half of the round trip is the one-way time.
"""

from __future__ import annotations

from tb.lab.lab import Lab
from tb.plan.options import Option

LAYER = "echo"
SIZES = (0, 4, 8, 16, 32, 64)
OPTIONS = {"repetitions": Option(5, "round trips of each size", 1, 100_000)}
TINY = "repetitions=1"


async def run(lab: Lab) -> None:
    """The study."""
    hosts = lab.start_layer(LAYER)
    for host in hosts:
        await host.start()
    near, far, far_vnn = hosts[0], hosts[-1], len(hosts) - 1
    for done, size in enumerate(SIZES):
        payload = bytes(range(1, size + 1))
        begun = lab.kernel.now
        for _ in range(lab.option("repetitions")):
            answer = lab.spawn(far.echo(), "the far host's echo")
            await near.send(far_vnn, payload)
            lab.check(await near.receive() == (far_vnn, payload), f"{size} bytes came back changed")
            await lab.all([answer])
            lab.findings.messages += 2
        lab.metric(f"one_way_us_{size}B", (lab.kernel.now - begun) / lab.option("repetitions") / 2 / 1e6)
        lab.progress(done + 1, len(SIZES), "sizes")
