"""Interface of a LANai's packet port to the host DMA of its kind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from enum import IntEnum
from typing import Protocol

from firmware.common.nic.services import Reply
from pymodels.registers import Block

ROUTE_BYTES, HEADER_BYTES, SYNDROME = 8, 8, 8
SLOTS, BUFFERS = 4, 4
"""Number of send slots for fetched payload, and of receive buffers.

The SP adapter's Send FIFO has room for four packets of 1 KB as well.
"""
FETCHES, STORES = 8, 32
"""Number of control blocks of the two chains: limit of pending transfers to the NIC, and to the host."""
STORE_CHAIN, FETCH_CHAIN = 0, 2
"""Chains of the port, on NICs that have chains."""
STRIDE, SCRATCH = 16, 128
"""Maximum size in bytes of a `store`, and of a `read`."""


class PortMap:
    """SRAM addresses of the port's tables, slots and buffers."""

    def __init__(self, base: int, most: int, nodes: int) -> None:
        """Lay out the memory from `base` on, for packets of up to `most` payload bytes."""
        slot = most + 15 & -8
        self.routes = base
        self.store_blocks = self.routes + 16 * nodes
        self.fetch_blocks = self.store_blocks + Block.SIZE * STORES
        self.words = self.fetch_blocks + Block.SIZE * FETCHES
        self.scratch = self.words + STRIDE * STORES
        first = self.scratch + SCRATCH
        self.slots = [first + (ROUTE_BYTES + HEADER_BYTES + slot) * index for index in range(SLOTS + 1)]
        """Send slots. The last is for payload that is not fetched."""
        first = self.slots[-1] + ROUTE_BYTES + HEADER_BYTES + slot
        self.buffer_bytes = HEADER_BYTES + slot + SYNDROME
        self.buffers = [first + self.buffer_bytes * index for index in range(BUFFERS)]
        self.end = self.buffers[-1] + self.buffer_bytes


class Way(IntEnum):
    """Purpose of a transfer."""

    FETCH = 0
    """Payload into a send slot."""
    READ = 1
    """Words for the firmware."""
    DELIVER = 2
    """Payload out of a receive buffer."""
    STORE = 3
    """Words from the firmware to host memory."""
    BRING = 4
    """Host memory into the firmware's memory."""
    TAKE = 5
    """The firmware's memory into host memory."""


Over = Callable[[list[tuple[Way, int]]], Awaitable[None]]
"""Callback for finished transfers, in order: purpose, and the receive buffer of a `DELIVER`."""


class Transfers(Protocol):
    """Transfers between SRAM and host memory. Fetches keep their order, and so do transfers to the host."""

    @property
    def full(self) -> bool:
        """True if no further `deliver` or `store` may be started."""

    async def fetch(self, local: int, host: int, size: int, message: int) -> None:
        """Move payload of a message into a send slot. Returns when the transfer is started or queued."""

    async def read(self, local: int, host: int, size: int) -> None:
        """Move words that the firmware waits for into SRAM."""

    async def deliver(self, local: int, host: int, size: int, buffer: int, message: int) -> None:
        """Move payload of a message in a receive buffer to the host."""

    async def store(self, words: Sequence[int], host: int, message: int) -> None:
        """Move words of the firmware about a message to the host."""

    async def bring(self, local: int, host: int, size: int) -> None:
        """Move host memory into the firmware's memory, after all earlier fetches."""

    async def take(self, local: int, host: int, size: int) -> None:
        """Move the firmware's memory to the host, after all earlier transfers to the host."""

    def replies(self, over: Over) -> list[Reply]:
        """Return the ISR replies that the polling loop needs."""
