"""Traffic of all hosts at once: who sends to whom, and an exchange of mail that follows such a plan."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from firmware.mail import Mail
from tb.lab.lab import Notebook
from tb.studies.kit.hosts import together

Targets = Sequence[Sequence[int]]
"""By sender: the receiver of each of its messages, in the order of sending."""


def others(me: int, nodes: int) -> list[int]:
    """Return all nodes but one, rising."""
    return [node for node in range(nodes) if node != me]


def to_all_in_turn(nodes: int, count: int) -> Targets:
    """Return a plan in which each node sends `count` messages, to all others in turn from the lowest number on."""
    return [[others(me, nodes)[number % (nodes - 1)] for number in range(count)] for me in range(nodes)]


def to_all_from_next(nodes: int, count: int) -> Targets:
    """Return a plan in which each node sends `count` messages, to all others in turn from its successor on."""
    return [[(me + 1 + number % (nodes - 1)) % nodes for number in range(count)] for me in range(nodes)]


def to_next(nodes: int, count: int) -> Targets:
    """Return a plan in which each node sends `count` messages to its successor."""
    return [[(me + 1) % nodes] * count for me in range(nodes)]


def at_random(nodes: int, count: int, rng: random.Random) -> Targets:
    """Return a plan in which each node sends `count` messages, each to another node that is drawn."""
    return [[rng.choice(others(me, nodes)) for _ in range(count)] for me in range(nodes)]


def senders_to(targets: Targets, node: int) -> list[int]:
    """Return the sender of each message to a node, rising."""
    return [sender for sender, own in enumerate(targets) for target in own if target == node]


async def exchange(lab: Notebook, mails: Sequence[Mail], targets: Targets, data: bytes) -> list[int]:
    """Have all hosts post their messages, then receive those for them.

    Args:
        lab: the study's lab.
        mails: mail of each host.
        targets: the plan.
        data: bytes of every message.

    Returns:
        Time in ps from the start until each host had sent and received everything. The run fails where a host did not
        receive exactly the messages of the plan, unchanged.
    """
    begun = lab.kernel.now

    async def host(me: int, mail: Mail) -> int:
        due = senders_to(targets, me)
        for target in targets[me]:
            await mail.post(target, data)
        came = [await mail.receive() for _ in due]
        await mail.posted()
        took = lab.kernel.now - begun
        right = sorted(source for source, _ in came) == due and all(got == data for _, got in came)
        lab.check(right, f"host {me} has not received what was sent to it")
        return took

    took: list[Any] = await together(lab, "host", [host(me, mail) for me, mail in enumerate(mails)])
    lab.findings.messages += sum(map(len, targets))
    return took
