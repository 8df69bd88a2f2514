"""A chain of the host DMA as a ring of control blocks, filled by the firmware, emptied by the engine.

The engine stops at a block marked TERMINAL and marks each block TERMINAL again when it has finished it, so the ring
keeps itself: the block at `tail` is always TERMINAL.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from firmware.common.nic.host_dma import TERMINAL, WAKE, HostDma
from firmware.verbs import Nic
from pymodels.registers import Block


class BlockRing:
    """One chain. Each entry remembers three numbers of the firmware's as long as its block is under way."""

    def __init__(
        self, nic: Nic, dma: HostDma, blocks: int, count: int, chain: int, words: int = 0, stride: int = 8
    ) -> None:
        """`count` control blocks at the SRAM address `blocks`; `words`: words to bring, `stride` bytes each."""
        self._dma = dma
        self._nic = nic
        self._blocks = blocks
        self._count = count
        self._chain = chain
        self._words = words
        self._stride = stride
        self._entries = [(0, 0, 0)] * self._count
        self._tail = 0
        self._done = 0
        for index in range(self._count):
            self._nic.store(self._at(index), self._at((index + 1) % self._count) | TERMINAL)

    def _at(self, index: int) -> int:
        return self._blocks + Block.SIZE * index

    @property
    def full(self) -> bool:
        """No block is free."""
        return (self._tail + 1) % self._count == self._done

    @property
    def idle(self) -> bool:
        """The engine has finished all blocks, and stands at the next one: it looks at that when it is started."""
        return self._done == self._tail

    def data(
        self, local: int, host: int, size: int, wake: bool, entry: tuple[int, int, int], direction: int = 0
    ) -> None:
        """Append a block of data. `wake`: the firmware wants to see its end. `direction`: flag E2L, or 0: to the
        host. Raises RuntimeError when no block is free.
        """
        index = self._tail
        at = self._blocks + Block.SIZE * index
        self._tail = following = index + 1 if index + 1 < self._count else 0
        if following == self._done:
            raise RuntimeError("the host DMA ring is full")
        self._entries[index] = entry
        self._nic.store_on(at + Block.LEN, (size, local, 0, host))
        self._nic.store_on(at, (self._blocks + Block.SIZE * following | (WAKE if wake else 0) | direction,))

    def words(self, values: Sequence[int], host: int, entry: tuple[int, int, int], wake: bool = True) -> None:
        """Append a block that writes words to the host. `wake`: the firmware wants to see when they are there."""
        at = self._words + self._stride * self._tail
        self._nic.store_on(at, values)
        self.data(at, host, 4 * len(values), wake, entry)

    def start(self) -> Awaitable[None]:
        """Let the engine go on with what was appended."""
        return self._dma.pulse(self._chain)

    def finished(self) -> tuple[int, int, int] | None:
        """The oldest entry whose block the engine has finished, once each; None when there is none."""
        index = self._done
        if index == self._tail or not self._nic.load(self._blocks + Block.SIZE * index) & TERMINAL:
            return None
        self._done = index + 1 if index + 1 < self._count else 0
        return self._entries[index]
