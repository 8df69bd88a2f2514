"""Transfers of the packet port on a LANai 4, whose engine has one transfer at a time.

The firmware writes the engine's registers. Further requests wait in SRAM: reads first, then transfers to the host.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from firmware.common.nic.host_dma import DONE
from firmware.common.nic.services import Reply
from firmware.common.nic.transfers import FETCHES, STORES, STRIDE, Over, PortMap, Way
from firmware.verbs import Answer, Nic
from pymodels.nics.lanai4.registers import Ebus
from pymodels.registers import Reg

OVER = {Way.FETCH: "direct_fetched", Way.DELIVER: "direct_delivered", Way.STORE: "direct_stored"}
"""Paths at the end of a transfer, in addition to that of the engine."""


class Request(NamedTuple):
    """Transfer to be done."""

    way: Way
    local: int
    host: int
    size: int
    buffer: int = 0
    message: int = 0


class DirectTransfers:
    """DMA engine with two request queues."""

    def __init__(self, nic: Nic, at: PortMap) -> None:
        self._nic, self._words = nic, at.words
        self._now: Request | None = None
        self._stores: deque[Request] = deque()
        self._fetches: deque[Request] = deque()
        self._next = 0
        """Index of the next store's words, counted from `words`."""
        self._over: Over

    @property
    def full(self) -> bool:
        """True if all places for words of stores are occupied."""
        return len(self._stores) + 2 > STORES

    async def fetch(self, local: int, host: int, size: int, message: int) -> None:
        """Move payload into a send slot."""
        await self._nic.work("direct_fetch")
        if len(self._fetches) >= FETCHES:
            raise RuntimeError(f"node {self._nic.node}: more than {FETCHES} fetches are queued for the host DMA")
        await self._submit(Request(Way.FETCH, local, host, size, message=message), self._fetches)

    async def read(self, local: int, host: int, size: int) -> None:
        """Move words for the firmware into SRAM."""
        await self._nic.work("direct_read")
        await self._submit(Request(Way.READ, local, host, size), self._fetches, first=True)

    async def deliver(self, local: int, host: int, size: int, buffer: int, message: int) -> None:
        """Move payload out of a receive buffer."""
        await self._nic.work("direct_deliver")
        await self._submit(Request(Way.DELIVER, local, host, size, buffer, message), self._stores)

    async def store(self, words: Sequence[int], host: int, message: int) -> None:
        """Move words of the firmware to the host."""
        await self._nic.work("direct_store")
        local = self._words + STRIDE * self._next
        self._next = (self._next + 1) % STORES
        self._nic.store_words(local, words)
        await self._submit(Request(Way.STORE, local, host, 4 * len(words), message=message), self._stores)

    async def bring(self, local: int, host: int, size: int) -> None:
        """Move host memory into the firmware's memory."""
        await self._nic.work("direct_read")
        await self._submit(Request(Way.BRING, local, host, size), self._fetches)

    async def take(self, local: int, host: int, size: int) -> None:
        """Move the firmware's memory to the host."""
        await self._nic.work("direct_deliver")
        await self._submit(Request(Way.TAKE, local, host, size), self._stores)

    def replies(self, over: Over) -> list[Reply]:
        """Return the reply to the engine's ISR bit."""
        self._over = over
        return [Reply(self._nic, Answer(DONE), "packet_look", self._over_now)]

    async def _submit(self, request: Request, queue: deque[Request], first: bool = False) -> None:
        """Start a transfer, or queue it while the engine is busy."""
        if self._now is not None and self._now.way is Way.DELIVER and not queue:
            await self._nic.work("direct_look")
            if await self._nic.read(Reg.ISR) & DONE:
                await self._done()
        if self._now is None:
            self._begin(request)
            return
        await self._nic.work("direct_wait")
        if first:
            queue.appendleft(request)
        else:
            queue.append(request)

    def _begin(self, request: Request) -> None:
        """Write the engine's registers. Transfers into SRAM are rounded up to whole words.

        Raises RuntimeError for a transfer to the host that is not in whole words.
        """
        nic, (way, local, host, size, _, message) = self._nic, request
        to_nic = way in (Way.FETCH, Way.READ, Way.BRING)
        if (local | host) & 3 or (size & 3 and not to_nic):
            what = f"{size} bytes from {local:#x} in SRAM to {host:#x}"
            raise RuntimeError(f"node {nic.node}: {what}: the host DMA of a LANai 4 moves whole words")
        self._now = request
        nic.put_message(local, message)
        nic.write(Ebus.EAR, host)
        nic.write(Ebus.LAR, local)
        nic.write(Ebus.DMA_DIR, int(to_nic))
        nic.write(Ebus.DMA_CTR, size + 3 & ~3)

    async def _over_now(self, _: int) -> None:
        await self._done()

    async def _done(self) -> None:
        """Handle the end of the transfer: start the next one, then report it."""
        nic, now = self._nic, self._now
        if now is None:
            raise RuntimeError(f"node {nic.node}: the host DMA reports the end of a transfer that was not started")
        nic.write(Reg.ISR, DONE)
        self._now = None
        if self._fetches and self._fetches[0].way is Way.READ:
            await self._follow(self._fetches)
        elif self._stores:
            await self._follow(self._stores)
        elif self._fetches:
            await self._follow(self._fetches)
        else:
            await nic.work("direct_was_read" if now.way is Way.READ else "direct_done")
        if now.way in OVER:
            await nic.work(OVER[now.way])
        await self._over([(now.way, now.buffer)])

    async def _follow(self, queue: deque[Request]) -> None:
        await self._nic.work("direct_next")
        self._begin(queue.popleft())
