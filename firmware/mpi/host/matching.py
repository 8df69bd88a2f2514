"""Matching of posted receives and early messages, without simulated time.

Both queues are searched from the oldest entry. So the first posted of two matching receives gets a message, and a
receive gets the message sent first: messages of one sender in one context do not overtake each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

ANY = -1
"""Any source, or any tag."""


@dataclass(frozen=True)
class Key:
    """Matching key: context of the communicator, rank of the sender in MPI_COMM_WORLD, tag.

    A receive may have ANY as source and as tag.
    """

    context: int
    source: int
    tag: int

    def matches(self, message: Key) -> bool:
        """Return True if a receive with this key matches a message."""
        return (
            self.context == message.context and self.source in (ANY, message.source) and self.tag in (ANY, message.tag)
        )


class Keyed(Protocol):
    """Entry of a queue."""

    @property
    def key(self) -> Key:
        """Matching key of the entry."""


ReceiveT = TypeVar("ReceiveT", bound=Keyed)
MessageT = TypeVar("MessageT", bound=Keyed)


class Matcher(Generic[ReceiveT, MessageT]):
    """Queues of one rank. Each search also returns the number of entries compared."""

    def __init__(self) -> None:
        self.receives: list[ReceiveT] = []
        """Posted receives without a message."""
        self.messages: list[MessageT] = []
        """Early messages, which arrived before their receive."""

    def receive_for(self, message: Key) -> tuple[ReceiveT | None, int]:
        """Remove and return the oldest receive that matches a message."""
        for at, receive in enumerate(self.receives):
            if receive.key.matches(message):
                return self.receives.pop(at), at + 1
        return None, len(self.receives)

    def message_for(self, receive: Key) -> tuple[MessageT | None, int]:
        """Remove and return the oldest early message that matches a receive."""
        found, looks = self.probe(receive)
        if found is not None:
            self.messages.remove(found)
        return found, looks

    def probe(self, receive: Key) -> tuple[MessageT | None, int]:
        """Return the oldest early message that matches a receive, without removing it."""
        for at, message in enumerate(self.messages):
            if receive.matches(message.key):
                return message, at + 1
        return None, len(self.messages)

    def cancel(self, receive: ReceiveT) -> bool:
        """Remove a posted receive. Return False if it already has its message."""
        if receive not in self.receives:
            return False
        self.receives.remove(receive)
        return True
