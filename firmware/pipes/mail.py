"""Mail interface over Pipes: a 4-byte size precedes each message in the stream."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct

from firmware.mail import Mail
from firmware.pipes.host.library import Pipes

SIZE = Struct(">I")


class PipesMail(Mail):
    """Mail over Pipes: a message is one write and two reads."""

    most = 16384

    def __init__(self, pipes: Pipes) -> None:
        super().__init__(pipes.host)
        self._pipes = pipes

    async def start(self) -> None:
        await self._pipes.start()

    async def _send(self, node: int, data: bytes) -> None:
        await self._pipes.write(node, SIZE.pack(len(data)) + data)

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._pipes.wait(lambda: self._next() is not None)
            while (node := self._next()) is not None:
                (size,) = SIZE.unpack(await self._pipes.read(node, SIZE.size))
                self._came.append((node, await self._pipes.read(node, size)))

    def _next(self) -> int | None:
        """Return a node from which the size of the next message has arrived, or None."""
        return next((node for node in self._pipes.others if self._pipes.readable(node) >= SIZE.size), None)

    async def finish(self) -> None:
        await self._pipes.finish()


open_mail = PipesMail
