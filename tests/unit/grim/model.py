"""Go-back-N between network interfaces (paper 000, section 4.2.1): a reference for tests, with unbounded counters.

A `Stream` is a sequence of messages that is numbered together: any-to-any, that is (source channel, source NI,
destination NI, destination channel) (4.3.2). Messages are numbered 0, 1, 2, ... as the endpoint injected them. The
model computes what the sender may send next and how the receiver must react to each arrival; any deviation of a network
interface is an error that names the stream.

- The sender sends in order, with several messages in flight. A NACK for message n rolls it back to n: n and
  all later messages of the stream are sent again, in order; other streams do not change.
- The receiver accepts the message it expects if it has room, and acknowledges it. Without room it rejects the message
  with a NACK, then drops arrivals without an answer until the rejected message returns. It accepts nothing else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum


class ProtocolError(AssertionError):
    """Behaviour of a network interface that the protocol does not allow."""


class Verdict(Enum):
    """Reaction of a receiver to a message."""

    ACCEPT = "accept"
    REFUSE = "refuse"
    DROP = "drop"
    DUPLICATE = "duplicate"
    """Duplicate of a received message; only where packets are lost (`tests.unit.grim.loss_model`)."""


@dataclass
class StreamState:
    """Both ends of a stream and the two directions between them, each in order."""

    name: str
    window: int
    injected: int = 0
    """Number of messages that the endpoint has given to the sender."""
    expected: int = 0
    """Message that the receiver accepts next."""
    forward: deque[int] = field(default_factory=deque)
    """Messages in flight."""
    answers: deque[tuple[Verdict, int]] = field(default_factory=deque)
    """Answers in flight."""
    transmissions: int = 0

    def _fail(self, what: str) -> ProtocolError:
        return ProtocolError(f"stream {self.name}: {what}")

    def inject(self) -> int:
        """Inject a message from the endpoint; return its number."""
        self.injected += 1
        return self.injected - 1


@dataclass
class Stream(StreamState):
    """Stream on wires without losses."""

    next: int = 0
    """Message that the sender sends next."""
    acknowledged: set[int] = field(default_factory=set)
    refused: bool = False
    """True from a NACK until its message returns."""

    @property
    def in_flight(self) -> int:
        """Number of messages sent and not known to be accepted. A roll-back never reaches acknowledged messages."""
        return self.next - len(self.acknowledged)

    def may_send(self) -> bool:
        """Return True if the sender has a message and room in its window."""
        return self.next < self.injected and self.in_flight < self.window

    def send(self, number: int | None = None) -> int:
        """Send the next message; return its number. Raises ProtocolError if it is not `number`, or may not be sent."""
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
        """Receive the oldest message in flight; return the verdict. Raises ProtocolError if the receiver's verdict is
        not allowed.

        Args:
            room: True if the endpoint's queue has room.
            did: Verdict of the receiver, instead of `room`.
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
        """Receive the oldest answer at the sender; return it. Raises ProtocolError if the sender saw another one."""
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
        """True if everything that was injected is accepted and known to be, and nothing is in flight."""
        return len(self.acknowledged) == self.injected == self.expected and not self.forward and not self.answers


def play(streams: list[Stream], messages: int, choose: Callable[[int], int], room: Callable[[], bool]) -> None:
    """Run streams in random order until each has delivered `messages`; `choose(n)` returns the index of the next of n
    steps.
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
