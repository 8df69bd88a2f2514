"""Places for unanswered reports to other hosts (`reports_afar`), of one size and freed in any order."""

from __future__ import annotations

from collections.abc import Iterator

from firmware.grim.nic.channels import DONE, Channel
from firmware.grim.nic.layout import REPORT_BYTES


class ReportPlaces(Channel):
    """Channel of the reports; place and scoreboard entry have the same number. `count` is the last used place + 1."""

    @property
    def has_room(self) -> bool:
        """True if a place is free."""
        return DONE in self.state

    def under_way(self) -> Iterator[int]:
        """Yield the stream of each unanswered report."""
        return (stream for stream, state in zip(self.stream, self.state, strict=True) if state != DONE)

    def append(self, size: int, stream: int, sequence: int) -> int:
        """Enter a report into any free place and return its slot."""
        slot = self.state.index(DONE)
        self.count = max(self.count, slot + 1)
        self._fill(slot, REPORT_BYTES * slot, size, stream, sequence)
        return slot

    def done(self, slot: int) -> int:
        """Free the place of an answered report; return 1."""
        self.state[slot] = DONE
        while self.count and self.state[self.count - 1] == DONE:
            self.count -= 1
        return 1
