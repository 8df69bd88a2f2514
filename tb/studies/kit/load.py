"""Load between two hosts: open (messages at given times) or closed (a bounded number of unanswered messages)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from firmware.mail import AHEAD
from tb.lab.lab import Notebook
from tb.studies.kit.hosts import together
from tb.studies.kit.mail import End
from tb.studies.kit.payload import pattern

NUMBER_BYTES = 4
"""Bytes at the beginning of a message that hold its number."""


@dataclass(frozen=True)
class Load:
    """Send and receive times of the messages of a load, in the order of sending; in ps."""

    due: list[int]
    """Due time of each message: its scheduled time (open load), or the start of the call that sent it (closed load)."""
    done: list[int]
    """Time at which each message (open load) or its answer (closed load) was received."""

    @property
    def latencies(self) -> list[int]:
        """Time of each message from its due time to its end; includes the wait behind earlier messages."""
        return [done - due for due, done in zip(self.due, self.done, strict=True)]

    def warm(self, share: float) -> Load:
        """Return the load without its first messages, which warm up the system.

        Args:
            share: share of the messages to drop, from 0 to 1.
        """
        first = round(share * len(self.due))
        return Load(self.due[first:], self.done[first:])

    @property
    def offered(self) -> float:
        """Offered load: due messages per second, between the first and the last."""
        return _per_second(self.due)

    @property
    def accepted(self) -> float:
        """Accepted load: finished messages per second, between the first and the last."""
        return _per_second(sorted(self.done))


def _per_second(times: Sequence[int]) -> float:
    return (len(times) - 1) / (times[-1] - times[0]) * 1e12


def poisson(per_second: float, count: int, key: str) -> list[int]:
    """Return `count` gaps between messages in ps, exponentially distributed with mean `1 / per_second` (seed `key`)."""
    rng = random.Random(key)
    return [round(rng.expovariate(per_second) * 1e12) for _ in range(count)]


async def open_load(lab: Notebook, near: End, far: End, gaps: Sequence[int], size: int) -> Load:
    """Send messages at given times, regardless of their delivery. A message that is late is sent immediately.

    Args:
        lab: the study's lab.
        near: the sending host.
        far: the receiving host.
        gaps: time in ps between the due times of successive messages; shape (n,).
        size: bytes of a message, at least `NUMBER_BYTES`.
    """
    due, done = list[int](), dict[int, int]()

    async def give() -> None:
        at = lab.kernel.now
        for number, gap in enumerate(gaps):
            at += gap
            if at > lab.kernel.now:
                await lab.kernel.sleep(at - lab.kernel.now, "the next message of the load")
            due.append(at)
            await near.mail.send(far.node, _message(number, size))

    async def take() -> None:
        for _ in gaps:
            _note(lab, done, await far.mail.receive(), near.node, size)

    await together(lab, "end", [give(), take()])
    return _load(lab, due, done)


async def closed_load(lab: Notebook, near: End, far: End, count: int, window: int, size: int) -> Load:
    """Send messages that the far host returns, at most `window` of them unanswered. Latencies are round trips.

    Args:
        lab: the study's lab.
        near: the host that sends first.
        far: the host that returns each message.
        count: number of messages.
        window: from 1 to `firmware.mail.AHEAD`.
        size: bytes of a message, at least `NUMBER_BYTES`.

    Raises:
        ValueError: `window` is out of range.
    """
    if not 1 <= window <= AHEAD:
        raise ValueError(f"window {window}: out of range; layers have room for 1 to {AHEAD} unreceived messages")
    due, done = list[int](), dict[int, int]()

    async def ask() -> None:
        for number in range(count):
            if number - len(done) == window:
                _note(lab, done, await near.mail.receive(), far.node, size)
            due.append(lab.kernel.now)
            await near.mail.send(far.node, _message(number, size))
        while len(done) < count:
            _note(lab, done, await near.mail.receive(), far.node, size)

    async def answer() -> None:
        for _ in range(count):
            await far.mail.answer()

    await together(lab, "end", [ask(), answer()])
    lab.findings.messages += count
    return _load(lab, due, done)


def _message(number: int, size: int) -> bytes:
    return number.to_bytes(NUMBER_BYTES, "big") + pattern(size - NUMBER_BYTES)


def _note(lab: Notebook, done: dict[int, int], message: tuple[int, bytes], source: int, size: int) -> None:
    number = int.from_bytes(message[1][:NUMBER_BYTES], "big")
    lab.check(
        "bytes of the load",
        message == (source, _message(number, size)),
        f"message {number} arrived corrupted",
    )
    lab.check("duplicates of the load", number not in done, f"message {number} arrived twice")
    done[number] = lab.kernel.now


def _load(lab: Notebook, due: list[int], done: dict[int, int]) -> Load:
    """Return the times of a load's messages; a missing message fails the run."""
    missing = [number for number in range(len(due)) if number not in done]
    lab.check("messages of the load", not missing, f"{missing} are missing")
    lab.findings.messages += len(due)
    return Load(due, [done.get(number, lab.kernel.now) for number in range(len(due))])
