"""How long does a message take between hosts whose NICs have no processor, and what is the bandwidth?

Strategy: both forms of the card, one after the other: buffers as in HPAM, cells as in SSAM (paper 002). The first host
sends and the last one returns the message: half of the round trip is the one-way time. Then the first host sends a
stream that the last one receives. Every message is compared. The form with buffers ends with a burst: all hosts send
the first host as many messages as may be outstanding, while it does not receive. The receive pool must hold them all.
"""

from __future__ import annotations

from typing import Any

from firmware.fifo.host.buffers import EACH
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.kit.findings import curve
from tb.studies.kit.hosts import start_in_turn, together
from tb.studies.kit.payload import numbered
from tb.studies.kit.rounds import round_trips
from tb.studies.kit.stream import stream

LAYER = "fifo"
CLUSTER = "fifo_cards"
FORMS = ("buffers", "cells")
SIZES = (4, 16, 44, 64, 256, 1024, 2000)
SETTLE_PS = 50_000_000
"""Time after which all sent packets have arrived, ps."""
OPTIONS = {
    "fifo.form": Option("", "one form of the card alone", choices=("", *FORMS)),
    "repetitions": Option(3, "round trips of each size", 1, 100_000),
    "largest": Option(2000, "largest message in bytes", 4, 2000, unit="bytes"),
    "messages": Option(8, "messages of a stream", 1, 100_000),
}
QUICK = "repetitions=1 messages=4 largest=256"
TINY = "repetitions=1 messages=2 largest=16"


async def run(lab: Lab) -> None:
    """Run the study."""
    forms = [form for form in FORMS if lab.text("fifo.form") in ("", form)]
    for done, form in enumerate(forms):
        hosts = lab.start_layer(LAYER, {"form": form})
        await start_in_turn(hosts)
        far = len(hosts) - 1
        sizes = [size for size in SIZES if size <= lab.option("largest")]
        ways = [await _one_way(lab, hosts, far, size) for size in sizes]
        rates = [await _stream(lab, hosts, far, size) for size in sizes]
        curve(lab, f"{form}_one_way", sizes, ways, "B", "us", f"{form}_one_way_us_{{}}B")
        curve(lab, f"{form}_bandwidth", sizes, rates, "B", "MB/s", f"{form}_MBps_{{}}B")
        if form == "buffers":
            lab.metric("pool_peak", await _fill_the_pool(lab, hosts))
        lab.progress(done + 1, len(forms), "forms")


async def _one_way(lab: Lab, hosts: list[Any], far: int, size: int) -> float:
    """Return half of a round trip in microseconds."""

    async def ask(number: int) -> None:
        payload = numbered(size, number)
        await hosts[0].send(far, payload)
        lab.check("returned bytes", await hosts[0].receive() == (far, payload), f"{size} bytes were returned changed")

    async def answer() -> None:
        source, payload = await hosts[far].receive()
        await hosts[far].send(source, payload)

    return (await round_trips(lab, lab.option("repetitions"), ask, answer)).mean_one_way_us


async def _stream(lab: Lab, hosts: list[Any], far: int, size: int) -> float:
    """Return the MB/s from the first send to the last receive."""
    count = lab.option("messages")

    async def give() -> None:
        for number in range(count):
            await hosts[0].send(far, numbered(size, number))

    found = await stream(lab, give(), hosts[far].receive, count)
    for number, message in enumerate(found.came):
        lab.check(
            "messages of the stream",
            message == (0, numbered(size, number)),
            f"message {number} of {size} bytes changed",
        )
    return found.rate(size)


async def _fill_the_pool(lab: Lab, hosts: list[Any]) -> float:
    """Return the number of packets at the first host when all others have filled their send buffers."""

    async def give(vnn: int) -> None:
        for number in range(EACH):
            await hosts[vnn].send(0, numbered(20, vnn + number))

    await together(lab, "filler of the pool", [give(vnn) for vnn in range(1, len(hosts))])
    await lab.kernel.sleep(SETTLE_PS, "what was sent")
    peak = float(await hosts[0].arrived())
    for _ in range(EACH * (len(hosts) - 1)):
        await hosts[0].receive()
    lab.findings.messages += EACH * (len(hosts) - 1)
    return peak
