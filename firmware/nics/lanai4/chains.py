"""The host DMA of a LANai 4: the firmware takes block after block of the chains, and the engine one transfer."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.common.nic.host_dma import DONE, E2L, TERMINAL, WAKE, flag_watch
from firmware.common.nic.services import Service, Step
from firmware.verbs import Nic
from pymodels.nics.lanai4.registers import Ebus
from pymodels.registers import Block, Reg


class SoftwareChains:
    """What a LANai 9 does by itself."""

    def __init__(self, nic: Nic, lists: Mapping[int, int]) -> None:
        self._nic = nic
        self._lists = dict(sorted(lists.items()))
        self._running = 0
        self._current = -1
        """The chain whose block the engine has; -1: it is idle."""
        self._woken: Mapping[int, Step] = {}

    async def pulse(self, chain: int) -> None:
        """Start a chain if the engine is idle; otherwise its turn comes when the transfer in work is over."""
        self._running |= 1 << chain
        if self._current >= 0:
            await self._nic.work("dma_queue")
        elif self._choose():
            await self._nic.work("dma_begin")
            self._begin()

    def services(self, woken: Mapping[int, Step], path: str) -> list[Service]:
        """One step: the engine's bit."""
        self._woken = woken
        return [(flag_watch(path, DONE), self._done)]

    def _choose(self) -> bool:
        """Find the chain whose block is next; one that stands at a TERMINAL block stops."""
        for chain, block in self._lists.items():
            if self._running >> chain & 1:
                if not self._nic.load(block + Block.NEXT) & TERMINAL:
                    self._current = chain
                    return True
                self._running &= ~(1 << chain)
        self._current = -1
        return False

    def _begin(self) -> None:
        """Give the engine the block that was chosen. Whole words; into SRAM, what fills the last one too.

        Raises RuntimeError where it would write to the host what nobody asked for.
        """
        nic, block = self._nic, self._lists[self._current]
        following, _, size, lar, _, eal = nic.load_words(block, 6)
        if (eal | lar) & 3 or (size & 3 and not following & E2L):
            what = f"{size} bytes from {lar:#x} in SRAM to {eal:#x}"
            raise RuntimeError(f"node {nic.node}: {what}: the host DMA of a LANai 4 moves whole words")
        nic.write(Ebus.EAR, eal)
        nic.write(Ebus.LAR, lar)
        nic.write(Ebus.DMA_DIR, following & E2L)
        nic.write(Ebus.DMA_CTR, size + 3 & ~3)

    async def _done(self) -> None:
        """The transfer is over: mark its block, start the next one, then do what the block asks for."""
        nic, chain = self._nic, self._current
        nic.write(Reg.ISR, DONE)
        block = self._lists[chain]
        following = nic.load(block + Block.NEXT)
        nic.store(block + Block.NEXT, following | TERMINAL)
        self._lists[chain] = following & ~7
        if self._choose():
            await nic.work("dma_next")
            self._begin()
        else:
            await nic.work("dma_last")
        if following & WAKE and chain in self._woken:
            await self._woken[chain]()
