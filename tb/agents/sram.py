"""The memory array of a block bench (`myri_sram_stub`) seen as bytes, whatever its word."""

from __future__ import annotations

from typing import Any


class SramImage:
    """Reads and writes the array behind `dut.u_sram`, a word of 64 or 32 bits at a time.

    Args:
        dut: What has the instance `u_sram`: the bench's top level, or its `u_memory` (`sim_sram`).
        size: Bytes of it that the test uses, a multiple of a word.
    """

    def __init__(self, dut: Any, size: int) -> None:
        self._words = dut.u_sram.mem
        self.size = size
        self.word = len(self._words[0]) // 8
        """Bytes of a word."""

    def fill(self, image: bytes) -> None:
        """Write the whole memory; in force from the next time step."""
        self.store(0, image.ljust(self.size, b"\0"))

    def store(self, address: int, data: bytes) -> None:
        """Write bytes whose address and length are multiples of a word; in force from the next time step."""
        word = self.word
        if address % word or len(data) % word:
            raise ValueError(f"{len(data)} bytes at {address:#x} are not whole words")
        for at in range(0, len(data), word):
            self._words[(address + at) // word].value = int.from_bytes(data[at : at + word], "little")

    def load(self, address: int, count: int) -> bytes:
        """Bytes as they stand now. Raises ValueError where the simulator holds X."""
        first, last = address // self.word, -(-(address + count) // self.word)
        data = b"".join(int(self._words[at].value).to_bytes(self.word, "little") for at in range(first, last))
        return data[address % self.word : address % self.word + count]
