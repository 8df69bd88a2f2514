"""The search of the channels for new messages (paper 000, Figure 4.10): one step of the main loop a channel, in order;
it goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol

from firmware.common.nic import Looked, Watched
from firmware.grim.nic.channels import Channel
from firmware.verbs import Nic

NewMessage = Callable[[Channel], Awaitable[bool]]
"""Takes the next message of a channel. False: the scoreboard has no room for it."""


class ChannelSearch(Protocol):
    """What finds new messages in the channels."""

    def look_again(self, channel: Channel) -> None:
        """A channel was blocked, and is no longer."""


class Search:
    """Looks at the back pointer of each channel."""

    def __init__(self, nic: Nic, channels: Sequence[Channel]) -> None:
        self._nic, self._channels = nic, channels
        self._backs = [Watched(channel.back_register, 0, "poll_channel") for channel in channels]

    def services(self, new_message: NewMessage) -> list[Looked]:
        """The steps, one a channel."""
        return [(self._backs[channel.index], partial(self._look, channel, new_message)) for channel in self._channels]

    async def _look(self, channel: Channel, new_message: NewMessage) -> None:
        """A new message, or news of a channel that is blocked."""
        taken = not channel.blocked and await new_message(channel)
        back = self._backs[channel.index]
        back.expect(channel.next if taken else self._nic.load(channel.back_register))

    def look_again(self, channel: Channel) -> None:
        """A channel was blocked, and is no longer: it is looked at as before."""
        self._backs[channel.index].expect(channel.next)
