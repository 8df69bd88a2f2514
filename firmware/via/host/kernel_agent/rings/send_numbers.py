"""Numbers of the sends of a host, for the trace."""

from __future__ import annotations

from firmware.verbs import Host
from pymodels.trace import TraceEvent


class SendNumbers:
    """Send numbers of all processes and of the kernel agent."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def posted(self, descriptor: int, size: int) -> int:
        """Record a posted send, and return its number. `descriptor` is a physical address."""
        message = self._host.message()
        self._host.trace(TraceEvent.SEND_CALL, 0, size, message=message)
        self._host.trace(TraceEvent.POSTED, 0, descriptor, message=message)
        self._host.put_message(descriptor, message)
        return message
