"""A word of each receive buffer holds a sentinel. A message so long that it covers the word changes it while it still
arrives, and the polling loops see that.
"""

from __future__ import annotations

from firmware.common.nic import Watched
from firmware.grim.nic.layout import RECEIVE_BUFFERS
from firmware.grim.nic.ni import Ni

SENTINEL = 0x5EAF00D5


class Sentinels:
    """The words of the buffers that can be armed. None when the layout has no cut."""

    def __init__(self, ni: Ni) -> None:
        self._nic = ni.nic
        cut = ni.layout.cut_through
        self._at = [buffer + cut - 4 for buffer in ni.layout.buffers[:RECEIVE_BUFFERS]] if cut else []
        self.watched = [Watched(at, SENTINEL, "poll_arrival") for at in self._at]
        """What polling loops look at, by buffer."""

    def arm(self, buffer: int) -> None:
        """A buffer is about to be armed."""
        if buffer < len(self._at):
            self._nic.store(self._at[buffer], SENTINEL)
            self.watched[buffer].expect(SENTINEL)

    def seen(self, buffer: int) -> bool:
        """The word has changed: whether data stand there. It is not looked at again before it changes once more."""
        word = self._nic.load(self._at[buffer])
        self.watched[buffer].expect(word)
        return word != SENTINEL
