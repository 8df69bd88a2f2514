"""Record of all messages to cards in a program, and of their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from firmware.grim.formats import Device, reference
from pymodels.card.circuits import CIRCUITS
from tb.studies.cards.fuzz.circuits import Flow, Job, Load, Outage
from tb.studies.grim.fuzz.mail import FOREVER, INK, SHIFT, Place
from tb.studies.grim.fuzz.node import CHECK, MASK


class Ledger:
    """Messages by number, and flows by card and circuit."""

    def __init__(self, nodes: int) -> None:
        self.jobs: list[Job] = []
        self.loads: list[list[Load]] = [[] for _ in range(nodes)]
        """Loaded images of each card."""
        self.outages: list[list[Outage]] = [[] for _ in range(nodes)]
        """Losses of power of each card."""
        self.flows: Mapping[tuple[int, str], Flow] = {
            (card, circuit): Flow(circuit, self.loads[card], outages=self.outages[card])
            for card in range(nodes)
            for circuit in CIRCUITS
        }
        self.taken = [False] * nodes
        """True for each card whose shared circuit one node directs elsewhere, so that others must wait."""
        self._failures: list[str] = []

    def begin(
        self, now: int, card: int, circuit: str, argument: int, size: int, to: Place | None, sender: int = 0
    ) -> Job:
        """Record a message that is sent."""
        number = len(self.jobs)
        at = number * SHIFT % 16_384
        job = Job(number, card, circuit, argument, INK[at : at + size], to, now, sender=sender)
        self.jobs.append(job)
        self.flows[card, circuit].jobs.append(job)
        return job

    def begin_cast(self, now: int, circuit: str, argument: int, size: int, to: Place) -> Job:
        """Record a multicast to all cards, and return the copy of card 0, whose number the multicast has."""
        copies = [self.begin(now, card, circuit, argument, size, to, to[0]) for card in range(len(self.loads))]
        for job in copies:
            job.payload, job.cast = copies[0].payload, True
        return copies[0]

    def arrive(
        self, now: int, at: int, source: int, words: tuple[int, int, int], data: bytes, channels: Sequence[int]
    ) -> None:
        """Record and check a result that arrives at an endpoint with these channels: a host, or a process of it."""
        argument, number, check = (word & MASK for word in words)
        sender = reference(source)
        if number >= len(self.jobs) or check != number * CHECK & MASK:
            self._failures.append(f"node {at} received an unknown result: {number:#x}, {check:#x}")
            return
        job = self.jobs[number]
        if job.cast:
            job = self.jobs[number + sender.vnn % len(self.loads)]
        where = sender.vnn, sender.device
        if job.to is None or job.to[0] != at or job.to[1] not in channels:
            where_to = f"node {at}, channels {list(channels)}"
            self._failures.append(f"the result of {job} arrived at {where_to} instead of {job.to}")
        elif job.arrived < FOREVER:
            self._failures.append(f"the result of {job} arrived twice")
        elif where != (job.card, Device.CELOXICA) or argument != job.argument:
            self._failures.append(f"the result of {job} arrived from {where} with argument {argument}")
        job.arrived, job.result = now, data

    def missing_at(self, node: int) -> Iterator[str]:
        """Yield a description of each result that has not reached a host."""
        for job in self.jobs:
            if job.to is not None and job.to[0] == node and job.arrived == FOREVER and not self.may_be_lost(job):
                yield f"the result of {job} has not arrived at node {node}"

    def may_be_lost(self, job: Job) -> bool:
        """Return True if a loss of power may have stopped a message or its result."""
        return self.flows[job.card, job.circuit].may_be_lost(job)

    def has_power(self, card: int) -> bool:
        """Return True unless a card has lost its power and has not been started again."""
        return all(outage.end < FOREVER for outage in self.outages[card])

    def under_way(self, card: int, circuit: str) -> bool:
        """Return True if a result of a circuit has not reached its host."""
        waiting = (job for job in self.flows[card, circuit].jobs if job.to is not None and job.arrived == FOREVER)
        return not all(self.may_be_lost(job) for job in waiting)

    def missing(self) -> Iterator[str]:
        """Yield a description of each missing result of all hosts."""
        for node in range(len(self.loads)):
            yield from self.missing_at(node)

    def wrong(self) -> list[str]:
        """Return a description of each error."""
        return [*self._failures, *(line for flow in self.flows.values() for line in flow.wrong())]
