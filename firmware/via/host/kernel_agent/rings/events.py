"""The event ring: words of host memory in which the NIC tells the kernel agent what has happened."""

from __future__ import annotations

from firmware.verbs import Host
from firmware.via.nic.layout import EVENTS


class EventRing:
    """What the NIC has written, in its order."""

    def __init__(self, host: Host) -> None:
        self._host, self._next = host, 0
        self.base = host.allocate(4 * EVENTS + 4).address
        """Physical address."""
        self.scratch = self.base + 4 * EVENTS
        """Physical address of a word that nobody reads."""

    def take(self) -> int:
        """The next event; 0: none."""
        at = self.base + 4 * self._next
        word = self._host.load_words(at, 1)[0]
        if word:
            self._host.store_words(at, (0,))
            self._next = (self._next + 1) % EVENTS
        return word
