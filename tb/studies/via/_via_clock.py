"""Results of measurements over VIA, and the clock that measures them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tb.lab.lab import Lab


@dataclass
class Measured:
    """Result of a measurement: one-way time in us or rate in MB/s, and CPU utilisation of the near host in percent."""

    value: float
    cpu: float
    late: float = 0.0
    """Percentage by which the rate of a stream's second half exceeds the rate of the whole."""


class Clock:
    """Stopwatch for elapsed time and CPU time of one host."""

    def __init__(self, lab: Lab, host: Any) -> None:
        self._kernel, self._host = lab.kernel, host
        self.elapsed = self.used = 0

    def go(self) -> None:
        """Start the clock."""
        self._begun, self._before = self._kernel.now, self._host.cpu_ps

    def stop(self) -> None:
        """Stop the clock."""
        self.elapsed += self._kernel.now - self._begun
        self.used += self._host.cpu_ps - self._before

    @property
    def percent(self) -> float:
        """CPU time in percent of the elapsed time."""
        return self.used / self.elapsed * 100
