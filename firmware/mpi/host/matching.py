"""Matching: receives that wait for messages, messages that wait for receives. No time passes here.

Both queues are in the order of their beginning, and searches start at the oldest entry. So of two receives that a
message matches the first posted one gets it, and a receive gets the message that was sent first: messages of one sender
in one context do not overtake each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

ANY = -1
"""Any source, or any tag."""


@dataclass(frozen=True)
class Key:
    """What is compared: context of the communicator, rank of the sender in MPI_COMM_WORLD, tag. A receive may have ANY
    in the place of the last two.
    """

    context: int
    source: int
    tag: int

    def matches(self, message: Key) -> bool:
        """Whether a receive with this key takes a message."""
        return (
            self.context == message.context and self.source in (ANY, message.source) and self.tag in (ANY, message.tag)
        )


class Keyed(Protocol):
    """An entry of a queue."""

    @property
    def key(self) -> Key:
        """What it is found by."""


ReceiveT = TypeVar("ReceiveT", bound=Keyed)
MessageT = TypeVar("MessageT", bound=Keyed)


class Matcher(Generic[ReceiveT, MessageT]):
    """The two queues of one rank. Each search also gives how many entries it looked at."""

    def __init__(self) -> None:
        self.receives: list[ReceiveT] = []
        """Posted, without a message."""
        self.messages: list[MessageT] = []
        """Early: they came before their receive."""

    def receive_for(self, message: Key) -> tuple[ReceiveT | None, int]:
        """The oldest receive that takes a message, out of the queue."""
        for at, receive in enumerate(self.receives):
            if receive.key.matches(message):
                return self.receives.pop(at), at + 1
        return None, len(self.receives)

    def message_for(self, receive: Key) -> tuple[MessageT | None, int]:
        """The oldest early message that a receive takes, out of the queue."""
        found, looks = self.probe(receive)
        if found is not None:
            self.messages.remove(found)
        return found, looks

    def probe(self, receive: Key) -> tuple[MessageT | None, int]:
        """The same; it stays in the queue."""
        for at, message in enumerate(self.messages):
            if receive.matches(message.key):
                return message, at + 1
        return None, len(self.messages)

    def cancel(self, receive: ReceiveT) -> bool:
        """Take a receive back; False: it has its message."""
        if receive not in self.receives:
            return False
        self.receives.remove(receive)
        return True
