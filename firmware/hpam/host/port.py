"""HPAM as a process uses it: requests, replies, polling, on a card mapped into the process (paper 002)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from firmware.common.host.code_image import CodeImage
from firmware.common.host.request_reply import NO_HANDLER, Handler, Kind, Rules, size_of
from firmware.common.host.request_reply import Call as AnyCall
from firmware.hpam.host.daemon import Daemon
from firmware.hpam.host.errors import HpamError
from firmware.hpam.host.message import ARGUMENTS, FORMAT, MOST, SLOTS, TYPE, Header
from firmware.hpam.host.queues import SLOT, Queue
from firmware.hpam.host.sending import Sender
from firmware.nics.fifo.buffers import DAMAGED, ONCE_NS, BufferPort, mapped, received_at
from pymodels.host.process import Process
from pymodels.host.signals import Sig
from pymodels.trace import TraceEvent

LOOK_NS = 20_000
"""Interval in ns at which an application's own condition is evaluated while spinning."""
Call = AnyCall[Header]


class Port:
    """Card opened by a process. One thread of the process uses it at a time."""

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
        """Saved contents of the card's buffers, followed by the message being handled."""
        self._message = self._memory + SLOT * buffers
        self._card = BufferPort(process, mapped(process))
        self.sender = Sender(daemon, process, self._card, me, routes, key)
        self.slots = self.sender.slots
        self.busy = self.spinning = False
        self._found: int | None = None
        """RX_READY word found by spinning, or None."""
        self._handling: Call | None = None
        self._closed = False
        self.handled = self.executed_twice = self.duplicates = self.damaged = 0
        """Numbers of requests handled, of requests executed again, of duplicate or late messages, of damaged ones."""
        self.foreign = 0
        """Number of messages received for other processes."""
        self.waited: list[int] = []
        """Queueing time of each message that arrived while another process had the card, ps."""
        process.on_signal(Sig.USR1, self._stop)

    def saved(self) -> int:
        """Return the address of the memory for the saved card buffers."""
        return self._memory

    # ---- application calls

    async def request(self, node: int, handler: Handler, *arguments: int, data: bytes = b"") -> None:
        """Send a request, whose handler runs at another node and which is always answered.

        Polls while the node's four request buffers are in use.

        Args:
            node: destination node.
            handler: function of the code image to run there.
            arguments: up to 8 words of 32 bits.
            data: up to 1980 bytes.

        Raises:
            HpamError: an invalid argument, a closed card, or a call in a handler without `hpam.unrestricted=1`.
            ImageError: the handler is not in the code image.
        """
        within = self._handling
        if within is not None and not self._options.unrestricted:
            self.rules.reject_nested_request(within.kind, node)
        self.check(node, arguments, data)
        address = self.rules.image.address(handler)
        what, holder = f"a request buffer of node {node}", f"host {node}"
        if within is None:
            await self.until(lambda: self.slots.free(node) is not None, what, holder)
            async with self._having_card():
                await self.sender.request(node, address, arguments, data)
            return
        if self.slots.free(node) is None:  # no task polls while a handler waits
            self._daemon.host.waits.want(self.process.who, what, holder)
            await self._daemon.host.event(what).wait()
        await self.sender.request(node, address, arguments, data)

    async def poll(self) -> int:
        """Run the handlers of received messages and retransmit overdue requests. Return how many were handled."""
        self._check_open()
        count = 0
        async with self._having_card():
            await self.sender.look_at_clock()
            while await self._next():
                count += 1
        return count

    async def until(self, condition: Callable[[], bool], what: str = "a condition", holder: str = "") -> None:
        """Poll until `condition()` is true. `what` and `holder` describe the wait in a hang report."""
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
        """Close the card. Raises HpamError while requests have no reply."""
        self._check_open()
        if self.unanswered:
            waiting = ", ".join(f"node {node}" for node in sorted({node for node, _ in self.slots.requests}))
            raise HpamError(
                f"{self.process.who}: closing HPAM",
                f"requests to {waiting} have no reply yet",
                "poll until `unanswered` is 0",
            )
        async with self._having_card():
            self._closed = True
            self.slots.replies.clear()
        await self._daemon.leave(self)

    @property
    def unanswered(self) -> int:
        """Number of requests sent by this process that have no reply yet."""
        return len(self.slots.requests)

    # ---- the card

    @asynccontextmanager
    async def _having_card(self) -> AsyncIterator[None]:
        """Wait for the card, and keep the daemon from taking it during a call."""
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
        """Stop polling the card until the process has it again (handler of the daemon's signal)."""
        if self.spinning and self._daemon.active is not self:
            self.spinning = False
            self._daemon.gone.set()
            await self._turn()
            self.spinning = True

    async def _spin(self) -> None:
        """Poll the card until a packet arrives, a request is overdue, or the process was stopped."""
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
            raise HpamError(f"{self.process.who}: HPAM", "the card is closed", "open it again")

    def check(self, node: int, arguments: Sequence[int], data: object) -> None:
        """Check destination, arguments and data of a message. Raises HpamError."""
        self._check_open()
        self.rules.check(node, arguments, size_of(data))

    async def answer(self, call: Call, handler: int, arguments: tuple[int, ...], data: bytes) -> None:
        """Send the reply to a request; `handler` is an address in the code image."""
        await self.sender.reply(call.header, handler, arguments, data)

    def load(self, address: int, size: int) -> bytes:
        """Return bytes of the process's memory."""
        return self.process.load_bytes(address, size)

    async def _next(self) -> bool:
        """Handle the next message, of the input queue first, then of the card. Return False if there is none."""
        if len(self.incoming):
            await self.process.spend("hpam_queued")
            va, physical = self.incoming.first()
            message = self._daemon.host.message_at(physical)
            header = Header.decode(self.process.load_bytes(va, FORMAT.size))
            self._daemon.host.trace(TraceEvent.POLL_HIT, header.trace, 0, header.source, message=message)
            await self._handle(header, va + FORMAT.size, message)
            self.waited.append(self._daemon.host.now - self.incoming.take())
            return True
        ready, self._found = self._found or await self._card.ready(ONCE_NS), None
        return ready is not None and await self._from_card(ready)

    async def _from_card(self, ready: int) -> bool:
        """Take the ready packet. Return False if it is another process's and the output queue is full."""
        header = Header.decode(await self._card.words(ready, 0, FORMAT.size // 4))
        await self.process.spend("hpam_take")
        if ready & DAMAGED or header.type != TYPE:
            self.damaged += 1
            await self._card.done(ready)
            return True
        if header.key != self.key:
            return await self._foreign(ready, header)
        message = self._message_of(ready)
        self._daemon.host.trace(TraceEvent.POLL_HIT, header.trace, 0, header.source, message=message)
        self.process.store_bytes(self._message, await self._card.load(ready, FORMAT.size, header.body))
        await self._handle(header, self._message, message)
        await self._card.done(ready)
        return True

    def _message_of(self, ready: int) -> int:
        """Return the number in the trace of the message of a received packet."""
        host = self._daemon.host
        return host.message_at(host.nic_base + received_at(ready))

    async def _foreign(self, ready: int, header: Header) -> bool:
        """Move another process's message to the output queue, or leave it in the pool while that is full."""
        if self.outgoing.full:
            return False
        await self.process.spend("hpam_foreign")
        va, physical = self.outgoing.room()
        self._daemon.host.put_message(physical, self._message_of(ready))
        self.process.store_bytes(va, header.packed() + await self._card.load(ready, FORMAT.size, header.body))
        self.outgoing.put(self._daemon.host.now)
        self.foreign += 1
        await self._card.done(ready)
        return True

    async def _handle(self, header: Header, va: int, message: int) -> None:
        """Handle a message of this process.

        Args:
            header: Header of the message.
            va: Address of its body.
            message: Its number in the trace.
        """
        if header.kind == Kind.REQUEST:
            await self._requested(header, va, message)
        else:
            await self._answered(header, va, message)

    async def _requested(self, header: Header, va: int, message: int) -> None:
        await self.process.spend("hpam_accept")
        reply_buffer = self.slots.buffer(Kind.REPLY, header.source, header.slot)
        if reply_buffer in self.slots.again and not await self.sender.is_sent(reply_buffer):
            return  # the reply is still being retransmitted; the request will be retransmitted, too
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
        call = await self._run(header, va, message)
        if not call.replied:
            await self.sender.reply(header, NO_HANDLER, (), b"")
        self.handled += 1

    async def _answered(self, header: Header, va: int, message: int) -> None:
        await self.process.spend("hpam_answered")
        sent = self.slots.requests.get((header.source, header.slot))
        if sent is None or sent.sequence != header.sequence:
            self.duplicates += 1
            return
        await self._run(header, va, message)
        del self.slots.requests[header.source, header.slot]

    async def _run(self, header: Header, va: int, message: int) -> Call:
        """Run the handler of a message."""
        host, source = self._daemon.host, header.source
        arguments, at = self.process.load_words(va, header.arguments), va + 4 * header.arguments
        call = self._handling = Call(self, header, source, Kind(header.kind), arguments, at, header.data)
        try:
            host.trace(TraceEvent.HANDLER_START, header.trace, 0, source, message=message)
            function = self.rules.handler(call.kind, source, header.handler)
            if function is not None:
                await function(call)
            host.trace(TraceEvent.HANDLER_END, header.trace, 0, source, message=message)
        finally:
            self._handling = None
        return call
