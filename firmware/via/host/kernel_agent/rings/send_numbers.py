"""The sends of a host, numbered for the trace."""

from __future__ import annotations

from firmware.verbs import Host
from pymodels.trace import TraceEvent


class SendNumbers:
    """Of all its processes, and of the kernel agent."""

    def __init__(self, host: Host) -> None:
        self._host, self._last = host, 0

    def posted(self, descriptor: int, size: int) -> int:
        """A send is posted, its descriptor at a physical address: its number."""
        self._last += 1
        self._host.trace(TraceEvent.SEND_CALL, 0, size, self._last)
        self._host.trace(TraceEvent.POSTED, 0, descriptor, self._last)
        return self._last
