"""Selection of the descriptor reader: physical descriptors from the kernel, users' own from processes."""

from __future__ import annotations

from firmware.via.nic.descriptors import Reader
from firmware.via.nic.ni import Ni
from firmware.via.nic.physical_descriptors import PhysicalDescriptors
from firmware.via.nic.queue_cache import QueueCache
from firmware.via.nic.refill import Refill
from firmware.via.nic.translation import Frames
from firmware.via.nic.user_descriptors import UserDescriptors


class DescriptorReaders:
    """Both readers of descriptors."""

    def __init__(self, ni: Ni, refill: Refill, table: Frames) -> None:
        self._physical = PhysicalDescriptors(ni, refill)
        self._virtual = UserDescriptors(ni, table) if ni.options.user_level else None

    def reader_for(self, cache: QueueCache) -> Reader:
        """Return the reader for a queue cache."""
        return self._virtual if cache.user and self._virtual is not None else self._physical
