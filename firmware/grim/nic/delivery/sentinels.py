"""Sentinel word in each receive buffer. A message long enough to cover the word changes it while it still arrives, and
the polling loops detect that.
"""

from __future__ import annotations

from firmware.common.nic import Watched
from firmware.grim.nic.layout import RECEIVE_BUFFERS
from firmware.grim.nic.ni import Ni

SENTINEL = 0x5EAF00D5


class Sentinels:
    """Sentinels of the buffers that can be armed. Empty if the layout has no cut-through size."""

    def __init__(self, ni: Ni) -> None:
        self._nic = ni.nic
        cut = ni.layout.cut_through
        self._at = [buffer + cut - 4 for buffer in ni.layout.buffers[:RECEIVE_BUFFERS]] if cut else []
        self.watched = [Watched(at, SENTINEL, "poll_arrival") for at in self._at]
        """Words that polling loops watch, by buffer."""

    def arm(self, buffer: int) -> None:
        """Write the sentinel into a buffer that is about to be armed."""
        if buffer < len(self._at):
            self._nic.store(self._at[buffer], SENTINEL)
            self.watched[buffer].expect(SENTINEL)

    def seen(self, buffer: int) -> bool:
        """Return True if data have overwritten the sentinel. The word is then watched for its next change."""
        word = self._nic.load(self._at[buffer])
        self.watched[buffer].expect(word)
        return word != SENTINEL
