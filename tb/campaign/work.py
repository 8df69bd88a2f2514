"""Workload of a campaign: each host sends messages to two others through the mail of any layer.

Each host also has guards: memory that no access may change.
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
"""Number of messages from a host to each of two others."""
SIZES = (16, 64, 200, 1000, 2500)
"""Message sizes in bytes, within the layer's limit: from a few words to several packets."""
LONGEST = max(SIZES)
GUARD = 4096
SLICE_US = 20
"""Interval between checks for completion of all hosts."""
AFTER_US = 1000
"""Time that other hosts get after a host's error."""
TASK = "messages"
"""Name of a host's task in reports of waits."""
HEAD = 4
"""Bytes of a message's identifying header."""


@dataclass
class Report:
    """Result of a run in plain values."""

    arrived: list[list[list[str]]] = field(default_factory=list)
    """Received messages in order by receiver and sender, in hexadecimal."""
    errors: list[str] = field(default_factory=list)
    """Errors that the layer reported to its users."""
    ended_ps: int = 0
    """Time at which the last host was done; 0 if some hosts never were."""
    died: str = ""
    guards: list[str] = field(default_factory=list)
    """Hosts whose guards have changed."""
    seen: dict[str, int] = field(default_factory=dict)
    """Counts of events that firmware and hardware noticed, by name."""
    invariants: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    """Waits at the end of a run that hangs."""
    told: list[str] = field(default_factory=list)
    """Bits that the fault flipped, if chosen during the run."""
    passed: list[str] = field(default_factory=list)
    """Packets with a correct CRC-8 that left a faulty cable during the fault, in hexadecimal."""

    def plain(self) -> dict[str, Any]:
        """Return the values for JSON."""
        return asdict(self)


def pattern(seed: int, sender: int, receiver: int, most: int = LONGEST) -> list[bytes]:
    """Return the messages from one host to another, all different, of at most `most` bytes."""
    rng = random.Random(f"campaign {seed} {sender} {receiver}")
    sizes = [size for size in SIZES if size <= most]
    bodies = [rng.randbytes(rng.choice(sizes) - HEAD) for _ in range(MESSAGES)]
    return [bytes([0xC0, sender, receiver, number]) + body for number, body in enumerate(bodies)]


def receivers(sender: int, nodes: int) -> list[int]:
    """Return the hosts to which a host sends."""
    return sorted({(sender + step) % nodes for step in (1, 2)} - {sender})


def expected(seed: int, nodes: int, most: int = LONGEST) -> list[list[list[str]]]:
    """Return the messages that arrive without faults, of at most `most` bytes, in the form of a report."""
    due: list[list[list[str]]] = [[[] for _ in range(nodes)] for _ in range(nodes)]
    for sender in range(nodes):
        for receiver in receivers(sender, nodes):
            due[receiver][sender] = [one.hex() for one in pattern(seed, sender, receiver, most)]
    return due


class Guards:
    """Guard memory of each host, which no access may change."""

    def __init__(self) -> None:
        self._kept: list[tuple[str, memoryview, bytes]] = []

    def place(self, hosts: Sequence[Any]) -> None:
        """Add a guard on each host after its present allocations."""
        for node, host in enumerate(hosts):
            view = host.allocate(GUARD).view
            content = random.Random(f"guard {node} {len(self._kept)}").randbytes(GUARD)
            view[:] = content
            self._kept.append((host.name, view, content))

    def changed(self) -> list[str]:
        """Return the hosts whose guards have changed."""
        return sorted({name for name, view, content in self._kept if bytes(view) != content})


class Work:
    """Messages of one run."""

    def __init__(self, kernel: Kernel, mails: Sequence[Mail], guards: Guards, seed: int) -> None:
        self._kernel, self._mails, self._guards, self._seed = kernel, mails, guards, seed
        nodes = len(mails)
        self.report = Report(arrived=[[[] for _ in range(nodes)] for _ in range(nodes)])
        self._done = 0

    async def run(self, limit_ps: int) -> Report:
        """Run until all hosts are done, an error has been reported, or `limit_ps` is reached."""
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
        """Complete the report with the present state."""
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
                raise AssertionError(f"host {node} has a message of node {source}, which does not exist")
            self.report.arrived[node][source].append(data.hex())
        await mail.settle()
