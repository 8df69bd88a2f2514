"""Chain of the host DMA as a ring of control blocks, filled by the firmware and emptied by the engine.

The engine stops at a block marked TERMINAL, and marks each finished block TERMINAL again. The block at `tail` is
therefore always TERMINAL.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence

from firmware.common.nic.host_dma import TERMINAL, WAKE, HostDma
from firmware.verbs import Nic
from pymodels.messages import PLACE
from pymodels.registers import Block


class BlockRing:
    """Chain of the host DMA. Each entry keeps three numbers of the firmware until its block has finished."""

    def __init__(
        self, nic: Nic, dma: HostDma, blocks: int, count: int, chain: int, words: int = 0, stride: int = 8
    ) -> None:
        """Create a ring of control blocks.

        Args:
            nic: NIC that runs the firmware.
            dma: Host DMA.
            blocks: SRAM address of the control blocks.
            count: Number of control blocks.
            chain: Number of the chain.
            words: SRAM address of the words that `words` stores.
            stride: Bytes reserved for the words of one block.
        """
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
        """True if no block is free."""
        return (self._tail + 1) % self._count == self._done

    @property
    def idle(self) -> bool:
        """True if the engine has finished all blocks and waits at the next one for a start."""
        return self._done == self._tail

    @property
    def pending(self) -> int:
        """Number of blocks whose entries `finished` has not yet returned."""
        return (self._tail - self._done) % self._count

    def data(
        self,
        local: int,
        host: int,
        size: int,
        wake: bool,
        entry: tuple[int, int, int],
        direction: int = 0,
        *,
        message: int,
    ) -> None:
        """Append a block that moves data.

        Args:
            local: SRAM address.
            host: Physical host address.
            size: Bytes to move.
            wake: True if the firmware needs a notification at the end.
            entry: Numbers that `finished` returns.
            direction: Flag E2L for host to NIC, 0 for NIC to host.
            message: Number of the message in the trace, 0 if the data belong to none.

        Raises:
            RuntimeError: No block is free.
        """
        index = self._tail
        at = self._blocks + Block.SIZE * index
        self._tail = following = index + 1 if index + 1 < self._count else 0
        if following == self._done:
            raise RuntimeError("host DMA ring: no free block")
        self._entries[index] = entry
        self._nic.places[local >> PLACE] = message
        self._nic.store_on(at + Block.LEN, (size, local, 0, host))
        self._nic.store_on(at, (self._blocks + Block.SIZE * following | (WAKE if wake else 0) | direction,))

    def words(
        self, values: Sequence[int], host: int, entry: tuple[int, int, int], wake: bool = True, *, message: int
    ) -> None:
        """Append a block that stores words of a message to the host. With `wake` the firmware is notified at the
        end.
        """
        at = self._words + self._stride * self._tail
        self._nic.store_on(at, values)
        self.data(at, host, 4 * len(values), wake, entry, message=message)

    def start(self) -> Awaitable[None]:
        """Start the engine on the appended blocks."""
        return self._dma.pulse(self._chain)

    def cancel(self, area: range, replaced: Mapping[int, int]) -> bool:
        """Cancel the pending blocks whose host address is in an area, while a bus abort has stopped the engine.

        Their length becomes 0, so that they finish in order as soon as the engine continues.

        Args:
            area: Host addresses.
            replaced: New first numbers of the entries of cancelled blocks, by old first number.

        Returns:
            True if the engine stopped at such a block.
        """
        index, stopped_there, first = self._done, False, True
        while index != self._tail:
            at = self._at(index)
            if not self._nic.load(at) & TERMINAL:
                if self._nic.load(at + Block.EAL) in area:
                    stopped_there = stopped_there or first
                    self._nic.store(at + Block.LEN, 0)
                    number, *others = self._entries[index]
                    self._entries[index] = replaced.get(number, number), others[0], others[1]
                first = False
            index = index + 1 if index + 1 < self._count else 0
        return stopped_there

    def finished(self) -> tuple[int, int, int] | None:
        """Return the oldest finished entry not yet returned, or None."""
        index = self._done
        if index == self._tail or not self._nic.load(self._blocks + Block.SIZE * index) & TERMINAL:
            return None
        self._done = index + 1 if index + 1 < self._count else 0
        return self._entries[index]
