"""Long messages to the node's FPGA card: one at a time, from its first segment to its last.

The card's rings are FIFOs, and its shell gives each message to a circuit in this order. So the NI decides which
messages enter. From the first to the last segment of a long message, it rejects every other message for the card by a
NACK. The stream identifies the sender. Rejected messages return after the retry delay.

The sender may stop in the middle. The card is free for others when the sender's NI has restarted or is down. It is also
free when another message arrives and no segment has come for `card_hold_us`. Further segments are answered by an ERROR,
and the card's shell ends the incomplete message.

While the card has no power (`card_power`), every message and segment is answered by an ERROR.
"""

from __future__ import annotations

from firmware.grim.channel_map import NO_CARD
from firmware.grim.formats import CONTINUES, MORE, Cause, Words
from firmware.grim.nic.clock import TICKS_PER_US
from firmware.grim.nic.delivery.delivery import Delivery
from firmware.grim.nic.delivery.endpoints import Endpoints
from firmware.grim.nic.delivery.intake import Intake
from firmware.grim.nic.layout import NONE
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.verdicts import Verdicts
from pymodels.registers import Reg


class CardMessages:
    """Acceptance of messages for the node's FPGA card."""

    def __init__(self, ni: Ni, verdicts: Verdicts, endpoints: Endpoints, intake: Intake, delivery: Delivery) -> None:
        self._ni, self._nic = ni, ni.nic
        self._verdicts, self._endpoints, self._intake = verdicts, endpoints, intake
        self._delivery = delivery
        self._patience = TICKS_PER_US * ni.options.card_hold_us
        self._holder = NONE
        """Stream of the long message that the card accepts, or NONE."""
        self._since = 0
        """RTC time of its last segment."""

    def _hold(self, stream: int) -> None:
        self._holder = stream
        self._endpoints.held = stream != NONE

    def release(self) -> None:
        """Release the card, which has no power, from its long message."""
        self._hold(NONE)

    def forget(self, peer: int) -> None:
        """Release the card from the message of a restarted NI."""
        if self._holder != NONE and self._verdicts.source(self._holder) == peer:
            self._hold(NONE)

    async def take(
        self, buffer: int, key: int, source: int, stream: int, channel: int, length: int, early: int
    ) -> None:
        """Accept or reject a message of one segment."""
        if self._endpoints.down:
            await self._verdicts.impossible(buffer, key, source, stream, Cause.CARD_DOWN)
            return
        if self._holder != NONE:
            await self._look()
        await self._intake.take(buffer, key, source, stream, channel, length, early)
        await self._endpoints.look_at_card(self._delivery)

    async def segment(self, buffer: int, head: Words, stream: int, length: int) -> None:
        """Accept or reject a segment of a long message."""
        key, source, channel = head.w0, head.source, head.channel
        if channel == NO_CARD or channel != self._ni.card_channel:
            await self._verdicts.impossible(buffer, key, source, stream, Cause.UNKNOWN_ENDPOINT)
            return
        if self._endpoints.down:
            await self._verdicts.impossible(buffer, key, source, stream, Cause.CARD_DOWN)
            return
        await self._nic.work("card_segment")
        continues = bool(head.w1 & CONTINUES)
        if not continues and self._holder != NONE:
            await self._look()
        if continues and self._holder != stream:
            await self._verdicts.impossible(buffer, key, source, stream, Cause.INTERRUPTED)
            return
        if not continues and self._holder != NONE:
            await self._verdicts.refuse(buffer, key, source, stream)
            return
        self._since = await self._nic.read(Reg.RTC)
        if not self._endpoints.room_for_segment(length):
            await self._verdicts.refuse(buffer, key, source, stream)
            await self._endpoints.look_at_card(self._delivery)
            return
        self._hold(stream if head.w1 & MORE else NONE)
        await self._intake.accept(buffer, key, source, stream, channel, length, 0)

    async def _look(self) -> None:
        """Release the card if the sender of the long message has been silent for too long."""
        now = await self._nic.read(Reg.RTC)
        await self._nic.work("card_held")
        if now - self._since & 0xFFFFFFFF >= self._patience:
            self._hold(NONE)
