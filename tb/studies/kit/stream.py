"""Streams: one end sends messages back to back, the other end takes them, and every arrival is timed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tb.lab.lab import Notebook

T = TypeVar("T")


@dataclass(frozen=True)
class Stream(Generic[T]):
    """Messages of one stream; times in ps."""

    begun: int
    """Start of the first send."""
    came: list[T]
    """What `take` returned, message by message."""
    times: list[int]
    """When each message had been taken."""

    @property
    def took(self) -> int:
        """Time from the start of the first send until the last message had been taken."""
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
    """Run `give` as a task, which sends all messages, and take `count` messages; end when both ends have ended."""
    begun, came, times = lab.kernel.now, list[T](), list[int]()
    giving = lab.spawn(give, "the near end")
    for _ in range(count):
        came.append(await take())
        times.append(lab.kernel.now)
    await lab.all([giving])
    lab.findings.messages += count
    return Stream(begun, came, times)
