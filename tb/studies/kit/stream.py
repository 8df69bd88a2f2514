"""Streams: one end sends messages back to back, the other end receives them, and each arrival is timed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tb.lab.lab import Notebook

T = TypeVar("T")


@dataclass(frozen=True)
class Stream(Generic[T]):
    """Arrivals of one stream; times in ps."""

    begun: int
    """Start of the first send."""
    came: list[T]
    """Result of `take` for each message."""
    times: list[int]
    """Time at which each message had been received."""

    @property
    def took(self) -> int:
        """Time from the start of the first send until the last message had been received."""
        return self.times[-1] - self.begun

    def rate(self, size: int) -> float:
        """Return the rate over the whole stream, in MB/s, for messages of `size` bytes."""
        return len(self.times) * size / self.took * 1e6

    def steady_rate(self, size: int) -> float:
        """Return the rate between the first and the last arrival, in MB/s, for messages of `size` bytes."""
        return steady_rate(size, self.times)


def steady_rate(size: int, times: Sequence[int]) -> float:
    """Return the rate between the first and the last arrival, in MB/s.

    Args:
        size: bytes of a message.
        times: arrivals in ps, shape (n,), rising, at least two.
    """
    return size * (len(times) - 1) / int(times[-1] - times[0]) * 1e6


async def stream(
    lab: Notebook, give: Coroutine[Any, Any, Any], take: Callable[[], Awaitable[T]], count: int
) -> Stream[T]:
    """Run a stream of `count` messages and return its arrivals once both ends have finished.

    Args:
        lab: the study's lab.
        give: coroutine that sends all messages, run as a task.
        take: receives one message.
        count: number of messages.
    """
    begun, came, times = lab.kernel.now, list[T](), list[int]()
    giving = lab.spawn(give, "the near end")
    for _ in range(count):
        came.append(await take())
        times.append(lab.kernel.now)
    await lab.all([giving])
    lab.findings.messages += count
    return Stream(begun, came, times)
