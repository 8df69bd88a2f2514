"""Transfers of the packet port on a LANai 9: two chains of control blocks that the engine executes itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from firmware.common.nic.block_ring import BlockRing
from firmware.common.nic.host_dma import E2L
from firmware.common.nic.services import Reply
from firmware.common.nic.transfers import (
    FETCH_CHAIN,
    FETCHES,
    STORE_CHAIN,
    STORES,
    STRIDE,
    Over,
    PortMap,
    Way,
)
from firmware.nics.lanai9.chains import WAKES, HardwareChains
from firmware.verbs import Answer, Nic


class ChainTransfers:
    """Transfers with one chain for each direction."""

    def __init__(self, nic: Nic, at: PortMap) -> None:
        self._nic, self._dma = nic, HardwareChains(nic)
        self._out = BlockRing(nic, self._dma, at.fetch_blocks, FETCHES, FETCH_CHAIN)
        self._in = BlockRing(nic, self._dma, at.store_blocks, STORES, STORE_CHAIN, at.words, STRIDE)
        self._over: Over

    @property
    def full(self) -> bool:
        """True if no block is free."""
        return self._in.full

    async def fetch(self, local: int, host: int, size: int, message: int) -> None:
        """Append a block for the next send slot."""
        await self._nic.work_on("packet_fetch")
        self._out.data(local, host, size, True, (Way.FETCH, 0, 0), E2L, message=message)
        await self._out.start()

    async def read(self, local: int, host: int, size: int) -> None:
        """Append a block for the scratch area."""
        await self._nic.work_on("packet_read")
        self._out.data(local, host, size, True, (Way.READ, 0, 0), E2L, message=0)
        await self._out.start()

    async def deliver(self, local: int, host: int, size: int, buffer: int, message: int) -> None:
        """Append a block for the next piece of a received packet."""
        await self._nic.work_on("packet_deliver")
        self._in.data(local, host, size, True, (Way.DELIVER, buffer, 0), message=message)
        await self._in.start()

    async def store(self, words: Sequence[int], host: int, message: int) -> None:
        """Append a block of words to the host."""
        await self._nic.work_on("packet_store")
        self._in.words(words, host, (Way.STORE, 0, 0), message=message)
        await self._in.start()

    async def bring(self, local: int, host: int, size: int) -> None:
        """Append a block from host memory into the firmware's memory."""
        await self._nic.work_on("packet_read")
        self._out.data(local, host, size, True, (Way.BRING, 0, 0), E2L, message=0)
        await self._out.start()

    async def take(self, local: int, host: int, size: int) -> None:
        """Append a block from the firmware's memory to the host."""
        await self._nic.work_on("packet_deliver")
        self._in.data(local, host, size, True, (Way.TAKE, 0, 0), message=0)
        await self._in.start()

    def replies(self, over: Over) -> list[Reply]:
        """Return the replies to the flags of both chains.

        A flag is cleared before the blocks are checked, so that a block that ends meanwhile sets it again.
        """
        self._over = over
        return [
            Reply(
                self._nic, Answer(WAKES[chain], WAKES[chain], "packet_done"), "packet_look", partial(self._done, ring)
            )
            for chain, ring in ((STORE_CHAIN, self._in), (FETCH_CHAIN, self._out))
        ]

    async def _done(self, ring: BlockRing, _: int) -> None:
        """Report the finished blocks of a chain."""
        found: list[tuple[Way, int]] = []
        while (entry := ring.finished()) is not None:
            found.append((Way(entry[0]), entry[1]))
        await self._over(found)
