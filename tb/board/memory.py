"""Host memory on a board: block RAM that the NIC's host DMA and the serial bridge share, with a copy in the PC.

Software keeps views of host memory and stores into them without a verb. The copy therefore remembers the content of
the board, and `flush` sends the difference before each store to the NIC. `fetch` brings what the NIC has written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from pymodels.host.pages import PAGE

WORD = 4
"""Bytes of a word of the bridge."""


class MemoryPort(Protocol):
    """Access to the memory of one host on a board, in whole words."""

    def load(self, address: int, size: int) -> bytes:
        """Return bytes of memory; address and size are multiples of 4."""

    def store(self, address: int, data: bytes) -> None:
        """Write bytes to memory; address and size are multiples of 4."""


class BoardMemory:
    """Memory of one host: `data` is the copy in the PC.

    Args:
        name: Name of the host.
        port: Access to the memory on the board.
        size: Bytes of the memory.
    """

    def __init__(self, name: str, port: MemoryPort, size: int) -> None:
        self.name = name
        self.data = bytearray(size)
        self.end = PAGE
        """End of the allocated memory, whose first page belongs to the kernel, so that no buffer has address 0."""
        self._port = port
        self._sent = bytearray(size)

    def allocate(self, size: int, align: int) -> int:
        """Return the address of zeroed memory. Raises MemoryError if the board has no room."""
        address = -(-self.end // align) * align
        if size < 0 or address + size > len(self.data):
            left, most = max(len(self.data) - address, 0), len(self.data)
            raise MemoryError(f"{self.name}: {size} bytes requested, {left} left of {most} on the board")
        self.end = address + size
        begin, end = self._words(address, size)
        self.data[begin:end] = bytes(end - begin)
        self._send(begin, end)
        return address

    def fetch(self, address: int, size: int) -> None:
        """Bring a range of the board's memory into the copy, after stores of the PC to it."""
        begin, end = self._words(address, size)
        self._flush(begin, end)
        self.data[begin:end] = self._sent[begin:end] = self._port.load(begin, end - begin)

    def store(self, address: int, data: bytes | memoryview) -> None:
        """Store bytes in the copy and on the board."""
        begin, end = self._words(address, len(data))
        for edge in {begin, end - WORD} if (address | len(data)) % WORD else ():
            self.fetch(edge, WORD)  # its other bytes may have been written by the NIC
        self.data[address : address + len(data)] = data
        self._send(begin, end)

    def flush(self) -> None:
        """Send what software has stored into views of the allocated memory."""
        self._flush(0, min(self.end + WORD - 1 & -WORD, len(self.data)))

    def _flush(self, begin: int, end: int) -> None:
        if self.data[begin:end] == self._sent[begin:end]:
            return
        now, before = (np.frombuffer(one, np.uint32)[begin // WORD : end // WORD] for one in (self.data, self._sent))
        for first, last in _runs(np.flatnonzero(now != before).tolist()):
            self._send(begin + WORD * first, begin + WORD * (last + 1))

    def _send(self, begin: int, end: int) -> None:
        data = bytes(self.data[begin:end])
        if data:
            self._port.store(begin, data)
            self._sent[begin:end] = data

    def _words(self, address: int, size: int) -> tuple[int, int]:
        """Return begin and end of the whole words of a range. Raises IndexError for a range beyond the memory."""
        if not 0 <= address <= address + size <= len(self.data):
            raise IndexError(f"{self.name}: {size} bytes at {address:#x} are beyond its {len(self.data)} bytes")
        return address & -WORD, address + size + WORD - 1 & -WORD


def _runs(changed: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last index of each run of changed words; words between belong to the NIC, perhaps."""
    first = last = changed[0]
    for index in changed[1:]:
        if index > last + 1:
            yield first, last
            first = index
        last = index
    yield first, last
