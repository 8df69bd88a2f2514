"""Which way a descriptor is read: the kernel's queue caches hold physical ones, the processes' their own."""

from __future__ import annotations

from firmware.nic.via.ni import Ni
from firmware.nic.via.physical import Physical
from firmware.nic.via.refill import Refill
from firmware.nic.via.ring import Ring
from firmware.nic.via.translation import Frames
from firmware.nic.via.virtual import Virtual
from firmware.nic.via.work import Reader


class Readers:
    """Both ways."""

    def __init__(self, ni: Ni, refill: Refill, table: Frames) -> None:
        self._physical = Physical(ni, refill)
        self._virtual = Virtual(ni, table) if ni.options.user_level else None

    def of(self, ring: Ring) -> Reader:
        """The reader of a queue cache."""
        return self._virtual if ring.user and self._virtual is not None else self._physical
