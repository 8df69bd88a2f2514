"""The host DMA chain that brings messages to the host.

Payload goes first, the queue's back pointer by a block of its own behind it: a host that sees the pointer sees the
message (readings C16).
"""

from __future__ import annotations

from firmware.common.nic import BlockRing, HostDma
from firmware.grim.nic.ni import Ni

NO_BUFFER = -1
REPORT = -2
FETCHED = -3
REQUESTED = -4
OWN = -16
"""Instead of a buffer: the entry frees nothing, or the place of the report; ends the fetch of a remote read, or a
request to the driver; from OWN down, ends the way of a multicast message of this NI's host to it."""


class Delivery(BlockRing):
    """The L2E chain. Each entry remembers (receive buffer that it frees or NO_BUFFER, packet key, bytes)."""

    def __init__(self, ni: Ni, dma: HostDma, blocks: int, pointers: int, count: int, chain: int) -> None:
        """`count` control blocks at `blocks`, their words at `pointers`."""
        super().__init__(ni.nic, dma, blocks, count, chain, pointers)

    def word(self, value: int, host: int, entry: tuple[int, int, int]) -> None:
        """Append a block that writes one word to the host, and wakes the firmware when it is written."""
        self.words((value,), host, entry)
