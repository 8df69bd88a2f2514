"""The endpoints' queues, as the NI fills them: in host memory, or the rings of the node's FPGA card.

Several append: messages from the link, those that waited in receive buffers, the root's own multicast, reports. So the
back of each queue is kept here only. A long message may be written there while it still arrives (`cutting`): the place
is lent to it. A message appended meanwhile takes the place, and the long message is written again behind it when it is
complete.
"""

from __future__ import annotations

from typing import NamedTuple

from firmware.grim.nic.cards import CardRings
from firmware.grim.nic.layout import NONE, HostQueue, Register, fits, following
from firmware.grim.nic.ni import Ni


class Place(NamedTuple):
    """Where a message goes: PCI addresses of its data and of the queue's back pointer, the pointer's new value."""

    data: int
    pointer: int
    after: int


class Endpoints:
    """The queues of one NI's channels."""

    def __init__(self, ni: Ni) -> None:
        self._ni, self._nic, self._layout = ni, ni.nic, ni.layout
        self.base = [0] * ni.options.channels
        """Physical address of each queue."""
        self._back = [0] * ni.options.channels
        self._card = CardRings(ni.nic, ni.layout)
        self._lent = NONE
        """The channel whose place is lent."""

    def start(self) -> None:
        """Take over the queues that the host has registered."""
        for channel in range(len(self.base)):
            self.base[channel] = self._nic.load(self._layout.register(channel, Register.HOST_BASE))

    def room(self, channel: int, length: int) -> bool:
        """Whether a queue has room for `length` more bytes, by the position that its reader has reported."""
        if channel == self._ni.card_channel:
            return self._card.room(length)
        front = self._nic.load(self._layout.register(channel, Register.HOST_FRONT))
        return fits(front, self._back[channel], length, self._layout.host_limit)

    async def append(self, channel: int, length: int) -> Place:
        """Take the place of a message. There must be room."""
        if channel == self._ni.card_channel:
            await self._nic.work("receive_for_card")
            return Place(*self._card.place(length))
        if channel == self._lent:
            self._lent = NONE
        host, back = self.base[channel], self._back[channel]
        self._back[channel] = after = following(back, length, self._layout.host_limit)
        return Place(host + HostQueue.RING + back, host + HostQueue.BACK, after)

    # ---- messages that still arrive

    def lend(self, channel: int) -> int:
        """The physical address at which the next message for an endpoint in host memory will stand."""
        self._lent = channel
        return self.base[channel] + HostQueue.RING + self._back[channel]

    @property
    def is_lent(self) -> bool:
        """Whether the place that was lent is still free."""
        return self._lent != NONE

    def take_back(self) -> bool:
        """Nothing is lent any more; whether the place that was is still free."""
        was_lent, self._lent = self.is_lent, NONE
        return was_lent
