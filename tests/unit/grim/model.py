"""Go-back-N between network interfaces, as paper 000, section 4.2.1, says it: a reference for tests, with unbounded
counters.

One `Stream` is what is sequenced together: any-to-any, that is (source channel, source NI, destination NI,
destination channel) (4.3.2). Messages are numbered 0, 1, 2, ... as the endpoint injected them. The model says what
the sender may send next and what the receiver must do with what arrives; whatever a network interface does otherwise
is an error, which names the stream.

- The sender sends in order. It may have several messages in flight. A NACK for message n takes it back to n: n and
  all that follow it in the stream are sent again, in order; other streams are not touched.
- The receiver accepts the message it expects if it has room, and acknowledges it. If it has no room it refuses it
  with a NACK. From then on it drops what comes, silently, until the refused message returns. It accepts nothing else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum


class ProtocolError(AssertionError):
    """A network interface did what the protocol does not allow."""


class Verdict(Enum):
    """What a receiver does with a message."""

    ACCEPT = "accept"
    REFUSE = "refuse"
    DROP = "drop"
    AGAIN = "again"
    """It is here already: only where packets vanish (`tests.unit.grim.loss_model`)."""


@dataclass
class Ends:
    """Both ends of a stream and the two directions between them, in which nothing overtakes."""

    name: str
    window: int
    injected: int = 0
    """Messages that the endpoint has given to the sender."""
    expected: int = 0
    """Message that the receiver accepts next."""
    forward: deque[int] = field(default_factory=deque)
    """Messages on their way."""
    answers: deque[tuple[Verdict, int]] = field(default_factory=deque)
    """Answers on their way."""
    transmissions: int = 0

    def _fail(self, what: str) -> ProtocolError:
        return ProtocolError(f"stream {self.name}: {what}")

    def inject(self) -> int:
        """The endpoint gives one more message; its number."""
        self.injected += 1
        return self.injected - 1


@dataclass
class Stream(Ends):
    """A stream on wires that lose nothing."""

    next: int = 0
    """Message that the sender sends next."""
    acknowledged: set[int] = field(default_factory=set)
    refused: bool = False
    """A NACK is out and its message has not returned."""

    @property
    def in_flight(self) -> int:
        """Messages sent and not known to be accepted. A roll-back never reaches back to what is acknowledged."""
        return self.next - len(self.acknowledged)

    def may_send(self) -> bool:
        """Whether the sender has something to send and room in its window."""
        return self.next < self.injected and self.in_flight < self.window

    def send(self, number: int | None = None) -> int:
        """The sender sends; `number` is what it sent, to be checked. Raises ProtocolError."""
        if number is not None and number != self.next:
            raise self._fail(f"message {number} was sent, {self.next} is next")
        if not self.may_send():
            state = f"{self.in_flight} in flight, {self.injected} injected, window {self.window}"
            raise self._fail(f"message {self.next} was sent with {state}")
        self.forward.append(self.next)
        self.next += 1
        self.transmissions += 1
        return self.next - 1

    def arrive(self, room: bool | None = None, did: Verdict | None = None) -> Verdict:
        """The oldest message on its way arrives. `room`: whether the endpoint's queue has room; or `did`: what the
        receiver did.

        Raises ProtocolError when what it did is not what it must do.
        """
        number = self.forward.popleft()
        if number == self.expected:
            allowed = (
                (Verdict.ACCEPT, Verdict.REFUSE) if room is None else ((Verdict.ACCEPT,) if room else (Verdict.REFUSE,))
            )
        elif self.refused and number > self.expected:
            allowed = (Verdict.DROP,)
        else:
            raise self._fail(f"message {number} arrived, {self.expected} is expected, refused: {self.refused}")
        verdict = did if did is not None else allowed[0]
        if verdict not in allowed:
            raise self._fail(f"message {number} met {verdict.value}, allowed: {', '.join(v.value for v in allowed)}")
        if verdict is not Verdict.DROP:
            self.refused = verdict is Verdict.REFUSE
            self.expected += verdict is Verdict.ACCEPT
            self.answers.append((verdict, number))
        return verdict

    def answer(self, seen: Verdict | None = None) -> tuple[Verdict, int]:
        """The oldest answer reaches the sender. Raises ProtocolError when it saw another kind."""
        verdict, number = self.answers.popleft()
        if seen is not None and seen is not verdict:
            raise self._fail(f"the answer to message {number} is {verdict.value}, the sender saw {seen.value}")
        if verdict is Verdict.ACCEPT:
            self.acknowledged.add(number)
        else:
            self.next = number
        return verdict, number

    @property
    def complete(self) -> bool:
        """Whether everything that was injected is accepted and known to be, and nothing is on its way."""
        return len(self.acknowledged) == self.injected == self.expected and not self.forward and not self.answers


def play(streams: list[Stream], messages: int, choose: Callable[[int], int], room: Callable[[], bool]) -> None:
    """Let the streams run against each other until each has delivered `messages`: `choose(n)` picks the next of n
    possible steps.
    """
    for stream in streams:
        for _ in range(messages):
            stream.inject()
    while True:
        steps: list[Callable[[], object]] = []
        for stream in streams:
            steps += [stream.send] if stream.may_send() else []
            steps += [lambda stream=stream: stream.arrive(room())] if stream.forward else []  # type: ignore[misc]
            steps += [stream.answer] if stream.answers else []
        if not steps:
            return
        steps[choose(len(steps))]()
