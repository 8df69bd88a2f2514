"""Traffic of all hosts at once: plans of senders and receivers, and an exchange of mail by such a plan."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from firmware.mail import Mail
from tb.lab.lab import Notebook
from tb.studies.kit.hosts import together

Targets = Sequence[Sequence[int]]
"""Plan of the traffic: for each sender, the receivers of its messages in the order of sending."""


def others(me: int, nodes: int) -> list[int]:
    """Return all nodes except `me`, ascending."""
    return [node for node in range(nodes) if node != me]


def to_all_in_turn(nodes: int, count: int) -> Targets:
    """Return a plan in which each node sends `count` messages, round-robin to all others from the lowest number on."""
    return [[others(me, nodes)[number % (nodes - 1)] for number in range(count)] for me in range(nodes)]


def to_all_from_next(nodes: int, count: int) -> Targets:
    """Return a plan in which each node sends `count` messages, round-robin to all others from its successor on."""
    return [[(me + 1 + number % (nodes - 1)) % nodes for number in range(count)] for me in range(nodes)]


def to_next(nodes: int, count: int) -> Targets:
    """Return a plan in which each node sends `count` messages to its successor."""
    return [[(me + 1) % nodes] * count for me in range(nodes)]


def at_random(nodes: int, count: int, rng: random.Random) -> Targets:
    """Return a plan in which each node sends `count` messages to other nodes chosen at random."""
    return [[rng.choice(others(me, nodes)) for _ in range(count)] for me in range(nodes)]


def senders_to(targets: Targets, node: int) -> list[int]:
    """Return the sender of each message to a node, ascending."""
    return [sender for sender, own in enumerate(targets) for target in own if target == node]


async def exchange(lab: Notebook, mails: Sequence[Mail], targets: Targets, data: bytes) -> list[int]:
    """Post all messages of a plan on all hosts, then receive them.

    A host that does not receive exactly the messages of the plan, unchanged, fails the run.

    Args:
        lab: the study's lab.
        mails: mail of each host.
        targets: the plan.
        data: bytes of every message.

    Returns:
        Time in ps that each host took to send and receive everything.
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
        lab.check("messages of each host", right, f"host {me} has not received exactly the messages sent to it")
        return took

    took: list[Any] = await together(lab, "host", [host(me, mail) for me, mail in enumerate(mails)])
    lab.findings.messages += sum(map(len, targets))
    return took
