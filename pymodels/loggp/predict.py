"""Prediction of LogGOPSim for a schedule: the time when each rank finishes (LogGOPS with one CPU and one NIC per rank).

A send occupies the CPU for o + (s-1) O and the send side of the NIC for g + (s-1) G; it starts when both are free. Its
first byte arrives at the target o + L later. There the message waits until CPU and receive side are free, even if no
receive is posted. It then occupies the CPU for o + (s-1) max(O, G), and the receive side for g + (s-1) G. A receive
finishes with the message that it matches, in order of source and tag. A send of up to S bytes finishes when it starts.
A longer send (rendezvous) finishes when its message has met its receive, and blocks the later steps of its rank until
then.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from pymodels.loggp.goal import Calc, Operation, Recv, Schedule, Send

EVERYTHING = (1 << 31) - 1
"""Value of S for a layer that sends all messages eagerly."""


@dataclass(frozen=True)
class LogGOPS:
    """Parameters of LogGOPSim: integers in a common unit of time, and S in bytes."""

    L: int
    o: int
    g: int
    G: int
    O: int = 0  # noqa: E741 - its name in the model
    S: int = EVERYTHING

    def words(self) -> str:
        """Return the command-line arguments of LogGOPSim."""
        return f"-L {self.L} -o {self.o} -g {self.g} -G {self.G} -O {self.O} -S {self.S}"


@dataclass(frozen=True)
class Message:
    """Message in flight or arrived."""

    source: int
    step: int
    size: int
    tag: int


@dataclass
class Rank:
    """State of a rank: times until which its CPU and NIC are busy, pending steps, and unmatched receives and
    messages.
    """

    left: list[set[int]]
    """Unfinished prerequisites of each step."""
    undone: set[int]
    begun: set[int] = field(default_factory=set)
    cpu: int = 0
    sending: int = 0
    receiving: int = 0
    posted: list[tuple[int, Recv]] = field(default_factory=list)
    arrived: list[Message] = field(default_factory=list)


class Prediction:
    """Simulation of one schedule with given parameters."""

    def __init__(self, schedule: Schedule, parameters: LogGOPS) -> None:
        """Raise ValueError for a message of 0 bytes, which the model does not define."""
        self._schedule, self._with = schedule, parameters
        self._ranks = [Rank([set(step.requires) for step in steps], set(range(len(steps)))) for steps in schedule]
        self._due: list[tuple[int, int, int, int | Message]] = []
        """Heap of (time, order of insertion, rank, step of the rank or message to it)."""
        self._order = count()
        for number, steps in enumerate(schedule):
            if any(isinstance(step.operation, Send) and step.operation.size < 1 for step in steps):
                raise ValueError(f"rank {number} sends a message without bytes: the model has 1 byte at least")

    def finish(self) -> list[int]:
        """Return the time when the CPU of each rank finishes. Raises ValueError for a deadlocked schedule."""
        for number in range(len(self._ranks)):
            self._begin(number)
        while self._due:
            time, order, rank, what = heapq.heappop(self._due)
            for changed in sorted(set(self._take(time, order, rank, what))):
                self._begin(changed)
        for number, one in enumerate(self._ranks):
            if one.undone:
                raise ValueError(f"rank {number} waits for ever: {self._operation(number, min(one.undone))}")
        return [rank.cpu for rank in self._ranks]

    def _begin(self, number: int) -> None:
        """Schedule all steps of a rank whose prerequisites have finished, sends first."""
        rank = self._ranks[number]
        free = [step for step, left in enumerate(rank.left) if not left and step not in rank.begun]
        kinds = {Send: 0, Recv: 1, Calc: 2}
        for step in sorted(free, key=lambda one: kinds[type(self._operation(number, one))]):
            rank.begun.add(step)
            sends = isinstance(self._operation(number, step), Send)
            self._put(max(rank.cpu, rank.sending) if sends else rank.cpu, number, step)

    def _operation(self, rank: int, step: int) -> Operation:
        return self._schedule[rank][step].operation

    def _put(self, time: int, rank: int, what: int | Message, order: int = -1) -> None:
        heapq.heappush(self._due, (time, next(self._order) if order < 0 else order, rank, what))

    def _take(self, time: int, order: int, number: int, what: int | Message) -> Iterator[int]:
        """Process a due step or message, or delay it until its rank is free; yield the ranks at which a step
        finished.
        """
        rank = self._ranks[number]
        operation = what if isinstance(what, Message) else self._operation(number, what)
        if isinstance(operation, Recv):
            assert isinstance(what, int)
            yield from self._receive(time, number, what, operation)
            return
        free = {Message: rank.receiving, Send: rank.sending}.get(type(operation), 0)
        if max(rank.cpu, free) > time:
            self._put(max(rank.cpu, free), number, what, order)
        elif isinstance(what, Message):
            yield from self._arrive(time, number, what)
        elif isinstance(operation, Send):
            yield from self._send(time, number, what, operation)
        else:
            rank.cpu = time + operation.duration if isinstance(operation, Calc) else time
            yield self._done(number, what)

    def _send(self, time: int, number: int, step: int, send: Send) -> Iterator[int]:
        rank, with_ = self._ranks[number], self._with
        rank.cpu = time + with_.o + (send.size - 1) * with_.O
        rank.sending = time + with_.g + (send.size - 1) * with_.G
        self._put(time + with_.o + with_.L, send.to, Message(number, step, send.size, send.tag))
        if send.size <= with_.S:
            yield self._done(number, step)

    def _arrive(self, time: int, number: int, message: Message) -> Iterator[int]:
        rank, with_ = self._ranks[number], self._with
        rank.cpu = time + with_.o + (message.size - 1) * max(with_.O, with_.G)
        rank.receiving = time + with_.g + (message.size - 1) * with_.G
        for at, (step, recv) in enumerate(rank.posted):
            if (recv.source, recv.tag) == (message.source, message.tag):
                del rank.posted[at]
                yield self._done(number, step)
                yield from self._met(time, message)
                return
        rank.arrived.append(message)

    def _receive(self, time: int, number: int, step: int, recv: Recv) -> Iterator[int]:
        rank = self._ranks[number]
        for at, message in enumerate(rank.arrived):
            if (recv.source, recv.tag) == (message.source, message.tag):
                del rank.arrived[at]
                yield self._done(number, step)
                yield from self._met(time, message)
                return
        rank.posted.append((step, recv))

    def _met(self, time: int, message: Message) -> Iterator[int]:
        """Finish a rendezvous send whose message has met its receive."""
        if message.size > self._with.S:
            source = self._ranks[message.source]
            source.cpu, source.sending = max(source.cpu, time), max(source.sending, time)
            yield self._done(message.source, message.step)

    def _done(self, number: int, step: int) -> int:
        rank = self._ranks[number]
        rank.undone.remove(step)
        for left in rank.left:
            left.discard(step)
        return number


def finish_times(schedule: Schedule, parameters: LogGOPS) -> list[int]:
    """Return the time when each rank of a schedule finishes, in the unit of the parameters."""
    return Prediction(schedule, parameters).finish()
