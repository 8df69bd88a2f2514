"""Memory of a pipe: a byte of the stream is at its position modulo the size of the pipe."""

from __future__ import annotations

from collections.abc import Iterator

from firmware.common.host.payload import MemoryRange
from firmware.verbs import Host


class Ring:
    """Ring buffer in pinned host memory."""

    def __init__(self, host: Host, size: int) -> None:
        self._host, self.size = host, size
        self._memory = host.allocate(size)

    def part(self, position: int, size: int) -> MemoryRange:
        """Return the contiguous memory range at a position, at most `size` bytes."""
        at = position % self.size
        return MemoryRange(self._memory.address + at, min(size, self.size - at))

    async def put(self, position: int, data: bytes | memoryview) -> None:
        """Copy bytes into the ring."""
        done = 0
        while done < len(data):
            address, size = self.part(position + done, len(data) - done)
            self._host.store_bytes(address, bytes(data[done : done + size]))
            await self._host.copy_memory("pipes_copy", address, address, size)
            done += size

    async def get(self, position: int, size: int) -> bytes:
        """Copy bytes out of the ring."""
        data = b"".join(bytes(view) for view in self.views(position, size))
        done = 0
        while done < size:
            address, here = self.part(position + done, size - done)
            await self._host.copy_memory("pipes_copy", address, address, here)
            done += here
        return data

    def views(self, position: int, size: int) -> Iterator[memoryview]:
        """Yield the bytes in place, in one or two pieces."""
        while size:
            address, here = self.part(position, size)
            begin = address - self._memory.address
            yield self._memory.view[begin : begin + here]
            position, size = position + here, size - here
