"""The host DMA chain that brings messages to the host: a ring of control blocks, filled by the NI, emptied by the
engine.

The engine stops at a block marked TERMINAL and marks each block TERMINAL again when it has finished it, so the ring
keeps itself: the block at `tail` is always TERMINAL. Payload goes first, the queue's back pointer by a block of its
own behind it: a host that sees the pointer sees the message (readings C16).
"""

from __future__ import annotations

from firmware.nic.grim.ni import Ni
from firmware.nic.hardware import HostDma
from firmware.nic.hardware.host_dma import TERMINAL, WAKE
from pymodels.registers import Block

NO_BUFFER = -1
REPORT = -2
FETCHED = -3
REQUESTED = -4
OWN = -16
"""Instead of a buffer: the entry frees nothing, or the place of the report; ends the fetch of a remote read, or a
request to the driver; from OWN down, ends the way of a multicast message of the own host to it."""


class Delivery:
    """The L2E chain. Each entry remembers (receive buffer that it frees or NO_BUFFER, packet key, bytes)."""

    def __init__(self, ni: Ni, dma: HostDma, blocks: int, pointers: int, count: int, chain: int) -> None:
        """`count` control blocks at `blocks`, their words at `pointers`."""
        self._dma = dma
        self._nic = ni.nic
        self._blocks = blocks
        self._pointers = pointers
        self._count = count
        self._chain = chain
        self._entries = [(NO_BUFFER, 0, 0)] * self._count
        self._tail = 0
        self._done = 0
        for index in range(self._count):
            self._nic.store(self._at(index), self._at((index + 1) % self._count) | TERMINAL)

    def _at(self, index: int) -> int:
        return self._blocks + Block.SIZE * index

    def data(
        self, local: int, host: int, size: int, wake: bool, entry: tuple[int, int, int], direction: int = 0
    ) -> None:
        """Append a block of data. `wake`: the firmware wants to see its end. `direction`: flag E2L, or 0: to the
        host.
        """
        index = self._tail
        at = self._blocks + Block.SIZE * index
        self._tail = following = index + 1 if index + 1 < self._count else 0
        if following == self._done:
            raise RuntimeError("the host DMA ring is full")
        self._entries[index] = entry
        self._nic.store_words(at + Block.LEN, (size, local, 0, host))
        self._nic.store(at, self._blocks + Block.SIZE * following | (WAKE if wake else 0) | direction)

    def word(self, value: int, host: int, entry: tuple[int, int, int]) -> None:
        """Append a block that writes one word to the host, and wakes the firmware when it is there."""
        at = self._pointers + 8 * self._tail
        self._nic.store(at, value)
        self.data(at, host, 4, True, entry)

    async def start(self) -> None:
        """Let the engine go on with what was appended."""
        await self._dma.pulse(self._chain)

    def finished(self) -> tuple[int, int, int] | None:
        """The oldest entry whose block the engine has finished, once each; None when there is none."""
        index = self._done
        if index == self._tail or not self._nic.load(self._blocks + Block.SIZE * index) & TERMINAL:
            return None
        self._done = index + 1 if index + 1 < self._count else 0
        return self._entries[index]
