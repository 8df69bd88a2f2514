"""The doorbell FIFO of a NIC that has one: stores into a region of the card, as entries that the firmware takes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from firmware.common.nic.services import Service
from pymodels.registers import Size

Ring = Callable[[int, int, int], Awaitable[None]]
"""What is done for an entry: page of the region, offset in the page, the word that was stored."""
PAGE = 4096
ENTRIES = Size.DOORBELL_FIFO // Size.DOORBELL_ENTRY
COUNT = 0x1FFFF
"""Producers and consumers count entries in so many bits."""


class Bells(Protocol):
    """The FIFO."""

    def services(self, ring: Ring) -> list[Service]:
        """What the polling loop must look at."""
