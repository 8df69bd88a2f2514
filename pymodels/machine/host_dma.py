"""Host DMA: four prioritized chains of 24-byte control blocks in SRAM (fact sheet 3.6). Chain 0 has the highest
priority.

The host sets a chain's list pointer; PULSE bit k starts chain k. A TERMINAL block stops the chain. After each block the
engine sets TERMINAL in its `next` word and continues with the next block. A block with the WAKE flag also raises WAKE1
(chains 0, 1) or WAKE2 (2, 3). A block is finished before a chain of higher priority is served. Data become visible in
pieces, in order; the block's TERMINAL mark is last. A Master Abort stops the chain at its block and raises DMA_ERROR.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from pymodels.machine.memory import Memory
from pymodels.machine.world import World
from pymodels.messages import PLACE
from pymodels.registers import Block, Flag, Isr, Size
from pymodels.trace import Part, TraceEvent, unit

WAKE_BITS = (1 << Isr.WAKE1, 1 << Isr.WAKE1, 1 << Isr.WAKE2, 1 << Isr.WAKE2)
E2L = int(Flag.E2L)  # plain integers: operators of IntFlag cost microseconds
TERMINAL = int(Flag.TERMINAL)
WAKE = int(Flag.WAKE)


class MasterAbort(Exception):  # noqa: N818 - the name of the bus
    """Access of the bus that no target answers, raised by memory in place of a card."""


def checksums(address: int, data: bytes) -> int:
    """Return the CSUM word of a block at an SRAM address: two 16-bit ones' complement sums over big-endian half-words.

    The high half sums the half-words at addresses 0 mod 4, the low half those at 2 mod 4. Bytes outside of the block
    count as zero.
    """
    before = address & 3
    whole = bytes(before) + data + bytes(-(before + len(data)) & 3)
    halves = struct.unpack(f">{len(whole) // 2}H", whole)
    return _fold(sum(halves[0::2])) << 16 | _fold(sum(halves[1::2]))


def _fold(total: int) -> int:
    """Return a sum with end-around carry, which is 0 only if all summands are 0."""
    return (total - 1) % 0xFFFF + 1 if total else 0


class HostDma:
    """Host DMA engine between the SRAM of a NIC and the memory of its host."""

    def __init__(self, world: World, node: int, sram: Memory, raise_isr: Callable[[int, int], None]) -> None:
        self.lists = [0] * Size.CHAINS
        """Address of the next block of each chain."""
        self.progress = [0] * Size.CHAINS
        """Number of bytes stored of the current or last block of each chain."""
        self.running = [False] * Size.CHAINS
        self.in_reset = False
        self.blocks = 0
        self.host_memory: Memory
        self.check_grant: Callable[[int, int], None] = lambda address, size: None
        self._kernel = world.kernel
        self._node = node
        self._unit = unit(node, Part.HOST_DMA)
        self._sram = sram
        self._timing = world.timing
        self._log = world.log
        self._messages = world.messages.sram(node)
        self._raise_isr = raise_isr
        self._busy = False
        self._job = (0, 0, 0, 0, 0)
        """Block being moved: chain, next word, bytes, SRAM address, host address."""

    @property
    def busy(self) -> bool:
        """True while a block is moved."""
        return self._busy

    @property
    def status(self) -> int:
        """Value of DMA_STATUS: bits 3:0 running chains, 5:4 current chain, 8 busy."""
        running = sum(1 << chain for chain in range(Size.CHAINS) if self.running[chain])
        return self._busy << 8 | self._job[0] << 4 | running

    def reset(self, held: bool) -> None:
        """Set the E-bus reset: after the current block no chain runs until the reset is released."""
        self.in_reset = held
        if held:
            self.running = [False] * Size.CHAINS

    def pulse(self, chains: int) -> None:
        """Start the chains whose bits are set."""
        for chain in range(Size.CHAINS):
            if chains >> chain & 1 and not self.in_reset:
                self.running[chain] = True
        self._next_block()

    def _next_block(self) -> None:
        """Start the next block of the running chain with the highest priority."""
        if self._busy:
            return
        for chain in range(Size.CHAINS):
            if self.running[chain]:
                at = self.lists[chain]
                link, _, size, lar, high, eal = self._sram.load_words(at, 6)
                if not link & TERMINAL:
                    self._start(chain, link, size, lar, high << 32 | eal)
                    return
                self.running[chain] = False

    def _start(self, chain: int, link: int, size: int, lar: int, address: int) -> None:
        self._sram.check(lar, size)
        self.check_grant(address, size)
        self._busy = True
        self.progress[chain] = 0
        self._record(TraceEvent.DMA_START, chain, link, size, lar)
        self._job = (chain, link, size, lar, address)
        self._next_piece(self._timing.dma_start)

    def _next_piece(self, delay: int) -> None:
        """Schedule the end of the next piece."""
        chain, _, size, _, _ = self._job
        piece = min(self._timing.dma_chunk, size - self.progress[chain])
        self._kernel.at(self._kernel.now + delay + piece * self._timing.dma_byte, self._moved)

    def _moved(self) -> None:
        """Move a piece at the end of its time."""
        chain, link, size, lar, address = self._job
        done = self.progress[chain]
        piece = min(self._timing.dma_chunk, size - done)
        try:
            if not size:
                pass  # the bus is not used
            elif link & E2L:
                self._sram.write(lar + done, self.host_memory.read(address + done, piece))
            else:
                self.host_memory.write(address + done, self._sram.read(lar + done, piece))
        except MasterAbort:
            self._stop(chain)
            return
        self._sram.count("host dma", lar + done, piece)
        self.progress[chain] = done = done + piece
        if done < size:
            self._next_piece(0)
        else:
            self._finish(chain, link, size, lar)

    def _stop(self, chain: int) -> None:
        """Stop a chain at a block that the bus did not complete; the block is not marked."""
        self.running[chain] = self._busy = False
        self._raise_isr(1 << Isr.DMA_ERROR, 0)
        self._next_block()

    def _finish(self, chain: int, link: int, size: int, lar: int) -> None:
        """Finish a block: write checksum and TERMINAL mark, raise WAKE, and continue with the next block."""
        at = self.lists[chain]
        self._sram.store(at + Block.CSUM, checksums(lar, self._sram.read(lar, size)))
        self._sram.store(at + Block.NEXT, link | TERMINAL)
        self._sram.count("host dma", at, Block.SIZE)
        self.lists[chain] = link & ~7
        self.blocks += 1
        self._busy = False
        self._record(TraceEvent.DMA_DONE, chain, link, size, lar)
        if link & WAKE:
            self._raise_isr(WAKE_BITS[chain], 0)
        self._next_block()

    def _record(self, event: TraceEvent, chain: int, link: int, size: int, lar: int) -> None:
        """Add the start or the end of a block to the trace."""
        moved, message = size if link & E2L else -size, self._messages[lar >> PLACE]
        self._log.add(self._unit, event, lar, chain, moved, message)
