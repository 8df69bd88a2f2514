"""Event ring: words of host memory in which the NIC reports events to the kernel agent."""

from __future__ import annotations

from firmware.verbs import Host
from firmware.via.nic.layout import EVENTS


class EventRing:
    """Ring of events in the order of the NIC's reports."""

    def __init__(self, host: Host) -> None:
        self._host, self._next = host, 0
        self.base = host.allocate(4 * EVENTS + 4).address
        """Physical address of the ring."""
        self.scratch = self.base + 4 * EVENTS
        """Physical address of a word that is never read."""

    def take(self) -> int:
        """Remove and return the next event, or 0 if there is none."""
        at = self.base + 4 * self._next
        word = self._host.load_words(at, 1)[0]
        if word:
            self._host.store_words(at, (0,))
            self._next = (self._next + 1) % EVENTS
        return word
