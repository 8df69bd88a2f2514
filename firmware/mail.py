"""Mail: messages of bytes between hosts, with the same calls on every message layer that supports them.

A layer provides it by `mail` of its descriptor. `patient` of the descriptor names options that let a host do other work
for long without a time-out. A message is read in place; copies that a layer makes are charged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable

from firmware.verbs import Host
from pymodels.errors import SanlabError

Message = tuple[int, bytes]
"""Sending node and payload."""
AHEAD = 12
"""Number of unreceived messages from one host to another that every layer has room for."""


class MailError(SanlabError):
    """Message of a size that the mail of a layer does not carry."""


class Mail(ABC):
    """Mail of one host, used by a single task."""

    most: int
    """Bytes of the longest message."""
    least = 0
    """Bytes of the shortest message."""
    longest_eager: int | None = None
    """Bytes of the longest message that is sent without rendezvous, or None if every message is."""
    answered = False
    """True if the layer answers each message with one of its own, so that each message costs a host two."""
    reads_card = False
    """True if the host polls the card for messages and reads them over the bus."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._came: deque[Message] = deque()

    @abstractmethod
    async def start(self) -> None:
        """Prepare the host to send and receive. Called on all hosts at the same time."""

    async def send(self, node: int, data: bytes) -> None:
        """Send a message; `data` may be changed on return. Raises MailError for an invalid size."""
        self.check(data)
        await self._send(node, data)

    def check(self, data: bytes) -> None:
        """Raise MailError for a message that is too long or too short."""
        if not self.least <= len(data) <= self.most:
            cause = f"mail carries {self.least} to {self.most} bytes"
            raise MailError(f"a message of {len(data)} bytes", cause, "send a message in this range")

    @abstractmethod
    async def _send(self, node: int, data: bytes) -> None:
        """Send a message whose size has been checked."""

    async def post(self, node: int, data: bytes) -> None:
        """Start sending a message without waiting for its receiver. `posted` waits for the rest."""
        await self.send(node, data)

    async def posted(self) -> None:  # noqa: B027 - optional hook
        """Wait until the data of all posted messages may be changed."""

    async def receive(self) -> Message:
        """Return the next message from any host, polling until one arrives."""
        await self.until(lambda: bool(self._came))
        return self._came.popleft()

    async def request(self, node: int, data: bytes) -> bytes:
        """Send a message to a host that is in `answer`, and return the bytes that come back."""
        await self.send(node, data)
        return (await self.receive())[1]

    async def answer(self) -> None:
        """Receive a message and send its bytes back."""
        await self.send(*await self.receive())

    async def settle(self) -> None:  # noqa: B027 - optional hook
        """Wait until the layer has finished all sends. Called once all messages have been received."""

    @abstractmethod
    async def until(self, condition: Callable[[], bool]) -> None:
        """Poll until a condition that depends on arriving messages is true."""

    async def finish(self) -> None:
        """End the exchange. Called on all hosts at the same time, once all messages have been received."""
        await self.settle()
