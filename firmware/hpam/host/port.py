"""HPAM as a process uses it: requests, replies, polling, on a card that is mapped into it (paper 002)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from firmware.common.host.code_image import CodeImage
from firmware.common.host.request_reply import NOBODY, Handler, Kind, Rules, size_of
from firmware.common.host.request_reply import Call as AnyCall
from firmware.hpam.host.daemon import Daemon
from firmware.hpam.host.errors import HpamError
from firmware.hpam.host.message import ARGUMENTS, FORMAT, MOST, SLOTS, TYPE, Header
from firmware.hpam.host.queues import SLOT, Queue
from firmware.hpam.host.sending import Sender
from firmware.nics.fifo.buffers import HARM, ONCE_NS, BufferPort, mapped
from pymodels.host.process import Process
from pymodels.host.signals import Sig
from pymodels.trace import TraceEvent

LOOK_NS = 20_000
"""A condition of the application's own is looked at again after so long."""
Call = AnyCall[Header]


class Port:
    """The card as a process has opened it. One thread of a process uses it at a time."""

    def __init__(
        self,
        daemon: Daemon,
        process: Process,
        me: int,
        routes: Mapping[int, bytes],
        key: int,
        image: CodeImage[Handler],
    ) -> None:
        self.process, self.key, self._daemon = process, key, daemon
        self.rules = Rules(process.who, HpamError, daemon.partners, image, ARGUMENTS, MOST)
        self._options = daemon.options
        self.incoming, self.outgoing = Queue(process, self._options.queue), Queue(process, self._options.queue)
        buffers = 1 + 2 * SLOTS * len(daemon.partners)
        self._memory = process.allocate(SLOT * (buffers + 1))
        """What is saved of the card's buffers, and last the message whose handler runs."""
        self._message = self._memory + SLOT * buffers
        self._card = BufferPort(process, mapped(process))
        self.sender = Sender(daemon, process, self._card, me, routes, key)
        self.slots = self.sender.slots
        self.busy = self.spinning = False
        self._found: int | None = None
        """The RX_READY that spinning has found."""
        self._handling: Call | None = None
        self._closed = False
        self.handled = self.executed_twice = self.duplicates = self.damaged = 0
        """Requests whose handlers have run; those that ran again; messages that came twice, or late; damaged ones."""
        self.foreign = 0
        """Messages that came for other processes."""
        self.waited: list[int] = []
        """How long each message was in queues that came while another process had the card, in picoseconds."""
        process.on_signal(Sig.USR1, self._stop)

    def saved(self) -> int:
        """Its address of the memory for what stands in its buffers."""
        return self._memory

    # ---- the calls of an application

    async def request(self, node: int, handler: Handler, *arguments: int, data: bytes = b"") -> None:
        """Send a request: its handler runs at the node, which answers it. Waits, polling, while the four request
        buffers of the node are taken. Raises HpamError, ImageError.
        """
        within = self._handling
        if within is not None and not self._options.unrestricted:
            self.rules.refuse_within(within.kind, node)
        self.check(node, arguments, data)
        address = self.rules.image.address(handler)
        what, holder = f"a request buffer of node {node}", f"host {node}"
        if within is None:
            await self.until(lambda: self.slots.free(node) is not None, what, holder)
            async with self._having_card():
                await self.sender.request(node, address, arguments, data)
            return
        if self.slots.free(node) is None:  # nobody polls while a handler waits
            self._daemon.host.waits.want(self.process.who, what, holder)
            await self._daemon.host.event(what).wait()
        await self.sender.request(node, address, arguments, data)

    async def poll(self) -> int:
        """Take what has come, and send again what is due; how many messages were handled."""
        self._check_open()
        count = 0
        async with self._having_card():
            await self.sender.look_at_clock()
            while await self._next():
                count += 1
        return count

    async def until(self, condition: Callable[[], bool], what: str = "a condition", holder: str = "") -> None:
        """Poll until it holds. `what` and its `holder` are what a hang report says of the wait."""
        self._check_open()
        waits = self._daemon.host.waits
        if condition():
            return
        waits.want(self.process.who, what, holder)
        while not condition():
            if not await self.poll():
                await self._spin()
        waits.got(self.process.who, what)

    async def close(self) -> None:
        """Close the card. Raises HpamError while requests are not answered."""
        self._check_open()
        if self.unanswered:
            waiting = ", ".join(f"node {node}" for node in sorted({node for node, _ in self.slots.requests}))
            raise HpamError(f"{self.process.who}: closing HPAM", f"requests to {waiting} have no reply yet", "poll until `unanswered` is 0")
        async with self._having_card():
            self._closed = True
            self.slots.replies.clear()
        await self._daemon.leave(self)

    @property
    def unanswered(self) -> int:
        """Requests that are not answered."""
        return len(self.slots.requests)

    # ---- the card

    @asynccontextmanager
    async def _having_card(self) -> AsyncIterator[None]:
        """A call that uses the card: it begins when the process has it, and the daemon waits for its end."""
        await self._turn()
        self.busy = True
        try:
            yield
        finally:
            self.busy = False
            self._daemon.gone.set()

    async def _turn(self) -> None:
        while self._daemon.active is not self:
            self._found = None
            await self.process.block(self._daemon.turned)

    async def _stop(self, sig: Sig) -> None:
        """The daemon's signal: look at the card no more, until the process has it again."""
        if self.spinning and self._daemon.active is not self:
            self.spinning = False
            self._daemon.gone.set()
            await self._turn()
            self.spinning = True

    async def _spin(self) -> None:
        """Look at the card until a packet is there, a request is due, or the process was stopped meanwhile."""
        await self._turn()
        if len(self.incoming) or self.outgoing.full:
            await self.process.give_way()
            return
        deadline = self.slots.deadline()
        left_ns = max(deadline - self._daemon.host.now, 1000) / 1000 if deadline else LOOK_NS
        self.spinning, switches = True, self._daemon.switches
        found = await self._card.ready(min(left_ns, LOOK_NS))
        self.spinning = False
        self._found = found if switches == self._daemon.switches else None
        self._daemon.gone.set()

    # ---- messages

    def _check_open(self) -> None:
        if self._closed:
            raise HpamError(f"{self.process.who}: HPAM", "it is closed", "open it again")

    def check(self, node: int, arguments: Sequence[int], data: object) -> None:
        """Raises HpamError for a message that cannot be sent."""
        self._check_open()
        self.rules.check(node, arguments, size_of(data))

    async def answer(self, call: Call, handler: int, arguments: tuple[int, ...], data: bytes) -> None:
        """The reply to a request; `handler`: its address."""
        await self.sender.reply(call.header, handler, arguments, data)

    def load(self, address: int, size: int) -> bytes:
        """Bytes of the process."""
        return self.process.load_bytes(address, size)

    async def _next(self) -> bool:
        """Handle the next message, first of the input queue, then of the card; whether there was one."""
        if len(self.incoming):
            await self.process.spend("hpam_queued")
            va, _ = self.incoming.first()
            header = Header.of(self.process.load_bytes(va, FORMAT.size))
            self._daemon.host.trace(TraceEvent.POLL_HIT, header.trace, 0, header.source)
            await self._handle(header, va + FORMAT.size)
            self.waited.append(self._daemon.host.now - self.incoming.take())
            return True
        ready, self._found = self._found or await self._card.ready(ONCE_NS), None
        return ready is not None and await self._from_card(ready)

    async def _from_card(self, ready: int) -> bool:
        """The packet that is ready; False: it is another process's, and there is no room for it."""
        header = Header.of(await self._card.words(ready, 0, FORMAT.size // 4))
        await self.process.spend("hpam_take")
        if ready & HARM or header.type != TYPE:
            self.damaged += 1
            await self._card.done(ready)
            return True
        if header.key != self.key:
            return await self._foreign(ready, header)
        self._daemon.host.trace(TraceEvent.POLL_HIT, header.trace, 0, header.source)
        self.process.store_bytes(self._message, await self._card.load(ready, FORMAT.size, header.body))
        await self._handle(header, self._message)
        await self._card.done(ready)
        return True

    async def _foreign(self, ready: int, header: Header) -> bool:
        """A message of another process goes to the output queue; while that is full it stays in the pool."""
        if self.outgoing.full:
            return False
        await self.process.spend("hpam_foreign")
        va, _ = self.outgoing.room()
        self.process.store_bytes(va, header.packed() + await self._card.load(ready, FORMAT.size, header.body))
        self.outgoing.put(self._daemon.host.now)
        self.foreign += 1
        await self._card.done(ready)
        return True

    async def _handle(self, header: Header, va: int) -> None:
        """A message of this process, whose body stands at an address."""
        if header.kind == Kind.REQUEST:
            await self._requested(header, va)
        else:
            await self._answered(header, va)

    async def _requested(self, header: Header, va: int) -> None:
        await self.process.spend("hpam_accept")
        reply_buffer = self.slots.buffer(Kind.REPLY, header.source, header.slot)
        if reply_buffer in self.slots.again and not await self.sender.is_sent(reply_buffer):
            return  # the last answer is still to be sent again; the request comes again, too
        new = self.slots.new(header.source, header.slot, header.sequence)
        if not new:
            self.duplicates += 1
            reply = self.slots.replies.get((header.source, header.slot))
            if new is None or reply is None:
                return
            if self._options.duplicates == "drop":
                await self.sender.again(reply_buffer, reply)
                return
            self.executed_twice += 1
        call = await self._run(header, va)
        if not call.replied:
            await self.sender.reply(header, NOBODY, (), b"")
        self.handled += 1

    async def _answered(self, header: Header, va: int) -> None:
        await self.process.spend("hpam_answered")
        sent = self.slots.requests.get((header.source, header.slot))
        if sent is None or sent.sequence != header.sequence:
            self.duplicates += 1
            return
        await self._run(header, va)
        del self.slots.requests[header.source, header.slot]

    async def _run(self, header: Header, va: int) -> Call:
        """The handler of a message."""
        host, source = self._daemon.host, header.source
        arguments, at = self.process.load_words(va, header.arguments), va + 4 * header.arguments
        call = self._handling = Call(self, header, source, Kind(header.kind), arguments, at, header.data)
        try:
            host.trace(TraceEvent.HANDLER_START, header.trace, 0, source)
            function = self.rules.handler(call.kind, source, header.handler)
            if function is not None:
                await function(call)
            host.trace(TraceEvent.HANDLER_END, header.trace, 0, source)
        finally:
            self._handling = None
        return call
