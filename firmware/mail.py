"""Mail: bytes of a given size from one host to another, the same calls on every message layer that can do it.

A layer says how with `mail` of its descriptor, and with `patient` which of its options let a host do other work for
long while no timer counts its message as lost. A message is looked at where the layer hands it over; what a layer
copies of it is charged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable

from firmware.verbs import Host
from pymodels.errors import SanlabError

Message = tuple[int, bytes]
"""The node that sent it, and its bytes."""
AHEAD = 12
"""Messages of one host that may be under way to another, which has not received them: layers make room for them."""


class MailError(SanlabError):
    """A message of a size that the mail of a layer does not carry."""


class Mail(ABC):
    """Of one host. One task sends and receives."""

    most: int
    """Bytes of the longest message."""
    least = 0
    """Bytes of the shortest message."""
    longest_eager: int | None = None
    """A longer message is sent when its receiver has asked for it (rendezvous); None: none is."""
    answered = False
    """The layer answers each message with one of its own: what a host takes for one message, it takes for both."""
    reads_card = False
    """Its host looks for messages at the card, and reads them there, over the bus."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._came: deque[Message] = deque()

    @abstractmethod
    async def start(self) -> None:
        """Make the host ready to send and to receive: on all hosts at the same time."""

    async def send(self, node: int, data: bytes) -> None:
        """Send a message; the bytes may be changed when this returns. Raises MailError for a message that is too long
        or too short.
        """
        self.check(data)
        await self._send(node, data)

    def check(self, data: bytes) -> None:
        """Raise MailError for a message that is too long or too short."""
        if not self.least <= len(data) <= self.most:
            cause = f"mail carries {self.least} to {self.most}"
            raise MailError(f"a message of {len(data)} bytes", cause, "send a message of such a size")

    @abstractmethod
    async def _send(self, node: int, data: bytes) -> None:
        """Send a message of a size that has been checked."""

    async def post(self, node: int, data: bytes) -> None:
        """Begin to send a message: the same, but that it never waits for the receive. `posted` waits for the rest."""
        await self.send(node, data)

    async def posted(self) -> None:  # noqa: B027 - most layers need not
        """Wait until the bytes of all messages that were posted may be changed."""

    async def receive(self) -> Message:
        """The next message, from any host; polls until there is one."""
        await self.until(lambda: bool(self._came))
        return self._came.popleft()

    async def ask(self, node: int, data: bytes) -> bytes:
        """Send a message to a host that is in `answer`, and receive what it sends back."""
        await self.send(node, data)
        return (await self.receive())[1]

    async def answer(self) -> None:
        """Receive a message, and send its bytes back."""
        await self.send(*await self.receive())

    async def settle(self) -> None:  # noqa: B027 - most layers need not
        """Once all messages have been received: until the layer has nothing left to do for those that were sent."""

    @abstractmethod
    async def until(self, condition: Callable[[], bool]) -> None:
        """Poll until a condition holds that arriving messages make true."""

    async def finish(self) -> None:
        """The end, once all messages have been received: on all hosts at the same time."""
        await self.settle()
