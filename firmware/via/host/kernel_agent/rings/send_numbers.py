"""Numbers of the sends of a host, for the trace."""

from __future__ import annotations

from firmware.verbs import Host
from pymodels.trace import TraceEvent


class SendNumbers:
    """Send numbers of all processes and of the kernel agent."""

    def __init__(self, host: Host) -> None:
        self._host, self._last = host, 0

    def posted(self, descriptor: int, size: int) -> int:
        """Record a posted send, and return its number. `descriptor` is a physical address."""
        self._last += 1
        self._host.trace(TraceEvent.SEND_CALL, 0, size, self._last)
        self._host.trace(TraceEvent.POSTED, 0, descriptor, self._last)
        return self._last
