"""Sending: from the API to the queues in the NI's memory.

One message at a time is injected into a channel: who comes second waits, or, inside a handler, goes behind the
overflow queue in host memory, so that a handler never waits for the network (paper 000, 4.4.3). While the overflow
queue is not empty, all further sends go behind it (readings B6).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from firmware.host.grim.hybrid import HybridOutgoing
from firmware.host.grim.incoming import Incoming
from firmware.host.grim.outgoing import Outgoing, Piece
from firmware.host.grim.segments import Target
from firmware.nic.grim.layout import Layout
from firmware.nic.grim.options import Options
from firmware.verbs import Buffer, Host
from pymodels.trace import TraceEvent


class Sending:
    """The sending half of one host's endpoints; the polling half inherits it."""

    def __init__(self, host: Host, layout: Layout, options: Options, buffers: list[Buffer]) -> None:
        self._host = host
        self._options = options
        channels = range(options.channels)
        queue = HybridOutgoing if options.queue_style == "hybrid" else Outgoing
        self.outgoing = [queue(host, layout, options, channel) for channel in channels]
        self.incoming = [Incoming(host, layout, channel, buffers[channel]) for channel in channels]
        self.sends = 0
        """The number of the latest send, for the trace: who sends counts it up first."""
        self._overflow: list[deque[Piece]] = [deque() for _ in channels]
        self._locked = [False] * options.channels
        self.overflows = bool(options.overflow)
        """Handlers that find no room use the overflow queue."""
        self._not_begun = [False] * options.channels
        """Who has a channel's turn polls for room and has put nothing yet: without the overflow queue a handler may go
        first."""
        self._going_first = [False] * options.channels
        """A handler does so now, in the poll of any thread."""
        self._polling = False
        """A handler runs, or may."""
        self._unlocked = host.event("another task's send")

    def _pending(self) -> bool:
        """Whether a message waits to be handled."""
        raise NotImplementedError

    async def poll(self, channel: int | None = None) -> int:
        """Process the messages that are there, of all endpoints or of one; how many handlers ran."""
        raise NotImplementedError

    @property
    def overflow(self) -> int:
        """Messages and segments in the overflow queues."""
        return sum(len(queue) for queue in self._overflow)

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
        if self._options.poll_first and not inside:
            await self.poll()
        if inside and self._options.dma_inject and in_memory:  # a handler does not wait for the NI to fetch
            await host.spend("copy_line", size + 31 >> 5)
            pieces = self._copied(pieces)
        if inside and self.overflows and not await self._at_once(channel, size):
            await self._to_overflow(channel, pieces)
        elif inside and self._not_begun[channel]:
            await self._inject_first(channel, pieces)
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
            if not out.fits(piece.words[1] >> 16):
                if self._polling:
                    await self._wait_for_room(out, piece)
                else:
                    self._not_begun[channel] = first
                    await self._wait_behind_handlers(out, piece)
                    self._not_begun[channel] = False
            first = False
            await out.put(piece)

    async def _inject_first(self, channel: int, pieces: Iterator[Piece]) -> None:
        """Inject a handler's message before that of the thread which has the channel's turn and waits for room."""
        self._going_first[channel] = True
        try:
            await self._inject(channel, pieces)
        finally:
            self._going_first[channel] = False
            self._unlocked.set()

    async def _wait_behind_handlers(self, out: Outgoing, piece: Piece) -> None:
        """Wait for room, and until no handler puts its message into it."""
        await self._wait_for_room(out, piece)
        while self._going_first[out.channel]:
            await self._unlocked.wait()
            await self._wait_for_room(out, piece)

    async def _wait_for_room(self, out: Outgoing, piece: Piece) -> None:
        """Poll until the channel's queue has room. In a handler: wait only, which the overflow queue avoids."""
        host, words, lacks = self._host, piece.words[1] >> 16, ""
        while not out.fits(words):
            await out.look()
            if out.fits(words):
                break
            if not self._polling and self._pending():
                await self.poll()
                continue
            if self._polling and not lacks:
                lacks = f"room in the queue of its channel {out.channel}"
                host.waits.want(host.who, lacks, f"NIC {host.node}")
            await host.spend("pause", self._options.pause_turns)
        if lacks:
            host.waits.got(host.who, lacks)

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
        """Append a message, all its pieces at once: nothing comes between them."""
        message = []
        for piece in pieces:
            await self._host.spend("overflow_append")
            size = 4 * (piece.words[1] >> 16)
            if size:
                await self._host.spend("copy_line", size + 31 >> 5)
                piece.data = self._host.load_bytes(piece.address, size) if piece.address else bytes(piece.data)
                piece.address = 0
            message.append(piece)
        self._overflow[channel].extend(message)

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
