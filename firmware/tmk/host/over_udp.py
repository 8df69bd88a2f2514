"""TreadMarks over UDP: a socket for Requests, announced by SIGIO, and a socket for Responses, at which the process
sleeps.

Where messages may be lost (`resend_us`), a SIGALRM handler retransmits overdue Requests (`resending.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from firmware.tmk.host.account import Share
from firmware.tmk.host.resending import Resending
from firmware.tmk.host.substrate import MOST, Serve, Substrate
from firmware.tmk.host.wire import Message
from firmware.udp.host import Socket, Udp
from pymodels.host import Process, Sig

REQUESTS_PORT, RESPONSES_PORT = 5001, 5002
MANAGER = 0
LINGER = 20
"""Periods for which the barrier manager still answers processes that have missed the last departure."""
ROOM = 1 << 20
"""Receive room of a socket in bytes; Responses of all processes may arrive at once."""


class OverUdp(Substrate):
    """UDP substrate of one process."""

    tells = frozenset([Sig.IO])

    def __init__(self, udp: Udp, process: Process, nodes: int, resend_us: int = 0) -> None:
        super().__init__(udp.host, process, udp.me, nodes)
        self._period_ns = resend_us * 1000
        if resend_us:
            self._resending = Resending(self.me)
        self.resent = 0
        """Number of retransmissions."""
        self._udp = udp
        self._out, self._out_of_handler, self._in, self._in_of_handler = (process.allocate(MOST) for _ in range(4))
        self._requests: Socket
        self._responses: Socket

    async def start(self, serve: Serve) -> None:
        """Open two sockets, and the timer if messages may be lost."""
        self._serve = serve
        self._requests, self._responses = [await self._udp.socket(self.process) for _ in range(2)]
        self.process.on_signal(Sig.IO, self._signalled)
        for socket, port in ((self._requests, REQUESTS_PORT), (self._responses, RESPONSES_PORT)):
            await socket.bind(port)
            await socket.set_room(ROOM)
        await self._requests.set_async(True)
        if self._resending:
            self.process.on_signal(Sig.ALRM, self._look, self.tells)
            await self.process.set_timer(self._period_ns, self._period_ns)

    async def stop(self) -> None:
        """Close the sockets, after lingering at the barrier manager."""
        if self._resending:
            end = self.host.now + LINGER * self._period_ns * 1000 * (self.me == MANAGER)
            while self.host.now < end:
                await self.process.suspend()
            await self.process.set_timer(0)
        await self._requests.close()
        await self._responses.close()

    async def _put(self, to: int, data: bytes, response: bool) -> None:
        """Send a datagram."""
        buffer = self._out_of_handler if self._serving else self._out
        socket = self._requests if self._serving else self._responses
        self.process.store_bytes(buffer, data)
        await socket.sendto(buffer, len(data), to, RESPONSES_PORT if response else REQUESTS_PORT)

    async def response(self, what: str, sources: Collection[int]) -> Message:
        """Wait at the socket of Responses."""
        message = None
        async with self._waiting(what):
            while message is None:
                message = await self._take(self._responses, self._in)
                if message and self._resending and not self._resending.answers(message):
                    message = None
        return message

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        """Sleep until handlers have made the condition true."""
        async with self._waiting(what):
            while not condition():
                await self.process.set_mask(self.tells)
                if not condition():
                    await self.process.suspend()
                await self.process.set_mask([])

    async def _take(self, socket: Socket, buffer: int) -> Message | None:
        """Receive the next datagram. Return the message that it completes, or None."""
        with self.account.during(Share.WAIT):
            got = await socket.recvfrom(buffer, MOST)
            self.account.since(got.arrived, Share.COMMUNICATION)
        with self.account.during(Share.COMMUNICATION):
            await self.process.spend("tmk_message")
            return self._whole(self.process.load_bytes(buffer, got.size))

    async def _signalled(self, sig: Sig) -> None:
        """Handle SIGIO."""
        await self._notified()

    async def _serve_arrived(self) -> None:
        """Serve all Requests that the kernel has received."""
        while await self._come():
            message = await self._take(self._requests, self._in_of_handler)
            if message is None:
                continue
            if self._resending is None or self._resending.is_new(message):
                await self._serve(message)
            elif (done := self._resending.done_for(message)) is not None:
                self.resent += 1
                await self.send(done.to, done.message)

    async def _look(self, sig: Sig) -> None:
        """Handle SIGALRM: retransmit the overdue Requests of a waiting program."""
        if self._inside or self._serving or self._resending is None:
            return
        for sent in self._resending.overdue(self.host.now - self._period_ns * 1000):
            self.resent += 1
            await self.send(sent.to, sent.message)

    async def _come(self) -> bool:
        with self.account.during(Share.COMMUNICATION):
            return bool(await self._udp.select(self.process, [self._requests], 0))
