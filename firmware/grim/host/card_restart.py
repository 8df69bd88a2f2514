"""New start of a host's card after a loss of power: what its NI and other hosts still keep of it.

A card may have lost its power in the middle of a result of several segments. Each host endpoint that has received the
first ones would append the card's next message to them. So the driver writes a last segment into the card's queue for
every endpoint, in place of the card. Then the NI begins again with empty queues.

The NI may not have noticed the loss, if no message for the card arrived meanwhile. So it first gets the order to write
nothing to the card, before the driver sets the card's registers and ring pointers.
"""

from __future__ import annotations

import struct

from firmware.common.host.words import store_words
from firmware.grim.channel_map import channel_map
from firmware.grim.formats import Device, Header, MessageType, endpoint, logical_channel
from firmware.grim.host.card_windows import CardWindows
from firmware.grim.host.channel_queue import MESSAGE_BYTES, notice
from firmware.grim.host.errors import GrimError
from firmware.grim.host.handlers import CARD_ERROR
from firmware.grim.nic.layout import ROUTE_BYTES, Layout, Register, Word, following
from firmware.grim.options import Options
from firmware.verbs import Host
from firmware.view import ClusterView

LOST = 0x100
"""First argument of the message that ends an unfinished result (`CARD_ERROR`)."""
LOOK_PS, PATIENCE = 5_000_000, 4_000
"""Interval of the driver's polls of the queue in ps, and their number after which it gives up: 20 ms (ours)."""


class CardRestart:
    """Preparation of the NI, and of other hosts, for the new start of one card."""

    def __init__(self, host: Host, layout: Layout, view: ClusterView, channel: int, windows: CardWindows) -> None:
        self._host, self._layout, self._channel = host, layout, channel
        self._view, self._windows = view, windows
        self._steps = 0

    async def prepare(self) -> None:
        """Let the NI write nothing more to the card, end unfinished results, and close all windows.

        Raises GrimError if a message of the card is not acknowledged in time.
        """
        if not self._steps & 1:
            await self._step()
        back = await self._empty()
        options = Options.from_values(self._view.options)
        for vnn in range(len(self._view.names)):
            others = channel_map(options, self._view, vnn)
            for channel in range(options.channels):
                if channel != others.card and vnn in self._view.routes:
                    back = await self._end(vnn, channel, back)
        await self._windows.forget()

    async def finish(self) -> None:
        """Let the NI accept messages for the card again, with empty queues."""
        await self._step()

    async def _step(self) -> None:
        """Make one step of the restart known to the NI; return when its earlier transfers to the card have ended."""
        self._steps += 1
        await store_words(self._host, Word.CARD, self._steps)
        await self._windows.driver.confirm()

    async def _end(self, vnn: int, channel: int, back: int) -> int:
        """Send the last segment to one endpoint; return the new back pointer of the card's queue."""
        own, layout = endpoint(self._view.me, Device.CELOXICA), self._layout
        ends = logical_channel(self._channel, channel)
        words = (LOST, self._view.me, 0, 0)
        to = endpoint(vnn, Device.HOST)
        header = Header(0, 0, MessageType.ACTIVE, 0, 0, own, 0, to, ends, CARD_ERROR, words)
        at = self._host.nic_base + layout.queues[self._channel] + back + ROUTE_BYTES
        await self._host.pio_write(at, header.pack())
        after = following(back, MESSAGE_BYTES, layout.limit)
        target = self._host.nic_base + notice(layout, self._channel)
        await self._host.pio_write(target, struct.pack(">I", after))
        return await self._empty(after)

    async def _empty(self, last: int | None = None) -> int:
        """Wait until all messages in the card's queue are acknowledged, and return its back pointer.

        With doorbells the NI writes the back pointer later than the driver, so `last` is the one to wait for.
        """
        base = self._host.nic_base
        for _ in range(PATIENCE):
            back = await self._host.pio_read(base + self._layout.register(self._channel, Register.BACK))
            if last in (None, back) and back == await self._host.pio_read(
                base + self._layout.register(self._channel, Register.FRONT)
            ):
                return back
            await self._host.sleep(LOOK_PS, "the acknowledgement of the card's last messages")
        raise GrimError("card", "timed out waiting for its last messages to be acknowledged", "wait for their hosts")
