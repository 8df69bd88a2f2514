"""What measurements over VIA come to, and the clock that takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tb.lab.lab import Lab


@dataclass
class Measured:
    """What came out: microseconds one way or MB/s, and percent of the near host's CPU."""

    value: float
    cpu: float
    late: float = 0.0
    """Of a stream: by how many percent its second half came faster than the whole."""


class Clock:
    """Time and CPU time of one host, while it runs."""

    def __init__(self, lab: Lab, host: Any) -> None:
        self._kernel, self._host = lab.kernel, host
        self.elapsed = self.used = 0

    def go(self) -> None:
        """Start."""
        self._begun, self._before = self._kernel.now, self._host.cpu_ps

    def stop(self) -> None:
        """Stop."""
        self.elapsed += self._kernel.now - self._begun
        self.used += self._host.cpu_ps - self._before

    @property
    def percent(self) -> float:
        """CPU time of the time."""
        return self.used / self.elapsed * 100
