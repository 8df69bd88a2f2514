"""What a process needs of its host, and of what its threads sleep for."""

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
    """What a thread can sleep for."""

    def wait(self) -> Awaitable[None]:
        """The future of the next time it is set."""


class Owner(Protocol):
    """What a process needs of its host."""

    name: str
    nic_base: int
    slots: frozenset[int]
    frames: Frames
    scheduler: Scheduler
    around: Repeats | None

    def load_bytes(self, address: int, count: int) -> bytes:
        """Bytes of physical memory."""

    def window(self, address: int, size: int) -> memoryview:
        """Physical memory itself."""

    def close(self, frame: int, whose: str) -> None:
        """No DMA may store into a frame from now on, which is `whose`; empty: it may again."""

    def store_bytes(self, address: int, data: bytes | memoryview) -> None:
        """Store bytes to physical memory."""

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str) -> Task:
        """Start a task."""

    async def spend(self, path: str, times: int = 1) -> None:
        """Use the CPU for a compiled path."""

    def computation(self, what: str | float, times: int = 1, who: str = "") -> Computation:
        """Computing that has not begun."""

    async def poll(self, watches: Sequence[tuple[int, int]], path: str, moves: Moves | None = None) -> int:
        """Spin on words of physical memory."""

    async def stand(self, until: int, why: str) -> None:
        """Keep the CPU while turns of a polling loop are computed."""

    def signal(self, number: int, sig: Sig, call: str = "") -> None:
        """A process has a signal."""

    async def copy_memory(self, path: str, target: int, source: int, size: int) -> None:
        """Copy bytes of physical memory by the CPU."""

    async def syscall(self) -> None:
        """Enter the kernel and come back."""

    async def overhead(self, what: str) -> None:
        """Use the CPU for what software costs beside its compiled paths."""

    async def pio_read(self, address: int) -> int:
        """Read a word over the bus."""

    async def repeat(self, address: int, expect: int, path: str, mask: int) -> tuple[int, bool]:
        """Turns of a loop that reads a word over the bus, and executes a path behind each read, up to the first that
        may not be like others; what was read last, and whether the path behind it was executed. See `Repeats.executes`.
        """

    def pio_write(self, address: int, data: bytes, combine: bool = False) -> Coroutine[Any, Any, None]:
        """Store words to the bus."""
