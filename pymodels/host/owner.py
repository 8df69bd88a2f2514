"""Interfaces of a process to its host, and to the conditions that its threads wait for."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any, Protocol

from pymodels.host.ahead import Repeats
from pymodels.host.computing import Computation
from pymodels.host.frames import Frames
from pymodels.host.moves import Moves
from pymodels.host.scheduler import Scheduler
from pymodels.host.signals import Sig
from pymodels.kernel import Task


class Signal(Protocol):
    """Condition that a thread can wait for."""

    def wait(self) -> Awaitable[None]:
        """Return the future of the next `set`."""


class Owner(Protocol):
    """Host of a process."""

    name: str
    nic_base: int
    slots: frozenset[int]
    frames: Frames
    scheduler: Scheduler
    around: Repeats | None

    def load_bytes(self, address: int, count: int) -> bytes:
        """Return bytes of physical memory."""

    def window(self, address: int, size: int) -> memoryview:
        """Return a view of physical memory."""

    def close(self, frame: int, whose: str) -> None:
        """Forbid DMA stores into a frame that belongs to `whose`, or allow them if `whose` is empty."""

    def store_bytes(self, address: int, data: bytes | memoryview) -> None:
        """Store bytes to physical memory."""

    def put_message(self, address: int, message: int) -> None:
        """Note for the trace that a message begins at a physical address."""

    def message_at(self, address: int) -> int:
        """Return the number of the message that begins at a physical address, 0 if none was noted."""

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str) -> Task:
        """Start a task."""

    async def spend(self, path: str, times: int = 1) -> None:
        """Use the CPU for a compiled path."""

    def computation(self, what: str | float, times: int = 1, who: str = "") -> Computation:
        """Return a computation that has not started."""

    async def poll(self, watches: Sequence[tuple[int, int]], path: str, moves: Moves | None = None) -> int:
        """Spin on words of physical memory."""

    async def stand(self, until: int, why: str) -> None:
        """Hold the CPU while turns of a polling loop are computed."""

    def signal(self, number: int, sig: Sig, call: str = "") -> None:
        """Post a signal to a process."""

    async def copy_memory(self, path: str, target: int, source: int, size: int) -> None:
        """Copy bytes of physical memory with the CPU."""

    async def syscall(self) -> None:
        """Charge the CPU with a system call."""

    async def overhead(self, what: str) -> None:
        """Charge the CPU with a software cost beside compiled paths."""

    async def pio_read(self, address: int) -> int:
        """Read a word over the bus."""

    async def repeat(self, address: int, expect: int, path: str, mask: int) -> tuple[int, bool]:
        """Execute turns of a loop (a read over the bus and a path) up to the first that may differ from the others.

        Returns the word read last, and True if the path after it was executed. See `Repeats.executes`.
        """

    def pio_write(self, address: int, data: bytes, combine: bool = False) -> Coroutine[Any, Any, None]:
        """Store words to the bus."""
