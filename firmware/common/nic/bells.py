"""Doorbell FIFO of a NIC: stores into a region of the card, delivered to the firmware as entries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from firmware.common.nic.services import Service
from pymodels.registers import Size

Ring = Callable[[int, int, int], Awaitable[None]]
"""Handler of an entry: page of the region, offset in the page, stored word."""
PAGE = 4096
ENTRIES = Size.DOORBELL_FIFO // Size.DOORBELL_ENTRY
COUNT = 0x1FFFF
"""Mask of the 17-bit entry counters of producers and consumers."""


class Bells(Protocol):
    """Doorbell FIFO of one NIC."""

    def services(self, ring: Ring) -> list[Service]:
        """Return the services that the polling loop needs for the FIFO."""
