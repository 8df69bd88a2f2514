"""What do latency, bandwidth, copies and the hosts' share of one traffic come to on each message layer of one card?

Strategy: mail (`firmware/mail.py`), whose calls are the same on every layer, on the same profile. The first host and
the last one play ping-pong with a short message, at random phases; half of a round trip is the one-way time. Then the
first host sends long messages one after the other, as long as the layer takes them, until the last one has them all.
Then all hosts send short messages to others that a seed draws, and receive those that come to them. Copies are bytes
that CPUs have copied from memory to memory in the stream, over its payload; a host's share is the time that its CPU is
used.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

from firmware.layers import with_mail
from firmware.mail import Mail
from firmware.stack import grounds
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.costs._loggp import all_mails, pattern, variants

CLUSTER = "eight_hosts"
LAYERS = with_mail()
OPTIONS = {
    "repetitions": Option(5, "round trips", 1, 1000),
    "size": Option(16, "bytes of the short message", 4, 64, unit="bytes"),
    "messages": Option(8, "long messages of the stream", 2, 10_000),
    "largest": Option(4096, "bytes of a long message; a layer may have less", 64, 1 << 16, unit="bytes"),
    "random": Option(6, "short messages of each host, to others at random", 1, 10_000),
}
QUICK = "repetitions=2 messages=4 random=2"
PHASES_PS = 3_000_000
VARIANTS = {
    name: ("lanai9+p3-450", given.removesuffix(" "))
    for name, (profile, given) in variants().items()
    if profile.startswith("lanai9") and not grounds(name.partition("-")[0])
}


async def run(lab: Lab) -> None:
    """The study."""
    mails = await all_mails(lab)
    await _ping_pong(lab, mails)
    lab.progress(1, 3, "traffics")
    await _stream(lab, mails)
    lab.progress(2, 3, "traffics")
    await _random(lab, mails)
    await lab.all([lab.spawn(mail.finish(), f"end of {node}") for node, mail in enumerate(mails)])


async def _ping_pong(lab: Lab, mails: Sequence[Mail]) -> None:
    """One-way time of a short message."""
    near, far, last = mails[0], mails[-1], len(mails) - 1
    phases, data, took = random.Random(f"phases {lab.seed}"), pattern(lab.option("size")), list[float]()
    for _ in range(lab.option("repetitions")):
        await lab.kernel.sleep(phases.randrange(PHASES_PS), "the next round trip")
        answers, begun = lab.spawn(far.answer(), "the far host"), lab.kernel.now
        lab.check(await near.ask(last, data) == data, "a short message came back changed")
        took.append((lab.kernel.now - begun) / 2e6)
        await lab.all([answers])
    lab.findings.messages += 2 * len(took)
    lab.metric("one_way_us", statistics.mean(took))


async def _stream(lab: Lab, mails: Sequence[Mail]) -> None:
    """Bandwidth of long messages, their copies, and what both CPUs do meanwhile."""
    near, far, last, count = mails[0], mails[-1], len(mails) - 1, lab.option("messages")
    size = min(lab.option("largest"), near.most)
    data, used = pattern(size), [mail.host.cpu_ps for mail in (near, far)]
    copied = sum(mail.host.copied_bytes for mail in mails)
    begun = lab.kernel.now

    async def sends() -> None:
        for _ in range(count):
            await near.send(last, data)

    sending = lab.spawn(sends(), "the near host")
    came = [await far.receive() for _ in range(count)]
    took = lab.kernel.now - begun
    await lab.all([sending])
    lab.check(came == [(0, data)] * count, "the stream came changed")
    lab.findings.messages += count
    lab.metric("stream_B", size)
    lab.metric("stream_MBps", count * size / (took / 1e6))
    lab.metric("stream_copies", (sum(mail.host.copied_bytes for mail in mails) - copied) / (count * size))
    for name, mail, before in (("sender", near, used[0]), ("receiver", far, used[1])):
        lab.metric(f"stream_{name}_percent", 100 * (mail.host.cpu_ps - before) / took)


async def _random(lab: Lab, mails: Sequence[Mail]) -> None:
    """All hosts at once."""
    nodes, count, data = range(len(mails)), lab.option("random"), pattern(lab.option("size"))
    drawn = random.Random(f"targets {lab.seed}")
    targets = [[drawn.choice([node for node in nodes if node != me]) for _ in range(count)] for me in nodes]
    due = [sum(one.count(node) for one in targets) for node in nodes]
    begun = lab.kernel.now

    async def host(me: int, mail: Mail) -> None:
        for target in targets[me]:
            await mail.post(target, data)
        came = [await mail.receive() for _ in range(due[me])]
        await mail.posted()
        right = sorted(source for source, _ in came) == sorted(
            node for node in nodes for target in targets[node] if target == me
        )
        lab.check(right and all(got == data for _, got in came), f"host {me} has not received what was sent to it")

    await lab.all([lab.spawn(host(me, mail), f"host {me}") for me, mail in enumerate(mails)])
    lab.findings.messages += count * len(mails)
    lab.metric("random_us_per_message", (lab.kernel.now - begun) / 1e6 / count)
