"""MPI on Pipes, the SP's native one: messages follow each other in the stream to a rank, each behind its envelope.

The first and the last 16 KB of a message go through the pipe, and are copied twice on each side: what lies between goes
straight into HAL's buffers and out of them (paper 001, 6.1; readings C17).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from firmware.mpi.host.transport import Arrival, Port, Words
from firmware.mpi.options import Options
from firmware.verbs import Host

ENVELOPE = struct.Struct(">iiiiII")
"""The message's words, its bytes, 0."""
END = 1 << 14
"""Bytes at each end of a message that go through the pipe."""


class Stream:
    """What has come of the stream from a rank."""

    def __init__(self) -> None:
        self.envelope = bytearray()
        """Of the next message, as far as it has come."""
        self.arrival: Arrival | None = None
        """The message whose bytes come."""
        self.size = self.come = 0
        """Its bytes, and those of them that have come."""


class OverPipes:
    """A `Transport`."""

    def __init__(self, host: Host, rank: int, size: int, pipes: Any, _: Options) -> None:
        self._host, self._pipes = host, pipes
        self._streams = {other: Stream() for other in range(size) if other != rank}
        self._port: Port | None = None

    async def start(self, port: Port) -> None:
        """Have the bytes of all streams; no connection is made."""
        self._port = port
        self._pipes.on_bytes(self._come)
        await self._pipes.start()

    async def send(self, rank: int, words: Words, data: bytes | memoryview) -> None:
        """Envelope and data into the stream."""
        await self._host.spend("mpi_envelope")
        size, write = len(data), self._pipes.write
        begin = END if size > 2 * END else size
        await write(rank, ENVELOPE.pack(*words, size, 0) + bytes(data[:begin]))
        if size > begin:
            await write(rank, data[begin : size - END], direct=True)
            await write(rank, data[size - END :])

    async def poll(self) -> None:
        """Take in the packets that are here."""
        await self._pipes.poll()

    async def wait(self, condition: Callable[[], bool]) -> None:
        """Take in packets until the condition holds."""
        await self._pipes.wait(condition)

    async def finish(self) -> None:
        """The other ranks have everything."""
        await self._pipes.finish()

    async def _come(self, rank: int, data: memoryview) -> None:
        """The next bytes of a stream: parts of one message, or of several."""
        stream = self._streams[rank]
        while data:
            taken = await (self._envelope(rank, stream, data) if stream.arrival is None else self._data(stream, data))
            data = data[taken:]
            if stream.arrival is not None and stream.come == stream.size:
                arrival, stream.arrival = stream.arrival, None
                await arrival.end()

    async def _envelope(self, rank: int, stream: Stream, data: memoryview) -> int:
        """The next bytes of an envelope; how many."""
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
        """The next bytes of a message; how many."""
        part = data[: stream.size - stream.come]
        assert stream.arrival is not None
        await stream.arrival.put(stream.come, part)
        stream.come += len(part)
        return len(part)
