"""Operation in progress: the engine's state of a send or a receive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from firmware.mpi.host.buffers import View
from firmware.mpi.host.envelope import Mode
from firmware.mpi.host.errors import Misuse
from firmware.mpi.host.matching import ANY, Key
from firmware.mpi.host.status import Status


class Asked(Protocol):
    """Message that requests permission to send its data."""

    key: Key
    mode: Mode
    size: int
    number: int


class Operation:
    """Send or receive in a communicator."""

    def __init__(self, call: str, ranks: Sequence[int], key: Key, view: View, peer: int) -> None:
        """Create the operation.

        Args:
            call: name of the call that started it.
            ranks: ranks of the communicator in MPI_COMM_WORLD.
            key: matching key.
            view: the buffer.
            peer: rank in MPI_COMM_WORLD, or ANY.
        """
        self.call, self.ranks, self.key, self.view, self.peer = call, ranks, key, view, peer
        self.done = False
        self.error: Misuse | None = None
        """Error that the waiting call raises."""
        self.status = Status()
        self.matched: Asked | None = None
        """Request whose data a receive waits for."""
        self.data: bytes | memoryview = b""
        """Data of a send until they are sent."""
        self.number = 0
        """Number of a send that requests permission, or 0."""
        self.at_end: Callable[[Status], None] | None = None
        """Callback with the status at completion."""

    def awaits(self, source: int, size: int) -> bool:
        """Return True if this receive has permitted a rank to send this number of bytes."""
        return self.matched is not None and self.matched.key.source == source and self.matched.size == size

    def finish(self) -> None:
        """Complete the operation."""
        self.done = True
        if self.at_end:
            self.at_end(self.status)

    def received(self, source: int, tag: int, size: int) -> None:
        """Complete a receive that has its message."""
        self.status = Status(self.ranks.index(source), tag, self.error.error_class if self.error else 0, size)
        self.finish()

    def wanted(self, within: str) -> str:
        """Return a description of the wait for hang reports; `within` is the waiting call."""
        of = "" if within == self.call else f" of {self.call}"
        peer = "any rank" if self.peer == ANY else f"rank {self.peer}"
        return f"{within}{of}: {peer}, {'any tag' if self.key.tag == ANY else f'tag {self.key.tag}'}"


class SendReceive(Operation):
    """Send and receive started together. It completes with both, and has the status of the receive."""

    def __init__(self, call: str, send: Operation, receive: Operation) -> None:
        super().__init__(call, receive.ranks, receive.key, receive.view, receive.peer)
        self._both = send, receive
        for one in self._both:
            one.at_end = self._one_ended
        self._one_ended(receive.status)

    def _one_ended(self, status: Status) -> None:
        send, receive = self._both
        if send.done and receive.done:
            self.status, self.error = receive.status, send.error or receive.error
            self.finish()
