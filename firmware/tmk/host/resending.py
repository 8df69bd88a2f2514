"""Messages that the network may lose: Requests are sent again until their Responses come, and are worked on once.

A process has one call under way, so of each other process only the last Request counts. What was done with it, its
Response or its forwarding, is kept, and done again when the Request comes again; a Request that waits (for a lock, at a
barrier) only waits on. A Response that comes twice is dropped.
"""

from __future__ import annotations

from typing import NamedTuple

from firmware.tmk.host.wire import RESPONSES, Kind, Message, numbers


class Sent(NamedTuple):
    """A message that may have to be sent again."""

    to: int
    message: Message
    at: int
    """When it was sent last, ps."""


def asker(request: Message) -> int:
    """Who waits for the Response: a Request for a lock may be forwarded."""
    return numbers(request.body, 0, 1)[0] if request.kind is Kind.LOCK else request.source


class Resending:
    """Of one process."""

    def __init__(self, me: int) -> None:
        self._me = me
        self._due: dict[int, Sent] = {}
        """Own Requests without a Response, by sequence."""
        self._last: dict[int, tuple[int, Sent | None]] = {}
        """By process: sequence of its last Request, and what was sent for it."""

    def sends(self, to: int, message: Message, now: int) -> None:
        """A message is sent."""
        sent = Sent(to, message, now)
        if message.kind >= RESPONSES:
            self._last[to] = message.sequence, sent
        elif asker(message) == self._me:
            self._due[message.sequence] = sent
        else:
            self._last[asker(message)] = message.sequence, sent

    def answers(self, response: Message) -> bool:
        """A Response has come: whether anybody waits for it."""
        return self._due.pop(response.sequence, None) is not None

    def is_new(self, request: Message) -> bool:
        """A Request has come: whether it is to be worked on."""
        who = asker(request)
        if who in self._last and request.sequence <= self._last[who][0]:
            return False
        self._last[who] = request.sequence, None
        return True

    def done_for(self, request: Message) -> Sent | None:
        """What was sent for a Request that comes again; None: nothing yet, or its asker has long gone on."""
        sequence, sent = self._last[asker(request)]
        return sent if sequence == request.sequence else None

    def overdue(self, before: int) -> list[Sent]:
        """Own Requests that were sent before a time, and have no Response."""
        return [sent for sent in self._due.values() if sent.at < before]
