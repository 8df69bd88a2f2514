"""Go-back-N with the time-out extension, on wires that lose packets (paper 000, 4.2.1): a reference for tests, with
unbounded counters.

Beside `tests.unit.grim.model`, which is the protocol of a network that loses nothing. What is different:

- Any packet may vanish. Nothing overtakes, so what arrives says that all before it that did not arrive are lost.
- The window counts from the oldest message without an answer on.
- When the oldest has waited too long, the sender goes back to it. What was answered meanwhile does not go again.
- The receiver acknowledges once more what it has already, and drops in silence what comes too early, whether it has
  refused a message or not.
- The sender believes an answer only if the receiver gave it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from tests.unit.grim.model import Ends, Verdict

T = TypeVar("T")


@dataclass
class LossyStream(Ends):
    """A stream on wires on which anything may vanish: of what is on its way some is lost, and nobody knows yet."""

    base: int = 0
    """Oldest message without an answer."""
    verdicts: dict[Verdict, int] = field(default_factory=lambda: dict.fromkeys(Verdict, 0))
    """How often the receiver came to each."""
    expiries: int = 0
    _next: int = 0
    _answered: set[int] = field(default_factory=set)
    """Answered messages behind `base`."""

    @property
    def next(self) -> int:
        """Message that the sender sends next: the first from where it went back to that has no answer."""
        while self._next in self._answered:
            self._next += 1
        return self._next

    def may_send(self) -> bool:
        """Whether the sender has something to send and room in its window."""
        return self.next < self.injected and self.next - self.base < self.window

    def send(self, number: int | None = None) -> int:
        """The sender sends; `number` is what it sent, to be checked. Raises ProtocolError."""
        if number is not None and number != self.next:
            raise self._fail(f"message {number} was sent, {self.next} is next")
        if not self.may_send():
            raise self._fail(f"message {self.next} was sent, {self.base} is without an answer, window {self.window}")
        self.forward.append(self.next)
        self._next += 1
        self.transmissions += 1
        return self._next - 1

    def expire(self, number: int | None = None) -> int:
        """The oldest message without an answer has waited too long: the sender goes back to it, if it is not there
        anyway with a message that still waits for the link. Raises ProtocolError when it went back to another
        `number`, or has no message.
        """
        if self.base == self.injected:
            raise self._fail(f"a time-out, and all {self.base} messages are answered")
        if number is not None and number != self.base:
            raise self._fail(f"a time-out took the sender back to {number}, {self.base} is the oldest")
        self._next = self.base
        self.expiries += 1
        return self.base

    def arrive(self, room: bool = True, number: int | None = None, did: Verdict | None = None) -> Verdict:
        """A message arrives: the oldest on its way, or `number`, and those before it are lost. `room`: whether the
        endpoint's queue has room; or `did`: what the receiver did.

        Raises ProtocolError when what it did is not what it must do.
        """
        number = self._arrived(self.forward, number, "message")
        allowed = [Verdict.DROP]
        if number < self.expected:
            allowed = [Verdict.AGAIN]
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
        """An answer reaches the sender: the oldest on its way, or the one that it has `seen`, and those before it are
        lost or came too late. Raises ProtocolError when the receiver gave no such answer.
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
        """Whether everything that was injected is accepted and known to be."""
        return self.base == self.injected == self.expected


def play(
    streams: list[LossyStream],
    messages: int,
    choose: Callable[[int], int],
    room: Callable[[], bool],
    lost: Callable[[], bool],
) -> None:
    """Let the streams run against each other until each has delivered `messages`: `choose(n)` picks the next of n
    possible steps, a time-out among them; `lost()` says whether a packet vanishes.
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
