"""Reference model of circuits: the result of each message to a circuit, with images loaded at unknown points.

All messages to one circuit of one card come from one stream, so they are in order. It is unknown between which two of
them an image was loaded, which clears the circuit. All possible states of the circuit are therefore followed together,
and each result must match at least one.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pymodels.card.circuits import CIRCUITS, Circuit
from tb.studies.grim.fuzz.mail import FOREVER, Place

LOST = 0xA5
"""Byte in all of a card's memory after a loss of power."""
MANY = 64
"""Maximum number of possible states that are followed."""


@dataclass
class Job:
    """Message to a circuit; times in ps."""

    number: int
    card: int
    circuit: str
    argument: int
    payload: bytes
    to: Place | None
    """Destination of its result; None: dropped."""
    begun: int
    arrived: int = FOREVER
    result: bytes = b""
    sender: int = 0
    """Node that sends it."""
    cast: bool = False
    """True if it is the copy of a multicast, one for each card, numbered in the order of the cards."""

    def __str__(self) -> str:
        what = f"message {self.number} ({len(self.payload)} bytes, argument {self.argument})"
        return f"{what} for {self.circuit} of the card of node {self.card}"


@dataclass
class Load:
    """Image that was loaded between two times."""

    begun: int
    ended: int = FOREVER
    circuits: frozenset[str] | None = None
    """Circuits that it may clear: those of a slot; None for all."""

    def clears(self, circuit: str) -> bool:
        """Return True if the image may clear a circuit."""
        return self.circuits is None or circuit in self.circuits


@dataclass
class Outage:
    """Time in which a card has no power, or has not been started again."""

    cut: int
    end: int = FOREVER

    def doubts(self, begun: int, ended: int) -> bool:
        """Return True if the card may have lost what begins and ends at these times."""
        return begun < self.end and ended >= self.cut


@dataclass
class Flow:
    """Messages to one circuit of one card, in order."""

    circuit: str
    loads: Sequence[Load]
    """Images loaded into its card."""
    jobs: list[Job] = field(default_factory=list)
    outages: Sequence[Outage] = ()
    """Losses of power of its card."""

    def wrong(self) -> Iterator[str]:
        """Yield a description of each result that no possible state of the circuit produces.

        A message that a loss of power may have stopped was processed or not. With more than MANY possible states the
        next ones are unknown until an image has certainly cleared the circuit.
        """
        latest = self._latest()
        states = [CIRCUITS[self.circuit]()]
        before, known = (0, 0), True
        for job, until in zip(self.jobs, latest, strict=True):
            now = max(before[0], job.begun), until
            states, cleared = self._loaded(states, before, now)
            known = known or cleared
            tried = [_run(state, job) for state in states]
            fitting = [state for state, result in tried if not self._has_arrived(job) or result == job.result]
            if not fitting and known:
                yield f"{job} returned {_short(job.result)}, not {' or '.join({_short(one) for _, one in tried})}"
            lost = states if self.may_be_lost(job) and not self._has_arrived(job) else []
            states = _distinct([*lost, *(fitting or [state for state, _ in tried])])
            if len(states) > MANY:
                states, known = states[:1], False
            before = now

    def may_be_lost(self, job: Job) -> bool:
        """Return True if a loss of power may have stopped a message or its result."""
        return any(outage.doubts(job.begun, job.arrived) for outage in self.outages)

    @staticmethod
    def _has_arrived(job: Job) -> bool:
        return job.arrived < FOREVER

    def _latest(self) -> list[int]:
        """Return the latest time at which each message can have finished: when the result of a later one arrived."""
        found, soonest = [], FOREVER
        for job in reversed(self.jobs):
            soonest = min(soonest, job.arrived)
            found.append(soonest)
        return found[::-1]

    def _loaded(
        self, states: list[Circuit], before: tuple[int, int], now: tuple[int, int]
    ) -> tuple[list[Circuit], bool]:
        """Return the states after the images loaded between two messages, each processed within an interval of time;
        and True if an image has certainly cleared the circuit.
        """
        loads = [load for load in self.loads if load.clears(self.circuit)]
        if any(load.begun >= before[1] and load.ended <= now[0] for load in loads):
            return [CIRCUITS[self.circuit]()], True
        if any(load.ended >= before[0] and load.begun <= now[1] for load in loads):
            return _distinct([*states, CIRCUITS[self.circuit]()]), False
        return states, False


def _run(state: Circuit, job: Job) -> tuple[Circuit, bytes]:
    after = copy.deepcopy(state)
    return after, after.run(job.argument, job.payload)


def _distinct(states: list[Circuit]) -> list[Circuit]:
    return list({repr(sorted(vars(state).items())): state for state in states}.values())


def _short(data: bytes) -> str:
    return f"{len(data)} bytes {data[:8].hex()}{'...' * (len(data) > 8)}"
