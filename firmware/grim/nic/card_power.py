"""Loss of power of the node's card, and its new start.

A card without power does not answer on its bus. A DMA transfer to it or from it ends with a Master Abort, and the
chain stops at that block. The NI then cancels all pending blocks for the card and continues the chain, so no block for
the host is lost. It reports the loss to its host once. From then on it answers each message for the card by an ERROR,
and each read of its memory by a reply without data.

Messages that were acknowledged before are lost with the card. When the power has returned, the driver writes
`Word.CARD` twice. From the first time on, the NI writes nothing more to the card, even if it has not noticed the loss.
The driver can then set the card's registers. From the second time on, messages are accepted again. The card's rings and
the queue of its channel then begin at offset 0.
"""

from __future__ import annotations

from firmware.common.nic import HostDma
from firmware.common.nic.host_dma import ABORTED
from firmware.grim.formats import Cause, Device, endpoint
from firmware.grim.nic.card_messages import CardMessages
from firmware.grim.nic.delivery.delivery import FETCHED, UNFETCHED, Delivery
from firmware.grim.nic.delivery.endpoints import Endpoints
from firmware.grim.nic.layout import L2E_CHAIN
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.outgoing import Outgoing
from firmware.grim.nic.reports import Reports
from firmware.grim.nic.search import ChannelSearch
from pymodels.cards import SLOT_BYTES
from pymodels.registers import Reg


class CardPower:
    """Main-loop step for a bus abort, and the restart of the card."""

    def __init__(
        self,
        ni: Ni,
        dma: HostDma,
        delivery: Delivery,
        endpoints: Endpoints,
        messages: CardMessages,
        outgoing: Outgoing,
        reports: Reports,
        search: ChannelSearch,
    ) -> None:
        self._ni, self._nic = ni, ni.nic
        self._dma, self._delivery, self._endpoints = dma, delivery, endpoints
        self._messages, self._outgoing, self._reports = messages, outgoing, reports
        self._search = search
        self._slot = range(ni.card_base, ni.card_base + SLOT_BYTES)

    async def aborted(self) -> None:
        """Handle DMA_ERROR. A chain that has stopped at a block for host memory stays stopped."""
        self._nic.write(Reg.ISR, ABORTED)
        await self._nic.work("card_lost", self._delivery.pending)
        if not self._delivery.cancel(self._slot, {FETCHED: UNFETCHED}):
            return
        first, self._endpoints.down = not self._endpoints.down, True
        self._messages.release()
        await self._dma.resume(L2E_CHAIN)
        if first:
            own = endpoint(self._ni.me, Device.CELOXICA)
            await self._reports.queue_report(0, own, Cause.CARD_DOWN, 0, 0)

    def step(self, number: int) -> None:
        """Follow a step of the driver: it starts the card again (odd), or the card has started (even).

        A card that has started begins with empty rings, and with the empty queue of its channel.
        """
        self._messages.release()
        if number & 1:
            self._endpoints.down = True
            return
        self._endpoints.restart_card()
        channel = self._outgoing.channels[self._ni.card_channel]
        channel.restart()
        self._search.look_again(channel)
