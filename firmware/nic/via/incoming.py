"""A message that arrives, and the receive descriptor that takes it."""

from __future__ import annotations

from firmware.nic.via.layout import CONTROL_WORDS, Control
from firmware.nic.via.ring import Ring
from pymodels.formats.via import Status


class Incoming:
    """The descriptor at the head of a receive queue cache, in use."""

    def __init__(self, ring: Ring) -> None:
        self._ring = ring
        first, self.descriptor, self.room = ring.take(CONTROL_WORDS)
        self.entries = Control.of(first).entries
        """Of its list of pages, those not read."""
        self.address = self.left = 0
        """Where the next byte goes, and how many fit there."""
        self.length = 0
        """Bytes that have come."""
        self.operation = Status(0)
        """Bits of its status: what came."""
        self.immediate: int | None = None
        self._freed = False

    def next_page(self) -> None:
        """Go on with the next page of the list. A list that is longer than the ring gives back what was read."""
        if self._ring.crowded:
            self._ring.free()
            self._freed = True
        self.address, self.left = self._ring.take(2)
        self.entries -= 1

    def advance(self, size: int) -> None:
        """So many bytes are on their way."""
        self.address += size
        self.left -= size
        self.length += size

    def rewind(self) -> bool:
        """Use the descriptor again for another message; False when a part of it is gone."""
        if self._freed:
            return False
        self._ring.back()
        return True

    def skip(self, count: int) -> None:
        """Pass over entries of the list that are not needed."""
        self._ring.take(2 * count)
        self.entries -= count
        if self._ring.crowded:
            self._ring.free()
            self._freed = True

    def finish(self) -> None:
        """The descriptor is used."""
        self._ring.free()
