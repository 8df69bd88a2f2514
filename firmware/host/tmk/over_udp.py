"""TreadMarks over UDP: a socket for Requests, of which SIGIO tells, and one for Responses, where the process sleeps."""

from __future__ import annotations

from collections.abc import Callable

from firmware.host.tmk.substrate import Serve
from firmware.host.tmk.wire import HEADER_BYTES, RESPONSES, Message
from firmware.host.udp import Socket, Udp
from pymodels.host import Process, Sig

REQUESTS_PORT, RESPONSES_PORT = 5001, 5002
MOST = 32768
"""Bytes of a message; a longer one goes in parts (readings A7)."""
ROOM = 1 << 20
"""Bytes that may stand at a socket: Responses of all processes may come at once."""


class OverUdp:
    """Satisfies `substrate.Substrate`."""

    def __init__(self, udp: Udp, process: Process) -> None:
        self.process, self.me, self.nodes = process, udp.me, udp.nodes
        self._udp = udp
        self._out, self._out_of_handler, self._in, self._in_of_handler = (process.allocate(MOST) for _ in range(4))
        self._requests: Socket
        self._responses: Socket
        self._serve: Serve
        self._inside = 0
        """Critical sections, one within another."""
        self._late = False
        """A Request came in one."""
        self._serving = False
        self._parts: dict[tuple[int, int], list[Message]] = {}
        self.sent = self.sent_bytes = 0
        """Datagrams, and their bytes."""

    async def start(self, serve: Serve) -> None:
        """Two sockets."""
        self._serve = serve
        self._requests, self._responses = [await self._udp.socket(self.process) for _ in range(2)]
        self.process.on_signal(Sig.IO, self._signalled)
        for socket, port in ((self._requests, REQUESTS_PORT), (self._responses, RESPONSES_PORT)):
            await socket.bind(port)
            await socket.set_room(ROOM)
        await self._requests.set_async(True)

    async def stop(self) -> None:
        """Close them."""
        await self._requests.close()
        await self._responses.close()

    # ---- out

    async def send(self, to: int, message: Message) -> None:
        """In parts, one datagram each, through a buffer of the process."""
        port = RESPONSES_PORT if message.kind >= RESPONSES else REQUESTS_PORT
        most = MOST - HEADER_BYTES
        parts = max(1, -(-len(message.body) // most))
        buffer = self._out_of_handler if self._serving else self._out
        socket = self._requests if self._serving else self._responses
        for part in range(parts):
            data = message._replace(body=message.body[most * part : most * (part + 1)], part=part, parts=parts).pack()
            await self.process.spend("tmk_message")
            self.process.store_bytes(buffer, data)
            await self.process.copy_memory("tmk_copy", buffer, buffer, len(data))
            await socket.sendto(buffer, len(data), to, port)
            self.sent += 1
            self.sent_bytes += len(data)

    # ---- in

    async def response(self, what: str) -> Message:
        """Sleep at the socket of Responses."""
        inside, self._inside = self._inside, 0
        await self._serve_late()
        waits, who = self._udp.host.waits, self.process.who
        waits.want(who, what)
        message = None
        while message is None:
            message = await self._take(self._responses, self._in)
        waits.got(who, what)
        self._inside = inside
        return message

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        """Sleep until handlers have run."""
        inside, self._inside = self._inside, 0
        await self._serve_late()
        waits, who = self._udp.host.waits, self.process.who
        waits.want(who, what)
        while not condition():
            await self.process.set_mask([Sig.IO])
            if not condition():
                await self.process.suspend()
            await self.process.set_mask([])
        waits.got(who, what)
        self._inside = inside

    async def _take(self, socket: Socket, buffer: int) -> Message | None:
        """The next datagram; the message that it makes whole."""
        got = await socket.recvfrom(buffer, MOST)
        await self.process.spend("tmk_message")
        message = Message.unpack(self.process.load_bytes(buffer, got.size))
        if message.parts == 1:
            return message
        parts = self._parts.setdefault((message.source, message.sequence), [])
        parts.append(message)
        if len(parts) < message.parts:
            return None
        del self._parts[message.source, message.sequence]
        return message._replace(body=b"".join(part.body for part in sorted(parts, key=lambda part: part.part)))

    # ---- Requests

    async def _signalled(self, sig: Sig) -> None:
        """SIGIO: serve what has come, unless the process is where that may not be."""
        if self._inside:
            self._late = True
        else:
            await self._serve_all()

    async def _serve_all(self) -> None:
        self._late, self._serving = False, True
        while await self._udp.select(self.process, [self._requests], 0):
            message = await self._take(self._requests, self._in_of_handler)
            if message is not None:
                await self._serve(message)
        self._serving = False

    async def _serve_late(self) -> None:
        """Outside of the handler: the signal is masked meanwhile."""
        while self._late and not self._inside:
            with self.process.signals.masking(frozenset([Sig.IO])):
                await self._serve_all()

    def enter(self) -> None:
        """A critical section begins."""
        self._inside += 1

    async def leave(self) -> None:
        """It ends."""
        self._inside -= 1
        await self._serve_late()
