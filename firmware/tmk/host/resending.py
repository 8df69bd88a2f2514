"""Retransmission over a network that loses messages: Requests are sent again until their Responses arrive.

A process has one outstanding call, so only the last Request of each process counts. The result of a Request, a Response
or a forwarded Request, is kept and sent again when the Request is repeated. A Request that waits for a lock or at a
barrier has no result yet. Duplicate Responses are dropped.
"""

from __future__ import annotations

from typing import NamedTuple

from firmware.tmk.host.wire import RESPONSES, Kind, Message, numbers


class Sent(NamedTuple):
    """Message that may have to be retransmitted."""

    to: int
    message: Message
    at: int
    """Time of the last transmission, ps."""


def asker(request: Message) -> int:
    """Return the process that waits for the Response; a Request for a lock may have been forwarded."""
    return numbers(request.body, 0, 1)[0] if request.kind is Kind.LOCK else request.source


class Resending:
    """Retransmission state of one process."""

    def __init__(self, me: int) -> None:
        self._me = me
        self._due: dict[int, Sent] = {}
        """Own Requests without a Response, by sequence number."""
        self._last: dict[int, tuple[int, Sent | None]] = {}
        """Sequence number of the last Request, and the message sent for it, by process."""

    def sends(self, to: int, message: Message, now: int) -> None:
        """Record a message as sent."""
        sent = Sent(to, message, now)
        if message.kind >= RESPONSES:
            self._last[to] = message.sequence, sent
        elif asker(message) == self._me:
            self._due[message.sequence] = sent
        else:
            self._last[asker(message)] = message.sequence, sent

    def answers(self, response: Message) -> bool:
        """Return True if a received Response is awaited."""
        return self._due.pop(response.sequence, None) is not None

    def is_new(self, request: Message) -> bool:
        """Return True if a received Request is to be executed."""
        who = asker(request)
        if who in self._last and request.sequence <= self._last[who][0]:
            return False
        self._last[who] = request.sequence, None
        return True

    def done_for(self, request: Message) -> Sent | None:
        """Return the message sent for a repeated Request; None if there is none yet, or the Request is outdated."""
        sequence, sent = self._last[asker(request)]
        return sent if sequence == request.sequence else None

    def overdue(self, before: int) -> list[Sent]:
        """Return own Requests without a Response that were sent before a time."""
        return [sent for sent in self._due.values() if sent.at < before]
