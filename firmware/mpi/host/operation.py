"""An operation that has begun: what the engine knows of a send or a receive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from firmware.mpi.host.buffers import View
from firmware.mpi.host.envelope import Mode
from firmware.mpi.host.errors import Misuse
from firmware.mpi.host.matching import ANY, Key
from firmware.mpi.host.status import Status


class Asked(Protocol):
    """A message that asks whether its data may be sent."""

    key: Key
    mode: Mode
    size: int
    number: int


class Operation:
    """A send or a receive in a communicator."""

    def __init__(self, call: str, ranks: Sequence[int], key: Key, view: View, peer: int) -> None:
        """`call` began it; `ranks` in MPI_COMM_WORLD of the communicator's; `peer` in MPI_COMM_WORLD, or ANY."""
        self.call, self.ranks, self.key, self.view, self.peer = call, ranks, key, view, peer
        self.done = False
        self.error: Misuse | None = None
        """What the call that waits for it raises."""
        self.status = Status()
        self.matched: Asked | None = None
        """Of a receive, the request whose data it waits for."""
        self.data: bytes | memoryview = b""
        """Of a send, until it is sent."""
        self.number = 0
        """Number of a send that asks for permission; 0: it needs none."""
        self.at_end: Callable[[Status], None] | None = None
        """Called with the status when the operation has ended."""

    def awaits(self, source: int, size: int) -> bool:
        """Whether it is a receive that has permitted a rank to send it so many bytes."""
        return self.matched is not None and self.matched.key.source == source and self.matched.size == size

    def finish(self) -> None:
        """It has its result."""
        self.done = True
        if self.at_end:
            self.at_end(self.status)

    def received(self, source: int, tag: int, size: int) -> None:
        """A receive has its message."""
        self.status = Status(self.ranks.index(source), tag, self.error.error_class if self.error else 0, size)
        self.finish()

    def wanted(self, within: str) -> str:
        """What it waits for, said in reports of a hang; `within` is the call that waits."""
        of = "" if within == self.call else f" of {self.call}"
        peer = "any rank" if self.peer == ANY else f"rank {self.peer}"
        return f"{within}{of}: {peer}, {'any tag' if self.key.tag == ANY else f'tag {self.key.tag}'}"


class SendReceive(Operation):
    """A send and a receive that were begun together. It ends with both, and has the status of the receive."""

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
