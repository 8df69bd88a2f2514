"""Copies by the host's CPU between transport buffers, early-arrival buffers and application buffers."""

from __future__ import annotations

from firmware.verbs import Host

WINDOW = 1 << 14
"""Bytes copied at once."""


class Copier:
    """Copier through host memory. Application buffers are Python's, so each copy is repeated there to take its time."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._source, self._target = host.allocate(WINDOW), host.allocate(WINDOW)
        self.bytes = 0
        """Number of bytes copied."""

    async def copy(self, data: bytes | bytearray | memoryview) -> bytes:
        """Return a copy of the bytes."""
        copied = bytearray()
        for at in range(0, len(data), WINDOW):
            part = data[at : at + WINDOW]
            self._source.view[: len(part)] = part
            await self._host.copy_memory("mpi_copy", self._target.address, self._source.address, len(part))
            copied += self._target.view[: len(part)]
        self.bytes += len(data)
        return bytes(copied)
