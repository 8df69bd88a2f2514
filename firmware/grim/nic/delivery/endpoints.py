"""Endpoint queues as the NI fills them: in host memory, or in the rings of the node's FPGA card.

Several parts append: messages from the link, messages that waited in receive buffers, the root's own multicast
messages, reports. So only this module keeps the back of each queue. A long message may be written to a queue while it
still arrives (`cutting`): the place is lent to it. A message appended meanwhile takes the place, and the long message
is written again behind it when it is complete.
"""

from __future__ import annotations

from typing import NamedTuple

from firmware.grim.nic.cards import MISSES, CardRings
from firmware.grim.nic.delivery.delivery import Delivery
from firmware.grim.nic.layout import NONE, HostQueue, Register, fits, following
from firmware.grim.nic.ni import Ni


class Place(NamedTuple):
    """Place of a message: PCI addresses of its data and of the queue's back pointer, and the pointer's new value."""

    data: int
    pointer: int
    after: int


class Endpoints:
    """Endpoint queues of one NI's channels."""

    def __init__(self, ni: Ni) -> None:
        self._ni, self._nic, self._layout = ni, ni.nic, ni.layout
        self.base = [0] * ni.options.channels
        """Physical address of each channel's queue."""
        self._back = [0] * ni.options.channels
        self._card = CardRings(ni.nic, ni.layout, ni.card_base)
        self.held = False
        """True while the FPGA card accepts segments of one long message only."""
        self.down = False
        """True while the card has no power, or has not been started again since."""
        self._lent = NONE
        """Channel whose next place is lent, or NONE."""

    def start(self) -> None:
        """Read the addresses of the queues that the host has registered."""
        for channel in range(len(self.base)):
            self.base[channel] = self._nic.load(self._layout.register(channel, Register.HOST_BASE))

    def room(self, channel: int, length: int) -> bool:
        """Return True if a queue has room for `length` more bytes, by its reader's last published position."""
        if channel == self._ni.card_channel:
            return not self.held and self._card.room(length)
        front = self._nic.load(self._layout.register(channel, Register.HOST_FRONT))
        return fits(front, self._back[channel], length, self._layout.host_limit)

    def room_for_segment(self, length: int) -> bool:
        """Return True if the FPGA card's next ring has room for a segment of the long message that it accepts."""
        return self._card.room(length)

    async def look_at_card(self, delivery: Delivery) -> None:
        """Read a register of a card that has had no room for many messages in a row: it may have no power."""
        if self._card.misses >= MISSES and not self.down:
            self._card.misses = 0
            await self._nic.work("card_look")
            delivery.look(self._card.register)
            await delivery.start()

    def restart_card(self) -> None:
        """Begin again with the empty rings of a card that has started."""
        self._card.restart()
        self.down = False

    async def append(self, channel: int, length: int, message: int = 0) -> Place:
        """Reserve and return the next place in a queue, which must have room, for a message with this number."""
        if channel == self._ni.card_channel:
            await self._nic.work("receive_for_card")
            return Place(*self._card.place(length, message))
        if channel == self._lent:
            self._lent = NONE
        host, back = self.base[channel], self._back[channel]
        self._back[channel] = after = following(back, length, self._layout.host_limit)
        self._nic.put_message(host + HostQueue.RING + back, message, in_host=True)
        return Place(host + HostQueue.RING + back, host + HostQueue.BACK, after)

    # ---- messages still arriving (cut-through)

    def lend(self, channel: int) -> int:
        """Lend the next place in a host queue to an arriving message; return its physical address."""
        self._lent = channel
        return self.base[channel] + HostQueue.RING + self._back[channel]

    @property
    def is_lent(self) -> bool:
        """True while a lent place has not been taken by another message."""
        return self._lent != NONE

    def take_back(self) -> bool:
        """End the loan of a place. Return True if no other message has taken the place."""
        was_lent, self._lent = self.is_lent, NONE
        return was_lent
