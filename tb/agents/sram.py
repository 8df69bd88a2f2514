"""Byte view of the memory array of a block bench (`myri_sram`) for any word width."""

from __future__ import annotations

from typing import Any


class SramImage:
    """Byte access to the array behind `dut.u_sram`, in words of 64 or 32 bits.

    Args:
        dut: Handle with the instance `u_sram`: the bench's top level, or its `u_memory` (`sim_sram`).
        size: Bytes that the test uses, a multiple of the word size.
    """

    def __init__(self, dut: Any, size: int) -> None:
        self._words = dut.u_sram.mem
        self.size = size
        self.word = len(self._words[0]) // 8
        """Word size in bytes."""

    def fill(self, image: bytes) -> None:
        """Write the whole memory, padded with zeros; effective from the next time step."""
        self.store(0, image.ljust(self.size, b"\0"))

    def store(self, address: int, data: bytes) -> None:
        """Write whole words; effective from the next time step. Raises ValueError for an unaligned address or
        length.
        """
        word = self.word
        if address % word or len(data) % word:
            raise ValueError(f"{len(data)} bytes at {address:#x} are not whole words of {word} bytes")
        for at in range(0, len(data), word):
            self._words[(address + at) // word].value = int.from_bytes(data[at : at + word], "little")

    def load(self, address: int, count: int) -> bytes:
        """Return the present bytes of a range. Raises ValueError if the range contains X."""
        first, last = address // self.word, -(-(address + count) // self.word)
        data = b"".join(int(self._words[at].value).to_bytes(self.word, "little") for at in range(first, last))
        return data[address % self.word : address % self.word + count]
