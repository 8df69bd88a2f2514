"""TreadMarks over VIA (paper 001, 5.3): two VIs with each other process, one for Requests and one for Responses.

Receives are posted ahead in registered buffers. There are four ways to notice Requests.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from firmware.tmk.host.account import Share
from firmware.tmk.host.errors import TmkError
from firmware.tmk.host.substrate import MOST, Serve, Substrate
from firmware.tmk.host.wire import RESPONSES, Kind, Message
from firmware.tmk.options import Options
from firmware.via.formats import ALIGNMENT, Reliability, Status
from firmware.via.host import Descriptor, Vi, Via, VipNic
from firmware.via.host.library.spinning import spin_on
from pymodels.host import Moves, Process, Sig

CONNECT_US = 900_000.0
"""Longest wait for processes that start later, us."""
REQUESTS, RESPONSE = 0, 1
"""Index of the two VIs of a pair."""


class Line:
    """VI with another process and its registered memory: a send buffer, receive buffers, and a descriptor for each."""

    def __init__(self, nic: VipNic, node: int, vi: Vi, base: int, handle: int, receives: int) -> None:
        self.node, self.vi, self._handle = node, vi, handle
        places = [base + (MOST + ALIGNMENT) * index for index in range(1 + receives)]
        self._buffer = places[0]
        self._send: Descriptor = nic.descriptor(places[0] + MOST, handle)
        self._sending = False
        self._receives = [(at, nic.descriptor(at + MOST, handle)) for at in places[1:]]
        """Receive buffers with descriptors, oldest first."""

    async def open(self) -> None:
        """Post all receives."""
        for place, descriptor in self._receives:
            await self.vi.post_receive(descriptor.receive([(place, self._handle, MOST)]))

    async def send(self, process: Process, data: bytes) -> None:
        """Wait for the previous send, copy the data, and post the send ("New Send")."""
        if self._sending:
            await self.vi.poll_send()
        self._sending = True
        process.store_bytes(self._buffer, data)
        await process.copy_memory("tmk_copy", self._buffer, self._buffer, len(data))
        await self.vi.post_send(self._send.send([(self._buffer, self._handle, len(data))]))

    async def received(self, process: Process, copied: bool) -> bytes:
        """Return the bytes of the oldest completed receive and post it again; `copied` charges a copy."""
        done = await self.vi.receive_done()
        if done is None or done.status & Status.ERRORS:
            what = f"{process.who}: message of process {self.node}"
            raise TmkError(
                what,
                f"VI {self.vi.number}: {done.status!r}" if done else "its receive is missing",
                "increase tmk.prepost",
            )
        place, descriptor = self._receives.pop(0)
        data = process.load_bytes(place, done.length)
        if copied:
            await process.copy_memory("tmk_copy", place, place, len(data))
        await process.spend("tmk_message")
        self._receives.append((place, descriptor))
        await self.vi.post_receive(descriptor.receive([(place, self._handle, MOST)]))
        return data


class OverVia(Substrate):
    """VIA substrate of one process."""

    def __init__(self, via: Via, process: Process, nodes: int, options: Options) -> None:
        super().__init__(via.host, process, via.kernel_agent.me, nodes)
        self._via, self._options = via, options
        self.registered = 0
        """Bytes of registered memory."""
        self.lines: dict[int, tuple[Line, ...]] = {}
        """VIs by process: for Requests, for Responses."""
        self._of_vi: dict[int, Line] = {}
        self._queue: Any = None
        self._found: list[tuple[Vi, bool]] = []
        """Completions taken by the communication thread and not served yet."""
        self._answers: list[Message] = []
        """Responses received among the Requests, with one VI a pair."""
        self._rest: dict[tuple[int, bool, int], list[bytes]] = {}
        """Unsent parts of long messages, by process, True for a Response, and sequence number."""
        self._moves = Moves()
        """Counter of Requests taken, which advance the completion queue."""
        self._polling = False
        """True while the program's thread polls for Requests."""
        self._running = False
        self.notified = options.scheme != "polling"
        if options.scheme in ("interrupt", "timer"):
            self.tells = frozenset([Sig.USR1 if options.scheme == "interrupt" else Sig.ALRM])

    # ---- connections

    async def start(self, serve: Serve) -> None:
        """Connect to all other processes, then enable the notification of Requests."""
        self._serve = serve
        nic, options = await self._via.open(self.process), self._options
        tag, both = nic.create_ptag(), options.vis == 2
        requests = options.prepost or max(1, self.nodes - 1)
        receives = (requests, 1) if both else (requests + 1,)
        self._queue = await nic.create_cq(max(1, len(self.others)) * receives[0])
        for node in self.others:
            lines = []
            for index, count in enumerate(receives):
                size = (MOST + ALIGNMENT) * (1 + count)
                base = self.process.allocate(size)
                handle = await nic.register_memory(base, size, tag)
                self.registered += size
                queue = self._queue if index == REQUESTS else None
                vi = await nic.create_vi(tag, Reliability.UNRELIABLE, receive_cq=queue)
                lines.append(Line(nic, node, vi, base, handle, count))
                self._of_vi[vi.number] = lines[-1]
                await lines[-1].open()
                name = index << 24 | min(self.me, node) << 12 | max(self.me, node)
                await vi.connect_peer_request(node, name, CONNECT_US)
            self.lines[node] = tuple(lines)
        for lines_of in self.lines.values():
            for line in lines_of:
                await line.vi.connect_peer_wait()
        self._running = True
        await self._listen()

    async def _listen(self) -> None:
        process, scheme = self.process, self._options.scheme
        for sig in self.tells:
            process.on_signal(sig, self._signalled)
        if scheme == "interrupt":
            for lines in self.lines.values():
                await lines[REQUESTS].vi.receive_signal(Sig.USR1)
        elif scheme == "timer":
            await process.set_timer(self._options.timer_us * 1000, self._options.timer_us * 1000)
        elif scheme == "thread" and self.others:
            process.spawn(self._thread(), "communication")

    async def stop(self) -> None:
        """Disable the notification of Requests."""
        self._running = False
        if self._options.scheme == "interrupt":
            for lines in self.lines.values():
                await lines[REQUESTS].vi.receive_signal(None)
        elif self._options.scheme == "timer":
            await self.process.set_timer(0)

    # ---- messages

    async def _put(self, to: int, data: bytes, response: bool) -> None:
        """Send a message by a copy into a registered buffer."""
        await self.lines[to][-1 if response else REQUESTS].send(self.process, data)

    def _at_once(self, to: int, message: Message, parts: list[bytes]) -> list[bytes]:
        """Return the first part, since a VI may have a single receive posted."""
        if len(parts) > 1:
            self._rest[to, message.kind >= RESPONSES, message.sequence] = parts[1:]
        return parts[:1]

    async def _go_on(self, told: Message) -> None:
        """Send the next part of a message, for which there is room now."""
        response = told.kind is Kind.NEXT
        key = told.source, response, told.sequence
        data, *rest = self._rest.pop(key)
        if rest:
            self._rest[key] = rest
        await self._send_part(told.source, data, response)

    async def _take(self, line: Line, copied: bool) -> Message | None:
        """Take a received message. Request its next part if there is one; return the message when it is complete."""
        with self.account.during(Share.COMMUNICATION):
            data = await line.received(self.process, copied)
        message = Message.unpack(data)
        if message.part + 1 < message.parts:
            kind = Kind.NEXT if message.kind >= RESPONSES else Kind.GO_ON
            await self.send(message.source, Message(kind, self.me, message.part + 1, message.sequence))
        return self._whole(data)

    async def response(self, what: str, sources: Collection[int]) -> Message:
        """Poll the Response VIs of the given sources ("New Recv", "New Recv_any") with signals enabled."""
        if self._options.vis == 1:
            await self.until(lambda: bool(self._answers), what)
            return self._answers.pop(0)
        lines, message = [self.lines[node][RESPONSE] for node in sources], None
        while message is None:
            async with self._waiting(what):
                while not (come := [line for line in lines if line.vi.receives.over()]):
                    await self._spin(
                        [(place, 0) for line in lines if (place := line.vi.receives.awaited()) is not None]
                    )
            message = await self._take(come[0], copied=True)
            if message is not None and message.kind is Kind.GO_ON:
                await self._go_on(message)
                message = None
        return message

    async def _spin(self, watches: Collection[tuple[int, int]]) -> None:
        """Spin until one of the words changes; without interrupts, poll for Requests as well."""
        if self._options.scheme not in ("polling", "timer"):
            await spin_on(self.process, [*watches])
            return
        await spin_on(self.process, [*watches, *self._queue.watches()], self._moves)
        if self._queue.over:
            await self.poll()

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        """Poll the completion queue of Requests until the condition holds."""
        async with self._waiting(what):
            self._polling = True
            while not condition():
                if self._found and not self._serving:
                    await self.poll()
                    continue
                await spin_on(self.process, self._queue.watches(), self._moves)
                if self._serving:  # by the communication thread
                    await self.process.block(self._free)
                elif self._queue.over:
                    await self.poll()
            self._polling = False
            self._late |= self._queue.over  # its signal was for this loop

    # ---- Requests

    async def _signalled(self, sig: Sig) -> None:
        """Handle SIGUSR1 of the kernel or SIGALRM."""
        if not self._polling:
            await self._notified()

    async def _thread(self) -> None:
        """Sleep until a Request arrives and serve it (communication thread)."""
        while self._running:
            self._found.append(await self._queue.wait())
            await self._notified()

    async def _serve_arrived(self) -> None:
        """Serve Requests in place one by one; each receive is posted again before the reply."""
        while (found := await self._come()) is not None:
            self._moves.moved()
            message = await self._take(self._of_vi[found[0].number], copied=False)
            if message is not None and message.kind in (Kind.NEXT, Kind.GO_ON):
                await self._go_on(message)
            elif message is not None and message.kind >= RESPONSES:
                self._answers.append(message)
            elif message is not None:
                await self._serve(message)
        self._moves.moved()

    async def _come(self) -> tuple[Vi, bool] | None:
        """Return the next completion of the Requests' queue, or None."""
        if self._found:
            return self._found.pop(0)
        with self.account.during(Share.COMMUNICATION):
            found: tuple[Vi, bool] | None = await self._queue.done()
            return found
