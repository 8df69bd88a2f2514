"""MPI over Pipes, the SP's native MPI: messages follow each other in the stream to a rank, each behind its envelope.

The first and the last 16 KB of a message go through the pipe and are copied twice on each side. The bytes between
bypass it through HAL's buffers (paper 001, 6.1; readings C17).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from firmware.mpi.host.transport import Arrival, Port, Words
from firmware.mpi.options import Options
from firmware.verbs import Host

ENVELOPE = struct.Struct(">iiiiII")
"""The message's words, its size, 0."""
END = 1 << 14
"""Bytes at each end of a message that go through the pipe."""


class Stream:
    """Receive state of the stream from a rank."""

    def __init__(self) -> None:
        self.envelope = bytearray()
        """Received bytes of the next message's envelope."""
        self.arrival: Arrival | None = None
        """Message whose bytes are arriving."""
        self.size = self.come = 0
        """Size of that message, and the bytes received."""


class OverPipes:
    """Transport over Pipes."""

    def __init__(self, host: Host, rank: int, size: int, pipes: Any, _: Options) -> None:
        self._host, self._pipes = host, pipes
        self._streams = {other: Stream() for other in range(size) if other != rank}
        self._port: Port | None = None

    async def start(self, port: Port) -> None:
        """Register as consumer of all streams; no connection is necessary."""
        self._port = port
        self._pipes.on_bytes(self._come)
        await self._pipes.start()

    async def send(self, rank: int, words: Words, data: bytes | memoryview) -> None:
        """Write envelope and data into the stream."""
        await self._host.spend("mpi_envelope")
        size, write = len(data), self._pipes.write
        begin = END if size > 2 * END else size
        await write(rank, ENVELOPE.pack(*words, size, 0) + bytes(data[:begin]))
        if size > begin:
            await write(rank, data[begin : size - END], direct=True)
            await write(rank, data[size - END :])

    async def poll(self) -> None:
        """Process received packets."""
        await self._pipes.poll()

    async def wait(self, condition: Callable[[], bool]) -> None:
        """Process packets until the condition holds."""
        await self._pipes.wait(condition)

    async def finish(self) -> None:
        """Wait until the other ranks have everything."""
        await self._pipes.finish()

    async def _come(self, rank: int, data: memoryview) -> None:
        """Process the next bytes of a stream, which may belong to several messages."""
        stream = self._streams[rank]
        while data:
            taken = await (self._envelope(rank, stream, data) if stream.arrival is None else self._data(stream, data))
            data = data[taken:]
            if stream.arrival is not None and stream.come == stream.size:
                arrival, stream.arrival = stream.arrival, None
                await arrival.end()

    async def _envelope(self, rank: int, stream: Stream, data: memoryview) -> int:
        """Process bytes of an envelope and return their number."""
        part = data[: ENVELOPE.size - len(stream.envelope)]
        stream.envelope += part
        if len(stream.envelope) == ENVELOPE.size:
            assert self._port is not None
            await self._host.spend("mpi_take_envelope")
            *words, stream.size, _ = ENVELOPE.unpack(stream.envelope)
            stream.envelope.clear()
            stream.come = 0
            stream.arrival = await self._port.begin(rank, (words[0], words[1], words[2], words[3]), stream.size)
        return len(part)

    @staticmethod
    async def _data(stream: Stream, data: memoryview) -> int:
        """Process bytes of a message and return their number."""
        part = data[: stream.size - stream.come]
        assert stream.arrival is not None
        await stream.arrival.put(stream.come, part)
        stream.come += len(part)
        return len(part)
