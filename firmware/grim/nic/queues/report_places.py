"""Where reports to other hosts stand until they are answered (`reports_afar`): places of one size, which become free in
any order.
"""

from __future__ import annotations

from collections.abc import Iterator

from firmware.grim.nic.channels import DONE, Channel
from firmware.grim.nic.layout import REPORT_BYTES


class ReportPlaces(Channel):
    """The channel of the reports: place and entry have one number. `count` is the last place in use, and one."""

    @property
    def has_room(self) -> bool:
        """Whether a place is free."""
        return DONE in self.state

    def under_way(self) -> Iterator[int]:
        """The stream of each report that stands here."""
        return (stream for stream, state in zip(self.stream, self.state, strict=True) if state != DONE)

    def append(self, size: int, stream: int, sequence: int) -> int:
        """See `Channel`: into any free place."""
        slot = self.state.index(DONE)
        self.count = max(self.count, slot + 1)
        self._fill(slot, REPORT_BYTES * slot, size, stream, sequence)
        return slot

    def done(self, slot: int) -> int:
        """See `Channel`: the place is free at once."""
        self.state[slot] = DONE
        while self.count and self.state[self.count - 1] == DONE:
            self.count -= 1
        return 1
