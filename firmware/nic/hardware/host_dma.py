"""The host DMA as a firmware uses it: chains of control blocks in SRAM, whatever the NIC has.

A LANai 9 carries chains out by itself: PULSE starts one, a finished block is marked TERMINAL, WAKE1 or WAKE2 tells of
those that ask for it. A LANai 4 has one transfer at a time (EAR, LAR, DMA_DIR, DMA_CTR; fact sheet 3.6): there the
firmware keeps the same blocks, starts the next one when the engine's bit shows in ISR, and marks them itself. What is
appended meanwhile waits. Chain 0 goes first on both (readings A10).
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Protocol

from firmware.nic.hardware.services import Service, Step
from firmware.verbs import Nic, Watch
from pymodels.nics.lanai4.registers import Ebus
from pymodels.registers import Block, Flag, Isr, Reg

DONE = 1 << Isr.WAKE1
"""LANai 9: a block of chain 0 or 1 asked for it. LANai 4: the transfer is over (DMA_INT, the same bit)."""
TERMINAL, WAKE, E2L = int(Flag.TERMINAL), int(Flag.WAKE), int(Flag.E2L)
WAKES = {0: DONE, 1: DONE, 2: 1 << Isr.WAKE2, 3: 1 << Isr.WAKE2}


class HostDma(Protocol):
    """Chains of control blocks."""

    async def pulse(self, chain: int) -> None:
        """Let a chain go on with the blocks that were appended."""

    def services(self, woken: Mapping[int, Step], path: str) -> list[Service]:
        """What the polling loop must look at: `woken` is done when a block with WAKE is finished, by chain.

        `path` is the compiled cost of looking at a bit of ISR.
        """


def host_dma(nic: Nic, lists: Mapping[int, int]) -> HostDma:
    """The host DMA of a NIC. `lists`: the first block of each chain that is used; on LANai 9 the host loads them."""
    return HardwareChains(nic) if nic.kind == "lanai9" else SoftwareChains(nic, lists)


class HardwareChains:
    """LANai 9: the engine does it."""

    def __init__(self, nic: Nic) -> None:
        self._nic = nic

    async def pulse(self, chain: int) -> None:
        """Start or continue a chain."""
        self._nic.write(Reg.PULSE, 1 << chain)

    def services(self, woken: Mapping[int, Step], path: str) -> list[Service]:
        """One step for each chain: no two of those in use share a flag."""
        return [(_watch(path, WAKES[chain]), self._acknowledge(WAKES[chain], step)) for chain, step in woken.items()]

    def _acknowledge(self, flag: int, step: Step) -> Step:
        def served() -> Awaitable[int | None]:
            """The flag is cleared before blocks are looked at: one that ends in between raises it again."""
            self._nic.write(Reg.ISR, flag)
            return step()

        return served


class SoftwareChains:
    """LANai 4: the firmware takes block after block, and the engine one transfer."""

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
        return [(_watch(path, DONE), self._done)]

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


def _watch(path: str, flag: int) -> Watch:
    return Watch(Reg.ISR, 0, path, flag, register=True)
