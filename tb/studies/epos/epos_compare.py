"""What are latency, bandwidth, copies and CPU utilisation of the same traffic on each message layer of one card?

Strategy: mail (`firmware/mail.py`), whose calls are the same on every layer, on the same profile. The first and the
last host play ping-pong with a short message, at random phases; half of a round trip is the one-way time. Then the
first host sends long messages back to back, as fast as the layer takes them. Then all hosts send short messages to
others drawn by a seed, and receive those sent to them. Copies are bytes that CPUs have copied from memory to memory in
the stream, divided by its payload. Utilisation is the percentage of time in which a host's CPU is busy.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

from firmware.layers import with_mail
from firmware.mail import Mail
from firmware.stack import layers_below
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.costs._loggp import variants
from tb.studies.kit.cpu import CpuTime
from tb.studies.kit.mail import End, all_mails, finish, ping_pong
from tb.studies.kit.payload import pattern
from tb.studies.kit.rounds import phases
from tb.studies.kit.stream import stream
from tb.studies.kit.traffic import at_random, exchange

CLUSTER = "eight_hosts"
LAYERS = with_mail()
OPTIONS = {
    "repetitions": Option(5, "round trips", 1, 1000),
    "size": Option(16, "bytes of the short message", 4, 64, unit="bytes"),
    "messages": Option(8, "long messages of the stream", 2, 10_000),
    "largest": Option(4096, "bytes of a long message; less if the layer's maximum is lower", 64, 1 << 16, unit="bytes"),
    "random": Option(6, "short messages of each host to random other hosts", 1, 10_000),
}
QUICK = "repetitions=2 messages=4 random=2"
VARIANTS = {
    name: ("lanai9+p3-450", given.removesuffix(" "))
    for name, (profile, given) in variants().items()
    if profile.startswith("lanai9") and not layers_below(name.partition("-")[0])
}


async def run(lab: Lab) -> None:
    """Run the study."""
    mails = await all_mails(lab)
    await _ping_pong(lab, mails)
    lab.progress(1, 3, "traffics")
    await _stream(lab, mails)
    lab.progress(2, 3, "traffics")
    await _random(lab, mails)
    await finish(lab, mails)


async def _ping_pong(lab: Lab, mails: Sequence[Mail]) -> None:
    """Measure the one-way time of a short message."""
    near, far = End(0, mails[0]), End(len(mails) - 1, mails[-1])
    trips = await ping_pong(lab, near, far, lab.option("size"), lab.option("repetitions"), phases(f"phases {lab.seed}"))
    lab.metric("one_way_us", statistics.mean(trips.one_way_us))


async def _stream(lab: Lab, mails: Sequence[Mail]) -> None:
    """Measure the bandwidth of long messages, their copies, and the utilisation of both CPUs."""
    near, far, last, count = mails[0], mails[-1], len(mails) - 1, lab.option("messages")
    size = min(lab.option("largest"), near.most)
    data, used = pattern(size), {"sender": CpuTime(near.host), "receiver": CpuTime(far.host)}
    copied = sum(mail.host.copied_bytes for mail in mails)

    async def sends() -> None:
        for _ in range(count):
            await near.send(last, data)

    found = await stream(lab, sends(), far.receive, count)
    lab.check("messages of the stream", found.came == [(0, data)] * count, "the stream arrived corrupted")
    lab.metric("stream_B", size)
    lab.metric("stream_MBps", count * size / (found.took / 1e6))
    lab.metric("stream_copies", (sum(mail.host.copied_bytes for mail in mails) - copied) / (count * size))
    for name, cpu in used.items():
        lab.metric(f"stream_{name}_percent", cpu.percent(found.took))


async def _random(lab: Lab, mails: Sequence[Mail]) -> None:
    """Measure the time of one message in random traffic of all hosts."""
    count, begun = lab.option("random"), lab.kernel.now
    targets = at_random(len(mails), count, random.Random(f"targets {lab.seed}"))
    await exchange(lab, mails, targets, pattern(lab.option("size")))
    lab.metric("random_us_per_message", (lab.kernel.now - begun) / 1e6 / count)
