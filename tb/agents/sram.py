"""The memory array of a block bench (`myri_sram_stub`) seen as bytes."""

from __future__ import annotations

from typing import Any


class SramImage:
    """Reads and writes the array behind `dut.u_sram`, a 64-bit word at a time.

    Args:
        dut: The bench's top level, with an instance `u_sram`.
        size: Bytes of it that the test uses, a multiple of 8.
    """

    def __init__(self, dut: Any, size: int) -> None:
        self._words = dut.u_sram.mem
        self.size = size

    def fill(self, image: bytes) -> None:
        """Write the whole memory; in force from the next time step."""
        self.store(0, image.ljust(self.size, b"\0"))

    def store(self, address: int, data: bytes) -> None:
        """Write bytes whose address and length are multiples of 8; in force from the next time step."""
        if address % 8 or len(data) % 8:
            raise ValueError(f"{len(data)} bytes at {address:#x} are not whole words")
        for at in range(0, len(data), 8):
            self._words[(address + at) // 8].value = int.from_bytes(data[at : at + 8], "little")

    def load(self, address: int, count: int) -> bytes:
        """Bytes as they stand now. Raises ValueError where the simulator holds X."""
        first, last = address // 8, -(-(address + count) // 8)
        data = b"".join(int(self._words[word].value).to_bytes(8, "little") for word in range(first, last))
        return data[address % 8 : address % 8 + count]
