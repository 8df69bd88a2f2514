"""Which queue cache is the next to send from."""

from __future__ import annotations

from collections import deque

from firmware.via.nic.queue_cache import QueueCache


class RoundRobin:
    """Queue caches with something in them, one after the other."""

    def __init__(self) -> None:
        self._waiting: deque[QueueCache] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, cache: QueueCache) -> None:
        """It has something; once is enough."""
        if cache not in self._waiting:
            self._waiting.append(cache)

    def remove(self, cache: QueueCache) -> None:
        """It waits no longer."""
        if cache in self._waiting:
            self._waiting.remove(cache)

    def next(self) -> QueueCache | None:
        """The one whose turn it is, and which goes behind the others."""
        while self._waiting:
            cache = self._waiting.popleft()
            if cache.ready >= cache.least:
                self._waiting.append(cache)
                return cache
        return None
