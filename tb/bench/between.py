"""Counts from one message of a study to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Between:
    """Calls `begin` when the number of messages comes to `first`, `end` when it comes to `last`; each once."""

    first: int
    last: int
    begin: Callable[[], object]
    end: Callable[[], object]

    def changed(self, before: int, now: int) -> None:
        """There were `before` messages, there are `now`."""
        if before < self.first <= now:
            self.begin()
        if before < self.last <= now:
            self.end()
