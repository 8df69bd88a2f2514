"""Sending: from the API to the queues in NI memory.

One message at a time is injected into a channel. A second message waits or, inside a handler, goes to the overflow
queue in host memory. So a handler never waits for the network (paper 000, 4.4.3). While the overflow queue is not
empty, all further messages go behind it (readings B6).
"""

from __future__ import annotations

from collections.abc import Iterator

from firmware.grim.host.channel_queue import Outgoing, Piece
from firmware.grim.host.dispatch import Dispatch
from firmware.grim.host.out_queues import OutQueues
from firmware.grim.host.segments import CARD, Target
from firmware.grim.options import Options
from firmware.verbs import Host
from pymodels.trace import TraceEvent


class Sending:
    """Sending half of one host's endpoints."""

    def __init__(self, host: Host, options: Options, queues: OutQueues, dispatch: Dispatch) -> None:
        self._host, self._options = host, options
        self._queues, self._dispatch = queues, dispatch
        self.sends = 0
        """Number of messages sent so far."""
        self.message = 0
        """Number of the last message in the trace."""
        self.overflows = bool(options.overflow)
        """True if handlers that find no room use the overflow queue."""
        self._not_begun = [False] * options.channels
        """True while the task that owns the channel waits for room for its first piece. Without the overflow queue, a
        handler may then go first.
        """
        self._going_first = [False] * options.channels
        """True while a handler's message goes first, in the poll of any thread."""

    def begin(self) -> int:
        """Count a message before it is sent, and return its number in the trace."""
        self.sends += 1
        self.message = self._host.message()
        return self.message

    async def send(
        self, target: Target, pieces: Iterator[Piece], size: int, in_memory: bool = False, remote: bool = False
    ) -> None:
        """Send a message, and return when the host no longer needs its payload.

        Args:
            target: Header fields and stream of the message.
            pieces: Segments of the message.
            size: Bytes of payload.
            in_memory: True if the payload is in host memory, False if it is a Python object.
            remote: True for a remote memory operation.
        """
        host, channel, message = self._host, target.channel, self.message
        out, inside = self._queues.outgoing[channel], self._dispatch.polling
        host.trace(TraceEvent.SEND_CALL, out.key(target.stream), size, message=message)
        if remote:
            await host.spend("send_remote")
        else:
            await host.spend("send")
        if self._options.poll_first and not inside:
            await self._dispatch.poll()
        if inside and self._options.dma_inject and in_memory:  # a handler must not wait for the NI's fetch
            await host.spend("copy_line", size + 31 >> 5)
            pieces = self._copied(pieces)
        if inside and self.overflows and not await self._at_once(target, size):
            await self._to_overflow(channel, pieces)
        elif inside and self._not_begun[channel]:
            await self._inject_first(channel, pieces)
        else:
            while self._queues.locked[channel]:
                await self._queues.unlocked.wait()
            self._queues.locked[channel] = True
            try:
                await self._inject(channel, pieces)
            finally:
                self._queues.locked[channel] = False
                self._queues.unlocked.set()
            if not inside and self._queues.overflow[channel]:
                await self._queues.drain()
            if self._options.dma_inject and in_memory and not inside:
                await self._fetched(channel)
        host.trace(TraceEvent.SEND_RETURN, 0, size, message=message)

    def _copied(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """Yield the pieces with their payload copied out of host memory."""
        for piece in pieces:
            if piece.address:
                piece.data, piece.address = self._host.load_bytes(piece.address, piece.size), 0
            yield piece

    async def _at_once(self, target: Target, size: int) -> bool:
        """Return True if a handler's message can be injected now: no other sender is before it, and all of it fits."""
        channel, segment = target.channel, self._options.segment_bytes
        out, alone = self._queues.outgoing[channel], size > segment and target.kinds is CARD
        if self._queues.taken(channel):
            return False
        if alone or not out.fits_message(size, segment):
            await out.look()
        if alone and out.front != out.back:
            return False
        return out.fits_message(size, segment) and not self._queues.taken(channel)

    async def _inject(self, channel: int, pieces: Iterator[Piece]) -> None:
        out, overflow = self._queues.outgoing[channel], self._queues.overflow[channel]
        while overflow:
            await self._wait_for_room(out, overflow[0])
            if overflow:
                await out.put(overflow.popleft())
        first = True
        for piece in pieces:
            if not first:
                await self._host.spend("send_segment")
            if piece.alone or not out.fits(piece.payload_words):
                if self._dispatch.polling:
                    await self._wait_for_room(out, piece)
                else:
                    self._not_begun[channel] = first
                    await self._wait_behind_handlers(out, piece)
                    self._not_begun[channel] = False
            first = False
            await out.put(piece)

    async def _inject_first(self, channel: int, pieces: Iterator[Piece]) -> None:
        """Inject a handler's message before that of the thread that owns the channel and waits for room."""
        self._going_first[channel] = True
        try:
            await self._inject(channel, pieces)
        finally:
            self._going_first[channel] = False
            self._queues.unlocked.set()

    async def _wait_behind_handlers(self, out: Outgoing, piece: Piece) -> None:
        """Wait for room that no handler's message takes first."""
        await self._wait_for_room(out, piece)
        while self._going_first[out.channel]:
            await self._queues.unlocked.wait()
            await self._wait_for_room(out, piece)

    async def _wait_for_room(self, out: Outgoing, piece: Piece) -> None:
        """Poll until the channel's queue has room. In a handler, wait without polling; the overflow queue avoids this
        case.
        """
        host, lacks = self._host, ""
        while not out.takes(piece):
            await out.look()
            if out.takes(piece):
                break
            if not self._dispatch.polling and self._dispatch.pending():
                await self._dispatch.poll()
                continue
            if self._dispatch.polling and not lacks:
                lacks = f"room in the queue of its channel {out.channel}"
                host.waits.want(host.who, lacks, f"NIC {host.node}")
            await host.spend("pause", self._options.pause_turns)
        if lacks:
            host.waits.got(host.who, lacks)

    async def _fetched(self, channel: int) -> None:
        """Poll until the NI has fetched all requested payloads (DMA injection)."""
        count, word = self._queues.outgoing[channel].fetches, self._dispatch.by_channel[channel].fetched_address
        while (now := self._host.load_words(word, 1)[0]) - count & 1 << 31:
            watches = [(word, now)]
            if not self._dispatch.polling:
                if self._dispatch.pending():
                    await self._dispatch.poll()
                    continue
                watches += [(incoming.back_address, incoming.position) for incoming in self._dispatch.incoming]
            await self._host.poll(watches, "poll_spin")

    async def _to_overflow(self, channel: int, pieces: Iterator[Piece]) -> None:
        """Append all pieces of a message to the overflow queue, without interleaving."""
        message = []
        for piece in pieces:
            await self._host.spend("overflow_append")
            size = 4 * piece.payload_words
            if size:
                await self._host.spend("copy_line", size + 31 >> 5)
                piece.data = self._host.load_bytes(piece.address, size) if piece.address else bytes(piece.data)
                piece.address = 0
            message.append(piece)
        self._queues.overflow[channel].extend(message)
