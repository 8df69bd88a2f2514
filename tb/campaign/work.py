"""What a campaign disturbs: every host sends some messages to two others, over the mail of any layer.

Beside the messages each host has guards, memory that nobody may touch.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from firmware.mail import Mail
from pymodels.errors import SanlabError
from pymodels.kernel import Kernel

US = 1_000_000
MESSAGES = 4
"""From a host to each of two others."""
SIZES = (16, 64, 200, 1000, 2500)
"""Sizes of messages in bytes, as far as the layer allows them: a few words, up to several packets."""
LONGEST = max(SIZES)
GUARD = 4096
SLICE_US = 20
"""Between two looks whether all hosts are done."""
AFTER_US = 1000
"""What others may still do once a host has met an error."""
TASK = "messages"
"""What a host's part is called in reports of who waits for what."""
HEAD = 4
"""Bytes of a message that number it."""


@dataclass
class Report:
    """How a run went, in plain values."""

    arrived: list[list[list[str]]] = field(default_factory=list)
    """By receiver and sender: the messages in their order, in hexadecimal."""
    errors: list[str] = field(default_factory=list)
    """What the layer said to its users."""
    ended_ps: int = 0
    """When the last host was done; 0: some never were."""
    died: str = ""
    guards: list[str] = field(default_factory=list)
    """Hosts whose guards have changed."""
    seen: dict[str, int] = field(default_factory=dict)
    """What firmware and hardware noticed, by name."""
    invariants: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    """Who waited for what at the end, of a run that hangs."""
    told: list[str] = field(default_factory=list)
    """What the fault has flipped, where that is not said before."""
    passed: list[str] = field(default_factory=list)
    """Packets with a right CRC-8 that came out of a disturbed cable meanwhile, in hexadecimal."""

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def pattern(seed: int, sender: int, receiver: int, most: int = LONGEST) -> list[bytes]:
    """Return the messages from one host to another, of at most `most` bytes; no two are equal."""
    rng = random.Random(f"campaign {seed} {sender} {receiver}")
    sizes = [size for size in SIZES if size <= most]
    bodies = [rng.randbytes(rng.choice(sizes) - HEAD) for _ in range(MESSAGES)]
    return [bytes([0xC0, sender, receiver, number]) + body for number, body in enumerate(bodies)]


def receivers(sender: int, nodes: int) -> list[int]:
    """To whom a host sends."""
    return sorted({(sender + step) % nodes for step in (1, 2)} - {sender})


def expected(seed: int, nodes: int, most: int = LONGEST) -> list[list[list[str]]]:
    """Return the messages that arrive when nothing is disturbed, of at most `most` bytes, as in a report."""
    due: list[list[list[str]]] = [[[] for _ in range(nodes)] for _ in range(nodes)]
    for sender in range(nodes):
        for receiver in receivers(sender, nodes):
            due[receiver][sender] = [one.hex() for one in pattern(seed, sender, receiver, most)]
    return due


class Guards:
    """Memory of each host that nobody may touch."""

    def __init__(self) -> None:
        self._kept: list[tuple[str, memoryview, bytes]] = []

    def place(self, hosts: Sequence[Any]) -> None:
        """One more on each host, behind what it has allocated so far."""
        for node, host in enumerate(hosts):
            view = host.allocate(GUARD).view
            content = random.Random(f"guard {node} {len(self._kept)}").randbytes(GUARD)
            view[:] = content
            self._kept.append((host.name, view, content))

    def changed(self) -> list[str]:
        """The hosts of those that are not as they were."""
        return sorted({name for name, view, content in self._kept if bytes(view) != content})


class Work:
    """The messages of one run."""

    def __init__(self, kernel: Kernel, mails: Sequence[Mail], guards: Guards, seed: int) -> None:
        self._kernel, self._mails, self._guards, self._seed = kernel, mails, guards, seed
        nodes = len(mails)
        self.report = Report(arrived=[[[] for _ in range(nodes)] for _ in range(nodes)])
        self._done = 0

    async def run(self, limit_ps: int) -> Report:
        """Until all hosts are done, have an error, or `limit_ps` has come."""
        for node in range(len(self._mails)):
            self._kernel.spawn(self._host(node), self._who(node))
        failed_ps = 0
        while self._done < len(self._mails) and self._kernel.now < limit_ps:
            await self._kernel.sleep(SLICE_US * US, "the hosts")
            if self.report.errors and not failed_ps:
                failed_ps = self._kernel.now
            if failed_ps and self._kernel.now > failed_ps + AFTER_US * US:
                break
        self.look()
        return self.report

    def look(self) -> None:
        """Complete the report by what stands now."""
        self.report.guards = self._guards.changed()
        if self._done < len(self._mails):
            self.report.ended_ps = 0

    def _who(self, node: int) -> str:
        return f"host {self._mails[node].host.name}: {TASK}"

    async def _host(self, node: int) -> None:
        try:
            await self._messages(node)
        except (SanlabError, ConnectionError) as error:
            self.report.errors.append(f"host {node}: {type(error).__name__}: {error}")
        self._done += 1
        self.report.ended_ps = self._kernel.now

    async def _messages(self, node: int) -> None:
        mail, nodes = self._mails[node], len(self._mails)
        to = {other: pattern(self._seed, node, other, mail.most) for other in receivers(node, nodes)}
        for number in range(MESSAGES):
            for other, messages in to.items():
                await mail.send(other, messages[number])
        names = [mail.host.name for mail in self._mails]
        due = Counter({other: MESSAGES for other in range(nodes) if node in receivers(other, nodes)})
        for other in due:
            self._kernel.waits.want(self._who(node), f"messages of {names[other]}", f"host {names[other]}")
        while sum(due.values()) > 0:
            source, data = await mail.receive()
            due[source] -= 1
            if not due[source]:
                self._kernel.waits.got(self._who(node), f"messages of {names[source]}")
            if not 0 <= source < nodes:
                raise AssertionError(f"host {node} has a message of node {source}, which there is not")
            self.report.arrived[node][source].append(data.hex())
        await mail.settle()
