"""Host DMA of a LANai 4: the firmware executes chains block by block, one transfer at a time."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.common.nic.host_dma import DONE, E2L, TERMINAL, WAKE, flag_watch
from firmware.common.nic.services import Service, Step
from firmware.verbs import Nic
from pymodels.nics.lanai4.registers import Ebus
from pymodels.registers import Block, Reg


class SoftwareChains:
    """Chains of control blocks, executed by firmware as a LANai 9 executes them in hardware."""

    def __init__(self, nic: Nic, lists: Mapping[int, int]) -> None:
        self._nic = nic
        self._lists = dict(sorted(lists.items()))
        self._running = 0
        self._current = -1
        """Chain whose block is in transfer; -1 if the engine is idle."""
        self._woken: Mapping[int, Step] = {}

    async def pulse(self, chain: int) -> None:
        """Start a chain if the engine is idle. Otherwise the chain waits for the end of the transfer."""
        self._running |= 1 << chain
        if self._current >= 0:
            await self._nic.work("dma_queue")
        elif self._choose():
            await self._nic.work("dma_begin")
            self._begin()

    async def resume(self, chain: int) -> None:
        """Complete the block that a bus abort has stopped, without a transfer. See `HostDma`."""
        if self._current == chain:
            await self._complete()

    def services(self, woken: Mapping[int, Step], path: str) -> list[Service]:
        """Return the service of the engine's ISR bit."""
        self._woken = woken
        return [(flag_watch(path, DONE), self._done)]

    def _choose(self) -> bool:
        """Select the chain with the next block; return False if there is none. Stops chains at a TERMINAL block."""
        for chain, block in self._lists.items():
            if self._running >> chain & 1:
                if not self._nic.load(block + Block.NEXT) & TERMINAL:
                    self._current = chain
                    return True
                self._running &= ~(1 << chain)
        self._current = -1
        return False

    def _begin(self) -> None:
        """Start the transfer of the selected block. Transfers into SRAM are rounded up to whole words.

        Raises RuntimeError for a transfer to the host that is not in whole words.
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
        """Handle the end of a transfer: mark its block, start the next one, run the handler of a WAKE flag."""
        self._nic.write(Reg.ISR, DONE)
        await self._complete()

    async def _complete(self) -> None:
        """Mark the block in transfer, start the next one, and run the handler of a WAKE flag."""
        nic, chain = self._nic, self._current
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
