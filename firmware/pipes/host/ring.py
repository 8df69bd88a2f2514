"""A pipe's memory: a byte of a stream stands at its position, modulo the size of the pipe."""

from __future__ import annotations

from collections.abc import Iterator

from firmware.hal.host.interface import Stretch
from firmware.verbs import Host


class Ring:
    """Pinned memory of a host."""

    def __init__(self, host: Host, size: int) -> None:
        self._host, self.size = host, size
        self._memory = host.allocate(size)

    def part(self, position: int, size: int) -> Stretch:
        """The bytes from a position on, as far as they stand in one piece."""
        at = position % self.size
        return Stretch(self._memory.address + at, min(size, self.size - at))

    async def put(self, position: int, data: bytes | memoryview) -> None:
        """Copy bytes into it."""
        done = 0
        while done < len(data):
            address, size = self.part(position + done, len(data) - done)
            self._host.store_bytes(address, bytes(data[done : done + size]))
            await self._host.copy_memory("pipes_copy", address, address, size)
            done += size

    async def get(self, position: int, size: int) -> bytes:
        """Copy bytes out of it."""
        data = b"".join(bytes(view) for view in self.views(position, size))
        done = 0
        while done < size:
            address, here = self.part(position + done, size - done)
            await self._host.copy_memory("pipes_copy", address, address, here)
            done += here
        return data

    def views(self, position: int, size: int) -> Iterator[memoryview]:
        """The bytes themselves, in one piece or two."""
        while size:
            address, here = self.part(position, size)
            begin = address - self._memory.address
            yield self._memory.view[begin : begin + here]
            position, size = position + here, size - here
