"""What the packet port of a LANai asks of the host DMA, whichever it has."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from enum import IntEnum
from typing import Protocol

from firmware.common.nic.services import Reply
from pymodels.registers import Block

ROUTE_BYTES, HEADER_BYTES, SYNDROME = 8, 8, 8
SLOTS, BUFFERS = 4, 4
"""Send slots for fetched payload, as the SP adapter's Send FIFO has room for four packets of 1 KB; receive buffers."""
FETCHES, STORES = 8, 32
"""Control blocks of the two chains; so many transfers to the NIC, and to the host, may be under way or wait."""
STORE_CHAIN, FETCH_CHAIN = 0, 2
"""Where the NIC has chains: those of the port."""
STRIDE, SCRATCH = 16, 128
"""Bytes of a `store` and of a `read` at most."""


class PortMap:
    """Where the port's things stand in SRAM, from `base` on."""

    def __init__(self, base: int, most: int, nodes: int) -> None:
        """`most`: bytes of payload a packet takes."""
        slot = most + 15 & -8
        self.routes = base
        self.store_blocks = self.routes + 16 * nodes
        self.fetch_blocks = self.store_blocks + Block.SIZE * STORES
        self.words = self.fetch_blocks + Block.SIZE * FETCHES
        self.scratch = self.words + STRIDE * STORES
        first = self.scratch + SCRATCH
        self.slots = [first + (ROUTE_BYTES + HEADER_BYTES + slot) * index for index in range(SLOTS + 1)]
        """The last one is for what is not fetched."""
        first = self.slots[-1] + ROUTE_BYTES + HEADER_BYTES + slot
        self.buffer_bytes = HEADER_BYTES + slot + SYNDROME
        self.buffers = [first + self.buffer_bytes * index for index in range(BUFFERS)]
        self.end = self.buffers[-1] + self.buffer_bytes


class Way(IntEnum):
    """What a transfer is for."""

    FETCH = 0
    """Payload into a send slot."""
    READ = 1
    """Words for the firmware."""
    DELIVER = 2
    """Payload out of a receive buffer."""
    STORE = 3
    """Words of the firmware's to the host."""
    BRING = 4
    """Memory of the firmware's out of host memory."""
    TAKE = 5
    """Such memory to the host."""


Over = Callable[[list[tuple[Way, int]]], Awaitable[None]]
"""Told of the transfers that are over, in their order: what for, and the receive buffer of a `DELIVER`."""


class Transfers(Protocol):
    """Transfers between SRAM and host memory. Those to the host are done in their order, and so are the fetches."""

    @property
    def full(self) -> bool:
        """No further `deliver` or `store` may be started now."""

    async def fetch(self, local: int, host: int, size: int) -> None:
        """Payload into a send slot. Returns when it is started, or waits for the engine."""

    async def read(self, local: int, host: int, size: int) -> None:
        """Words that the firmware waits for."""

    async def deliver(self, local: int, host: int, size: int, buffer: int) -> None:
        """Payload of a receive buffer to the host."""

    async def store(self, words: Sequence[int], host: int) -> None:
        """Words to the host."""

    async def bring(self, local: int, host: int, size: int) -> None:
        """Memory of the firmware's out of host memory, behind the fetches before it."""

    async def take(self, local: int, host: int, size: int) -> None:
        """Such memory to the host, behind what goes there already."""

    def replies(self, over: Over) -> list[Reply]:
        """What the polling loop must look at."""
