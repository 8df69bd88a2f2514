"""Interface between MPI and the layer below: a transport of messages with four header words and data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

Words = tuple[int, int, int, int]
"""Header of a message: four signed 32-bit words."""
Due = tuple[int, Words, Any]
"""Message that may be sent: destination rank, header, and the send (`Operation`) whose data it carries, or None."""


class Arrival(Protocol):
    """Incoming message."""

    async def put(self, offset: int, data: bytes | memoryview, placed: bool = False) -> None:
        """Store a part of the data; parts arrive in any order, each once.

        Args:
            offset: offset of the part in the message.
            data: the bytes.
            placed: True if the layer below has already copied them to their destination.
        """

    def show(self, data: bytes | memoryview) -> None:
        """Make data visible to the application that are already at their destination, before a call of MPI."""

    async def end(self) -> None:
        """Complete the message after all of its data."""


class Port(Protocol):
    """MPI as seen by its transport.

    `begin`, `put` and `end` neither send nor wait for messages, so a transport may call them from handlers. `advance`
    sends what they make due.
    """

    async def begin(self, source: int, words: Words, size: int) -> Arrival:
        """Process the header of a message and its size. Messages of one source begin in the order of sending."""

    def permissions(self) -> list[Due]:
        """Remove and return the due permissions, which the caller passes to `advance`."""

    async def advance(self, permissions: Sequence[Due] = ()) -> None:
        """Send what is due, the given permissions first. MPI does so in its own calls; a transport may do it in its own
        thread.
        """


class Transport(Protocol):
    """Reliable messages, in order between each two ranks. Ranks are virtual node numbers."""

    async def start(self, port: Port) -> None:
        """Connect to all ranks."""

    async def send(self, rank: int, words: Words, data: bytes | memoryview) -> None:
        """Send a message to another rank. Return when the bytes may be changed.

        Waits for room and processes received messages meanwhile.
        """

    async def poll(self) -> None:
        """Process received messages."""

    async def wait(self, condition: Callable[[], bool]) -> None:
        """Process messages until the condition holds."""

    async def finish(self) -> None:
        """Return when everything sent will arrive without further calls of this rank."""
