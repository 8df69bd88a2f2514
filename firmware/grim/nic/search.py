"""Search of the channels for new messages (paper 000, Figure 4.10): one main-loop step for each channel, in order.

The search continues where it stopped.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol

from firmware.common.nic import Watched, WatchedService
from firmware.grim.nic.channels import Channel
from firmware.verbs import Nic

NewMessage = Callable[[Channel], Awaitable[bool]]
"""Function that takes the next message of a channel; returns False if the scoreboard has no room."""


class ChannelSearch(Protocol):
    """Method of finding new messages in the channels."""

    def look_again(self, channel: Channel) -> None:
        """Search a channel again that is no longer blocked."""


class Search:
    """Polling of each channel's back pointer."""

    def __init__(self, nic: Nic, channels: Sequence[Channel]) -> None:
        self._nic, self._channels = nic, channels
        self._backs = [Watched(channel.back_register, 0, "poll_channel") for channel in channels]

    def services(self, new_message: NewMessage) -> list[WatchedService]:
        """Return the main-loop steps, one for each channel."""
        return [(self._backs[channel.index], partial(self._look, channel, new_message)) for channel in self._channels]

    async def _look(self, channel: Channel, new_message: NewMessage) -> None:
        """Take the next message of a channel; for a blocked channel, only note its new back pointer."""
        taken = not channel.blocked and await new_message(channel)
        back = self._backs[channel.index]
        back.expect(channel.next if taken else self._nic.load(channel.back_register))

    def look_again(self, channel: Channel) -> None:
        """Search a channel again that is no longer blocked."""
        self._backs[channel.index].expect(channel.next)
