"""Copies by the host's CPU between a transport's buffers, early-arrival buffers and those of the application."""

from __future__ import annotations

from firmware.verbs import Host

WINDOW = 1 << 14
"""Bytes that are copied at once."""


class Copier:
    """Buffers of the application are Python's. So that a copy takes what it takes in host memory, and its bytes stand
    there, they are copied from one place of it to another.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._source, self._target = host.allocate(WINDOW), host.allocate(WINDOW)
        self.bytes = 0
        """Copied so far."""

    async def copy(self, data: bytes | bytearray | memoryview) -> bytes:
        """The same bytes, copied."""
        copied = bytearray()
        for at in range(0, len(data), WINDOW):
            part = data[at : at + WINDOW]
            self._source.view[: len(part)] = part
            await self._host.copy_memory("mpi_copy", self._target.address, self._source.address, len(part))
            copied += self._target.view[: len(part)]
        self.bytes += len(data)
        return bytes(copied)
