"""Sequential reference for the receives and probes of a rank, written from the standard's text alone.

The network decides which of two senders comes first. So the order in which messages and receives reach a rank's queues
is recorded, and the reference matches receives and messages. Messages of one sender in one communicator must have been
recorded in the order of their sends.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from firmware.mpi.host import Mpi
from tb.studies.mpi._mpi_items import Place, Step

ANY = -1


@dataclass(frozen=True)
class Got:
    """Result of a receive: source in MPI_COMM_WORLD, tag, data; `clean` is True if no other byte changed."""

    source: int
    tag: int
    data: bytes
    clean: bool = True
    cut: bool = False
    """True if the receive failed because the message did not fit."""


@dataclass
class Log:
    """Events at the queues of a rank, in order: kind, context, and key or result of a probe."""

    events: list[tuple[str, int, Any]] = field(default_factory=list)
    places: dict[int, Place] = field(default_factory=dict)
    """Communicators by context."""


def tap(mpi: Mpi, log: Log) -> None:
    """Record the events at a rank's queues."""
    matcher = mpi.engine.matcher
    receive_for, message_for, probe, cancel = matcher.receive_for, matcher.message_for, matcher.probe, matcher.cancel

    def message(key: Any) -> Any:
        log.events.append(("message", key.context, key))
        return receive_for(key)

    def receive(key: Any) -> Any:
        log.events.append(("receive", key.context, key))
        return message_for(key)

    def probed(key: Any) -> Any:
        log.events.append(("probe", key.context, key))
        return probe(key)

    def cancelled(operation: Any) -> bool:
        found = cancel(operation)
        if found:
            log.events.append(("cancel", operation.key.context, operation.key))
        return found

    matcher.receive_for, matcher.message_for = message, receive  # type: ignore[method-assign, assignment]
    matcher.probe, matcher.cancel = probed, cancelled  # type: ignore[method-assign, assignment]


@dataclass(frozen=True)
class Message:
    """Message sent to the rank."""

    source: int
    tag: int
    data: bytes


class Reference:
    """Queues of one rank, by the standard."""

    def __init__(self, rank: int, steps: Sequence[Step]) -> None:
        self.rank = rank
        self.wrong: list[str] = []
        self._coming: dict[tuple[Place, int], list[Message]] = {}
        for step in steps:
            for source, dest in sends_of(step):
                if dest == rank:
                    data = step.data(source)
                    sent = pickle.dumps(data) if step.item.send == "object" else data
                    self._coming.setdefault((step.place, source), []).append(Message(source, step.item.tag, sent))
        self._early: list[tuple[Place, Message]] = []
        self._waiting: list[tuple[int, Place, Any]] = []
        """Waiting receives: number, communicator, key."""
        self._seen: Message | None = None
        self.got: list[Message | None] = []

    def follow(self, log: Log) -> None:
        """Process all recorded events."""
        for what, context, key in log.events:
            place = log.places.get(context)
            if place is not None:
                getattr(self, f"_{what}")(place, key)
        left = sum(len(messages) for messages in self._coming.values())
        if left or self._early:
            self.wrong.append(f"rank {self.rank}: {left} messages have not come, {len(self._early)} nobody received")

    def _message(self, place: Place, key: Any) -> None:
        due = self._coming.get((place, key.source), [])
        if not due or due[0].tag != key.tag:
            self.wrong.append(f"rank {self.rank}: tag {key.tag} of rank {key.source} is not the next one of its sends")
            return
        message = due.pop(0)
        fit = next((one for one in self._waiting if one[1] == place and _fits(one[2], message)), None)
        if fit is None:
            self._early.append((place, message))
        else:
            self._waiting.remove(fit)
            self.got[fit[0]] = message

    def _receive(self, place: Place, key: Any) -> None:
        found = self._first(place, key)
        if found is None:
            self._waiting.append((len(self.got), place, key))
        else:
            self._early.remove((place, found))
        self.got.append(found)

    def _first(self, place: Place, key: Any) -> Message | None:
        return next((message for at, message in self._early if at == place and _fits(key, message)), None)

    def _probe(self, place: Place, key: Any) -> None:
        self._seen = self._first(place, key)

    def _probed(self, place: Place, told: tuple[int, int, int] | None) -> None:
        """Check the result of the last probe: source, tag and bytes."""
        seen = self._seen and (self._seen.source, self._seen.tag, len(self._seen.data))
        if told != seen:
            self.wrong.append(f"rank {self.rank}: a probe told {told} of {seen}")

    def _taken(self, place: Place, told: Any) -> None:
        """Remove a message that a matched probe has taken."""
        self._probed(place, told)
        if self._seen is not None:
            self._early.remove((place, self._seen))
        self.got.append(self._seen)

    def _cancel(self, place: Place, key: Any) -> None:
        self._waiting = [one for one in self._waiting if one[2] is not key]


def sends_of(step: Step) -> list[tuple[int, int]]:
    """Return source and destination of each message of a step."""
    there, back = (step.source, step.dest), (step.dest, step.source)
    return {"message": [there], "exchange": [there] if there == back else [there, back]}.get(step.item.kind, [])


def _fits(key: Any, message: Message) -> bool:
    return key.source in (ANY, message.source) and key.tag in (ANY, message.tag)


def compare(rank: int, steps: Sequence[Step], log: Log, got: Sequence[Got | None]) -> list[str]:
    """Return the violations of a rank's receives; None stands for a receive cancelled without a message."""
    reference = Reference(rank, steps)
    reference.follow(log)
    for number, (wanted, one) in enumerate(zip(reference.got, got, strict=False)):
        due = None if wanted is None else Got(wanted.source, wanted.tag, wanted.data)
        if wanted is not None and one is not None and one.cut:
            room = len(one.data)
            due = Got(wanted.source, wanted.tag, wanted.data[:room], cut=room < len(wanted.data))
        if one != due:
            reference.wrong.append(f"rank {rank}: receive {number} got {_told(one)}, and {_told(due)} is due")
    if len(got) != len(reference.got):
        reference.wrong.append(f"rank {rank}: {len(got)} receives of {len(reference.got)} have ended")
    return reference.wrong


def _told(one: Got | None) -> str:
    if one is None:
        return "nothing"
    return f"{len(one.data)} bytes {one.data[:8].hex()} of rank {one.source}, tag {one.tag}, clean: {one.clean}"
