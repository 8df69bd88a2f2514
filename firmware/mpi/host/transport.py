"""What MPI stands on, and what it tells MPI: a transport moves messages of four words and bytes from rank to rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

Words = tuple[int, int, int, int]
"""The header of a message: four 32-bit words with sign."""
Due = tuple[int, Words, Any]
"""A message that may be sent: to whom, its header, and the send (`Operation`) whose data it carries, or None."""


class Arrival(Protocol):
    """A message that comes in."""

    async def put(self, offset: int, data: bytes | memoryview, placed: bool = False) -> None:
        """A part of its data, copied to where it belongs; the parts come in any order, each once. `placed`: the layer
        below has copied it there.
        """

    def show(self, data: bytes | memoryview) -> None:
        """All its data are where they belong, though they have not been put: no call of MPI knows of them yet, but the
        application may look.
        """

    async def end(self) -> None:
        """All its data have been put."""


class Port(Protocol):
    """MPI as its transport sees it. `begin`, `put` and `end` never send and never wait for a message, so a transport
    may call them from its handlers; what they make due is sent by `advance`.
    """

    async def begin(self, source: int, words: Words, size: int) -> Arrival:
        """The first part of a message is here: its header, and the number of its bytes. Those of one source begin in
        the order in which they were sent.
        """

    def permissions(self) -> list[Due]:
        """Those that are due: whoever takes them gives them to `advance`."""

    async def advance(self, permissions: Sequence[Due] = ()) -> None:
        """Send what is due, permissions that were taken first. MPI does so in its own calls; a transport with a thread
        of its own may do it there.
        """


class Transport(Protocol):
    """Reliable messages, in order from each rank to each other one. Ranks are virtual node numbers."""

    async def start(self, port: Port) -> None:
        """Connect with all ranks."""

    async def send(self, rank: int, words: Words, data: bytes | memoryview) -> None:
        """Send a message to another rank; the bytes may be changed when this returns. It waits for room, and takes in
        messages meanwhile.
        """

    async def poll(self) -> None:
        """Take in the messages that are here."""

    async def wait(self, condition: Callable[[], bool]) -> None:
        """Take in messages until the condition holds."""

    async def finish(self) -> None:
        """Return when all that was sent will arrive, even if this rank makes no further call."""
