"""Channel search timed by the NI itself (paper 000, 4.3.4 and Figure 4.10; option `search_timer`).

The host writes a number of channels and of repetitions into the word SEARCH. In each round of the main loop the NI then
runs a separate search of the last channels, and accumulates its RTC ticks. The search has the same steps over the same
words. In between it serves events as usual. A search that finds a message does not count; the main loop takes that
message.
"""

from __future__ import annotations

from collections.abc import Sequence

from firmware.common.nic import WatchedService
from firmware.grim.nic.channels import Channel
from firmware.grim.nic.layout import Word
from firmware.grim.nic.ni import Ni
from firmware.verbs import Watch
from pymodels.registers import Reg

TIMES = 0xFFFF
"""Mask of the repetitions in the word SEARCH; the bits above it are the number of channels."""


class SearchTimer:
    """Timed search: a polling loop over the channels, ended by a step that always hits."""

    def __init__(self, ni: Ni, channels: Sequence[Channel]) -> None:
        self._nic = ni.nic
        self._channels = channels
        steps = [Watch(channel.back_register, 0, "poll_channel") for channel in channels]
        self._loop = ni.nic.poll_loop([*steps, Watch(Word.SEARCH, 0, "search_over")])

    def services(self) -> list[WatchedService]:
        """Return the main-loop step that polls for the host's request."""
        return [(Watch(Word.SEARCH, 0, "poll_wish"), self._time)]

    async def _time(self) -> None:
        """Run and time one of the requested searches."""
        nic, all_channels = self._nic, len(self._channels)
        for step, channel in enumerate(self._channels):
            self._loop.expect(step, nic.load(channel.back_register) if channel.blocked else channel.next)
        count, times = divmod(nic.load(Word.SEARCH), TIMES + 1)
        begun = await nic.read(Reg.RTC)
        await nic.work("search_begin")
        met_nothing = await self._loop.run(max(all_channels - count, 0)) == all_channels
        over = await nic.read(Reg.RTC)
        await nic.work("search_told")
        if met_nothing:
            nic.store(Word.TICKS, nic.load(Word.TICKS) + over - begun & 0xFFFFFFFF)
            nic.store(Word.SEARCH, count << 16 | times - 1 if times > 1 else 0)
