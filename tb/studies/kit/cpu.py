"""CPU time of a host over an interval."""

from __future__ import annotations

from typing import Any


class CpuTime:
    """CPU time used by a host since this object was created."""

    def __init__(self, host: Any) -> None:
        self._host, self._before = host, host.cpu_ps

    @property
    def used(self) -> int:
        """CPU time in ps."""
        return int(self._host.cpu_ps - self._before)

    def percent(self, elapsed: int) -> float:
        """Return the CPU time in percent of `elapsed` ps."""
        return 100 * self.used / elapsed
