"""Sending and polling: what happens between the API and the queues.

One message at a time is injected into a channel: who comes second waits, or, inside a handler, goes behind the
overflow queue in host memory, so that a handler never waits for the network (paper 000, 4.4.3). While the overflow
queue is not empty, all further sends go behind it (readings B6).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence

from firmware.host.grim.errors import GrimError
from firmware.host.grim.handlers import FIRST_NUMBER, Handlers
from firmware.host.grim.incoming import Incoming
from firmware.host.grim.outgoing import Outgoing, Piece
from firmware.host.grim.segments import Target
from firmware.nic.grim.layout import Layout
from firmware.nic.grim.options import Options
from firmware.verbs import Buffer, Host
from pymodels.formats.grim import MessageType
from pymodels.trace import TraceEvent

Local = tuple[int, int, tuple[int, int, int, int], bytes]
"""A message to the own node: source, handler, arguments, payload."""


class Messenger:
    """The queues of one host's endpoints."""

    def __init__(self, host: Host, layout: Layout, options: Options, handlers: Handlers, buffers: list[Buffer]) -> None:
        self._host = host
        self._options = options
        self._handlers = handlers
        channels = range(options.channels)
        self.outgoing = [Outgoing(host, layout, options, channel) for channel in channels]
        self.incoming = [Incoming(host, layout, channel, buffers[channel]) for channel in channels]
        self.errors: deque[GrimError] = deque()
        """What went wrong behind the caller's back: raised by the next call."""
        self.on_report: Callable[[tuple[int, int, int, int]], None] = lambda arguments: None
        """Called when the NI reports a message that cannot succeed."""
        self._overflow: list[deque[Piece]] = [deque() for _ in channels]
        self._locked = [False] * options.channels
        self._local: deque[Local] = deque()
        self._early: deque[Local] = deque()
        """Messages for handlers that may be own ones whose numbers are not known yet: kept, in order, until they
        are."""
        self.sends = 0
        """The number of the latest send, for the trace: who sends counts it up first."""
        self._polling = False
        self._idle = host.event("another task's poll")
        self._unlocked = host.event("another task's send")

    @property
    def overflow(self) -> int:
        """Messages and segments in the overflow queues."""
        return sum(len(queue) for queue in self._overflow)

    # ---- sending

    async def send(
        self, target: Target, pieces: Iterator[Piece], size: int, in_memory: bool = False, remote: bool = False
    ) -> None:
        """Send a message of `size` bytes, cut into pieces; returns when the host is done with the payload, which stands
        in host memory (`in_memory`) or in Python. `remote`: a remote memory operation.
        """
        host, channel, send = self._host, target.channel, self.sends
        out, inside = self.outgoing[channel], self._polling
        host.trace(TraceEvent.SEND_CALL, out.key(target.stream), size, send)
        if remote:
            await host.spend("send_remote")
        else:
            await host.spend("send")
        if self._options.poll_first and not inside and self._pending():
            await self.poll()
        if inside and self._options.dma_inject and in_memory:  # a handler does not wait for the NI to fetch
            await host.spend("copy_line", size + 31 >> 5)
            pieces = self._copied(pieces)
        if inside and not await self._at_once(channel, size):
            await self._to_overflow(channel, pieces)
        else:
            while self._locked[channel]:
                await self._unlocked.wait()
            self._locked[channel] = True
            try:
                await self._inject(channel, pieces)
            finally:
                self._locked[channel] = False
                self._unlocked.set()
            if not inside and self._overflow[channel]:
                await self._drain()
            if self._options.dma_inject and in_memory and not inside:
                await self._fetched(channel)
        host.trace(TraceEvent.SEND_RETURN, 0, size, send)

    def _copied(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """The pieces with their bytes, wherever these stand."""
        for piece in pieces:
            if piece.address:
                size = 4 * (piece.words[1] >> 16) - (piece.words[0] >> 24 & 3)
                piece.data, piece.address = self._host.load_bytes(piece.address, size), 0
            yield piece

    async def _at_once(self, channel: int, size: int) -> bool:
        """Whether a handler's message can be injected without waiting: nobody is before it, and all of it fits."""
        out, segment = self.outgoing[channel], self._options.segment_bytes
        if self._locked[channel] or self._overflow[channel]:
            return False
        if not out.fits_message(size, segment):
            await out.look()
        return out.fits_message(size, segment) and not self._locked[channel] and not self._overflow[channel]

    async def _inject(self, channel: int, pieces: Iterator[Piece]) -> None:
        out, overflow = self.outgoing[channel], self._overflow[channel]
        while overflow:
            await self._wait_for_room(out, overflow[0])
            if overflow:
                await out.put(overflow.popleft())
        first = True
        for piece in pieces:
            if not first:
                await self._host.spend("send_segment")
            first = False
            if not out.fits(piece.words[1] >> 16):
                await self._wait_for_room(out, piece)
            await out.put(piece)

    async def _wait_for_room(self, out: Outgoing, piece: Piece) -> None:
        """Poll until the channel's queue has room."""
        while not out.fits(piece.words[1] >> 16):
            await out.look()
            if out.fits(piece.words[1] >> 16):
                return
            if not self._polling and self._pending():
                await self.poll()
            else:
                await self._host.spend("pause", self._options.pause_turns)

    async def _fetched(self, channel: int) -> None:
        """With DMA injection: wait, polling, until the NI has fetched what it was asked to."""
        count, word = self.outgoing[channel].fetches, self.incoming[channel].fetched_address
        while (now := self._host.load_words(word, 1)[0]) - count & 1 << 31:
            watches = [(word, now)]
            if not self._polling:
                if self._pending():
                    await self.poll()
                    continue
                watches += [(incoming.back_address, incoming.position) for incoming in self.incoming]
            await self._host.poll(watches, "poll_spin")

    async def _to_overflow(self, channel: int, pieces: Iterator[Piece]) -> None:
        for piece in pieces:
            await self._host.spend("overflow_append")
            size = 4 * (piece.words[1] >> 16)
            if size:
                await self._host.spend("copy_line", size + 31 >> 5)
                piece.data = self._host.load_bytes(piece.address, size) if piece.address else bytes(piece.data)
                piece.address = 0
            self._overflow[channel].append(piece)

    async def _drain(self) -> None:
        """Inject what waits in the overflow queues, as far as there is room."""
        for channel, queue in enumerate(self._overflow):
            if not queue or self._locked[channel]:
                continue
            out = self.outgoing[channel]
            self._locked[channel] = True
            try:
                while queue:
                    words = queue[0].words[1] >> 16
                    if not out.fits(words):
                        await out.look()
                        if not out.fits(words):
                            break
                    await self._host.spend("overflow_send")
                    await out.put(queue.popleft())
            finally:
                self._locked[channel] = False
                self._unlocked.set()

    def to_self(self, message: Local) -> None:
        """A message to the own node: it never leaves the host."""
        self._local.append(message)

    # ---- polling

    def _pending(self) -> bool:
        for incoming in self.incoming:
            if incoming.pending():
                return True
        return bool(self._local) or (bool(self._early) and not self._handlers.unpublished())

    async def poll(self) -> int:
        """Process the messages that are there; how many handlers ran. Inside a handler, or while another task polls:
        none.
        """
        if self._polling:
            return 0
        self._polling = True
        handled = 0
        try:
            if self._early and not self._handlers.unpublished():
                handled += await self._dispatch_early()
            for incoming in self.incoming:
                handled += await self._drain_incoming(incoming)
            while self._local:
                source, handler, arguments, payload = self._local.popleft()
                handled += await self._call(source, handler, arguments, memoryview(payload), 0)
            if any(self._overflow):
                await self._drain()
        finally:
            self._polling = False
            self._idle.set()
        return handled

    async def _drain_incoming(self, incoming: Incoming) -> int:
        """The messages up to the back pointer as it stands now."""
        handled = 0
        end = incoming.back()
        while incoming.position != end:
            try:
                message = await incoming.take()
                if message is not None:
                    source, kind, handler, arguments, payload, key = message
                    if kind == MessageType.ERROR_REPORT:
                        self.on_report(arguments)
                    else:
                        handled += await self._call(source, handler, arguments, payload, key)
            finally:
                await incoming.free()
        return handled

    async def _call(
        self, source: int, handler: int, arguments: tuple[int, int, int, int], payload: memoryview, key: int
    ) -> int:
        host = self._host
        await host.spend("dispatch")
        function = self._handlers.functions.get(handler)
        if handler >= FIRST_NUMBER and (self._early or (function is None and self._handlers.unpublished())):
            await host.spend("copy_line", len(payload) + 31 >> 5 or 1)
            self._early.append((source, handler, arguments, bytes(payload)))
            return 0
        if function is None:
            await self._handlers.absent(source, handler)
            return 0
        host.trace(TraceEvent.HANDLER_START, key, handler, source >> 24)
        result = function(source, *arguments, payload)
        if result is not None:
            await result
        host.trace(TraceEvent.HANDLER_END, key, handler, source >> 24)
        return 1

    async def _dispatch_early(self) -> int:
        """The numbers are known: the messages that came too early, in their order."""
        messages, self._early = self._early, deque()
        handled = 0
        for source, handler, arguments, payload in messages:
            handled += await self._call(source, handler, arguments, memoryview(payload), 0)
        return handled

    async def wait_for(self, condition: Callable[[], bool], words: Sequence[int] = ()) -> None:
        """Spin, polling, until the condition holds: `while (!condition) grim_poll();`. `words`: physical addresses of
        words that the condition looks at.
        """
        while not condition():
            if self.errors:
                raise self.errors.popleft()
            if self._polling:
                await self._idle.wait()
            elif self._pending():
                await self.poll()
            elif any(self._overflow):
                await self._host.spend("pause", self._options.pause_turns)
                await self.poll()
            else:
                watches = [(incoming.back_address, incoming.position) for incoming in self.incoming]
                if words:
                    watches += [(word, self._host.load_words(word, 1)[0]) for word in words]
                await self._host.poll(watches, "poll_spin")
