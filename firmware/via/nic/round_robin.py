"""Round-robin order of the queue caches to send from."""

from __future__ import annotations

from collections import deque

from firmware.via.nic.queue_cache import QueueCache


class RoundRobin:
    """Queue caches with posted descriptors, in the order of service."""

    def __init__(self) -> None:
        self._waiting: deque[QueueCache] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, cache: QueueCache) -> None:
        """Add a queue cache, unless it is in the list."""
        if cache not in self._waiting:
            self._waiting.append(cache)

    def remove(self, cache: QueueCache) -> None:
        """Remove a queue cache, if it is in the list."""
        if cache in self._waiting:
            self._waiting.remove(cache)

    def next(self) -> QueueCache | None:
        """Return the next cache with a descriptor and move it to the end of the list, or None."""
        while self._waiting:
            cache = self._waiting.popleft()
            if cache.ready >= cache.least:
                self._waiting.append(cache)
                return cache
        return None
