"""How long does a message take from host to host over the smallest message layer?

Strategy: the first host sends and the last one echoes; half of the round trip is the one-way time.
"""

from __future__ import annotations

from typing import Any

from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.kit.hosts import start_in_turn
from tb.studies.kit.rounds import round_trips

LAYER = "echo"
SIZES = (0, 4, 8, 16, 32, 64)
OPTIONS = {"repetitions": Option(5, "round trips of each size", 1, 100_000)}
TINY = "repetitions=1"
ON_BOARD = ""


async def run(lab: Lab) -> None:
    """Run the study."""
    hosts = lab.start_layer(LAYER)
    await start_in_turn(hosts)
    for done, size in enumerate(SIZES):
        lab.metric(f"one_way_us_{size}B", await one_way_us(lab, hosts, bytes(range(1, size + 1))))
        lab.progress(done + 1, len(SIZES), "sizes")


async def one_way_us(lab: Lab, hosts: list[Any], payload: bytes) -> float:
    """Return half of a round trip between the first and the last host, us."""
    near, far, far_vnn = hosts[0], hosts[-1], len(hosts) - 1

    async def ask(number: int) -> None:
        await near.send(far_vnn, payload)
        lab.check(
            "returned bytes", await near.receive() == (far_vnn, payload), f"{len(payload)} bytes were returned changed"
        )

    return (await round_trips(lab, lab.option("repetitions"), ask, far.echo)).mean_one_way_us
