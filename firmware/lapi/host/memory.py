"""Memory of a task: data, counters, and the words changed by `Rmw`."""

from __future__ import annotations

from firmware.verbs import Host
from pymodels.host.process import Process

MASK = 0xFFFFFFFF


class Memory:
    """Memory of one task; addresses are those of its process."""

    def __init__(self, host: Host, process: Process) -> None:
        self._host, self._process = host, process

    def load(self, address: int, size: int) -> bytes:
        """Return bytes. Raises ProtectionFault."""
        return self._process.load_bytes(address, size) if size else b""

    def check(self, address: int, size: int, write: bool = True) -> None:
        """Check that a range is this task's. Raises ProtectionFault."""
        self._process.pieces(address, size, write)

    async def copy(self, address: int, physical: int, size: int) -> None:
        """Copy bytes from a buffer of HAL's."""
        for target, part in self._process.pieces(address, size, write=True):
            await self._host.copy_memory("lapi_copy", target, physical, part)
            physical += part

    def word(self, address: int) -> int:
        """Return a word as a signed integer."""
        (word,) = self._process.load_words(address, 1)
        return word - (word >> 31 << 32)

    def put(self, address: int, word: int) -> None:
        """Store a word."""
        self._process.store_words(address, (word & MASK,))
