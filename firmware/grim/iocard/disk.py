"""Disk of a server: blocks in a file, and the checks of a request, which a card and a host share."""

from __future__ import annotations

from pathlib import Path

from firmware.grim.formats.iocard import DiskOp, Status
from pymodels.errors import SanlabError


class Disk:
    """Blocks of equal size in a file, whose size is a multiple of a block."""

    def __init__(self, path: Path, block_bytes: int) -> None:
        """Open the file.

        Args:
            path: The file.
            block_bytes: Size of a block in bytes.

        Raises:
            SanlabError: The file is missing, empty, or no multiple of a block.
        """
        if not path.is_file():
            raise SanlabError(f"disk {path}", "the file does not exist", "create it, or name another file")
        size = path.stat().st_size
        if not size or size % block_bytes:
            raise SanlabError(
                f"disk {path}", f"{size} bytes are not a positive multiple of {block_bytes}", "give whole blocks"
            )
        self._path, self.block_bytes, self.blocks = path, block_bytes, size // block_bytes

    def check(self, operation: int, block: int, count: int, most: int) -> Status:
        """Return DONE for a valid request, or the cause of its rejection.

        Args:
            operation: A `DiskOp`.
            block: Number of the block.
            count: Number of bytes.
            most: Most bytes of one request, apart from the size of a block.
        """
        if operation not in tuple(DiskOp):
            return Status.OPERATION
        if not 0 <= block < self.blocks:
            return Status.BLOCK
        return Status.DONE if 0 < count <= min(most, self.block_bytes) else Status.LENGTH

    def read(self, block: int, count: int) -> bytes:
        """Return the first bytes of a block."""
        with self._path.open("rb") as file:
            file.seek(block * self.block_bytes)
            return file.read(count)

    def write(self, block: int, data: bytes) -> None:
        """Replace the first bytes of a block."""
        with self._path.open("r+b") as file:
            file.seek(block * self.block_bytes)
            file.write(data)
