"""Go-back-N with the time-out extension, on wires that lose packets (paper 000, 4.2.1): a reference for tests, with
unbounded counters.

Differences from `tests.unit.grim.model`, the protocol for networks without losses:

- Any packet may be lost. Packets keep their order, so an arrival shows that all earlier missing packets are lost.
- The window counts from the oldest message without an answer.
- When the oldest has waited for the time-out, the sender goes back to it. Messages answered meanwhile are not resent.
- The receiver acknowledges duplicates again, and drops early messages without an answer, whether it has
  rejected a message or not.
- The sender accepts only answers that the receiver gave.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from tests.unit.grim.model import StreamState, Verdict

T = TypeVar("T")


@dataclass
class LossyStream(StreamState):
    """Stream on wires that may lose anything; a message in flight may be lost already."""

    base: int = 0
    """Oldest message without an answer."""
    verdicts: dict[Verdict, int] = field(default_factory=lambda: dict.fromkeys(Verdict, 0))
    """Number of times the receiver reached each verdict."""
    expiries: int = 0
    _next: int = 0
    _answered: set[int] = field(default_factory=set)
    """Answered messages after `base`."""

    @property
    def next(self) -> int:
        """Next message to send: the first without an answer from where the sender went back to."""
        while self._next in self._answered:
            self._next += 1
        return self._next

    def may_send(self) -> bool:
        """Return True if the sender has a message and room in its window."""
        return self.next < self.injected and self.next - self.base < self.window

    def send(self, number: int | None = None) -> int:
        """Send the next message; return its number. Raises ProtocolError if it is not `number`, or may not be sent."""
        if number is not None and number != self.next:
            raise self._fail(f"message {number} was sent, {self.next} is next")
        if not self.may_send():
            raise self._fail(f"message {self.next} was sent, {self.base} is without an answer, window {self.window}")
        self.forward.append(self.next)
        self._next += 1
        self.transmissions += 1
        return self._next - 1

    def expire(self, number: int | None = None) -> int:
        """Go back to the oldest message without an answer, whose time-out has expired; return its number.

        If the sender is there already, with a message that still waits for the link, nothing changes. Raises
        ProtocolError if this message is not `number`, or there is none.
        """
        if self.base == self.injected:
            raise self._fail(f"a time-out, and all {self.base} messages are answered")
        if number is not None and number != self.base:
            raise self._fail(f"a time-out took the sender back to {number}, {self.base} is the oldest")
        self._next = self.base
        self.expiries += 1
        return self.base

    def arrive(self, room: bool = True, number: int | None = None, did: Verdict | None = None) -> Verdict:
        """Receive a message; return the verdict. Raises ProtocolError if the receiver's verdict is not allowed.

        Args:
            room: True if the endpoint's queue has room.
            number: Message that arrives, by default the oldest in flight; those before it are lost.
            did: Verdict of the receiver, instead of `room`.
        """
        number = self._arrived(self.forward, number, "message")
        allowed = [Verdict.DROP]
        if number < self.expected:
            allowed = [Verdict.DUPLICATE]
        elif number == self.expected:
            allowed = [Verdict.ACCEPT, Verdict.REFUSE] if room else [Verdict.REFUSE]
        verdict = allowed[0] if did is None else did
        if verdict not in allowed:
            names = ", ".join(one.value for one in allowed)
            raise self._fail(f"message {number} met {verdict.value}, {self.expected} is expected, allowed: {names}")
        self.verdicts[verdict] += 1
        self.expected += verdict is Verdict.ACCEPT
        if verdict is not Verdict.DROP:
            told = Verdict.REFUSE if verdict is Verdict.REFUSE else Verdict.ACCEPT
            self.answers.append((told, number))
        return verdict

    def answer(self, seen: tuple[Verdict, int] | None = None) -> tuple[Verdict, int]:
        """Receive an answer at the sender; return it. Raises ProtocolError if the receiver gave no such answer.

        Args:
            seen: Verdict and number that the sender saw, by default the oldest answer in flight. Those before it are
                lost or were too late.
        """
        verdict, number = self._arrived(self.answers, seen, "answer")
        if number >= self.base and number not in self._answered:
            if verdict is Verdict.ACCEPT:
                self._is_answered(number)
            elif number < self.next:
                self._next = number
        return verdict, number

    def _is_answered(self, number: int) -> None:
        self._answered.add(number)
        while self.base in self._answered:
            self._answered.remove(self.base)
            self.base += 1
        self._next = max(self._next, self.base)

    def _arrived(self, way: deque[T], what: T | None, kind: str) -> T:
        if what is not None and what not in way:
            raise self._fail(f"{kind} {what} arrived, and is not on its way")
        while True:
            oldest = way.popleft()
            if what is None or oldest == what:
                return oldest

    @property
    def complete(self) -> bool:
        """True if everything that was injected is accepted and known to be."""
        return self.base == self.injected == self.expected


def play(
    streams: list[LossyStream],
    messages: int,
    choose: Callable[[int], int],
    room: Callable[[], bool],
    lost: Callable[[], bool],
) -> None:
    """Run streams in random order until each has delivered `messages`.

    Args:
        streams: The streams.
        messages: Number of messages for each stream.
        choose: `choose(n)` returns the index of the next of n possible steps, a time-out among them.
        room: Returns True if the receiver has room.
        lost: Returns True if a packet is lost.
    """
    for stream in streams:
        for _ in range(messages):
            stream.inject()
    while not all(stream.complete for stream in streams):
        steps: list[Callable[[], object]] = []
        for stream in streams:
            steps += [stream.send] if stream.may_send() else []
            steps += [stream.expire] if stream.next > stream.base else []
            if stream.forward:
                steps.append(stream.forward.popleft if lost() else lambda stream=stream: stream.arrive(room()))  # type: ignore[misc]
            if stream.answers:
                steps.append(stream.answers.popleft if lost() else stream.answer)
        steps[choose(len(steps))]()
