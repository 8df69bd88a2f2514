"""Host DMA chain that delivers messages to the host.

The payload goes first. A separate block behind it writes the queue's back pointer, so a host that sees the new pointer
also sees the message (readings C16).
"""

from __future__ import annotations

from firmware.common.nic import BlockRing, HostDma
from firmware.common.nic.host_dma import E2L
from firmware.grim.nic.ni import Ni

NO_BUFFER = -1
REPORT = -2
FETCHED = -3
REQUESTED = -4
UNFETCHED = -5
OWN = -16
"""Special values in place of a receive buffer in a chain entry: NO_BUFFER frees nothing, REPORT frees a report's place.
FETCHED ends the fetch of a remote read, UNFETCHED one that was cancelled. REQUESTED ends a request to the driver.
Values from OWN downwards end the delivery of a multicast message to the host that sent it.
"""


class Delivery(BlockRing):
    """Ring of control blocks to the host. Each entry is (receive buffer to free or special value, key, bytes)."""

    def __init__(self, ni: Ni, dma: HostDma, blocks: int, pointers: int, count: int, chain: int) -> None:
        """Create the ring.

        Args:
            ni: NI that owns the ring.
            dma: Host DMA engine.
            blocks: SRAM address of the control blocks.
            pointers: SRAM address of the words that the blocks write to the host.
            count: Number of control blocks.
            chain: Number of the DMA chain.
        """
        super().__init__(ni.nic, dma, blocks, count, chain, pointers)

    def look(self, host: int) -> None:
        """Append a block that reads one word of a card, whose value is not used."""
        self.data(self._words + self._stride * self._tail, host, 4, False, (NO_BUFFER, 0, 0), E2L, message=0)

    def word(self, value: int, host: int, entry: tuple[int, int, int], message: int = 0) -> None:
        """Append a block that writes one word, which may announce a message, to a host address and then raises WAKE."""
        self.words((value,), host, entry, message=message)
