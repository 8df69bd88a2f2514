"""Counter between two messages of a study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Between:
    """Callbacks at two message counts: `begin` at `first` messages, `end` at `last` messages, once each."""

    first: int
    last: int
    begin: Callable[[], object]
    end: Callable[[], object]

    def changed(self, before: int, now: int) -> None:
        """Call `begin` or `end` if the count crosses `first` or `last` on its way from `before` to `now`."""
        if before < self.first <= now:
            self.begin()
        if before < self.last <= now:
            self.end()
