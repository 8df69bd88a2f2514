"""Pipes of one host: a byte stream to each other node and one from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from firmware.hal.host.interface import Hal, Packet
from firmware.pipes.host.errors import PipesError
from firmware.pipes.host.header import ASKS, DATA, LAYOUT, PROTOCOL, Header, near
from firmware.pipes.host.incoming import Consumer, Incoming
from firmware.pipes.host.outgoing import Outgoing
from firmware.pipes.options import Options
from firmware.verbs import Host
from firmware.view import ClusterView

LINGER = 16
"""Time-outs without a packet after which no peer can miss an acknowledgement; the time of four reminders."""
Bytes = bytes | bytearray | memoryview


class Peer:
    """Both streams between this node and another."""

    def __init__(self, host: Host, hal: Hal, node: int, options: Options, begin: int) -> None:
        self.node = node
        self.incoming = Incoming(host, node, options.pipe_bytes, begin)
        self.outgoing = Outgoing(host, hal, node, options, begin, self.stamp)

    def stamp(self, flags: int, position: int) -> Header:
        """Return a header that acknowledges everything received."""
        incoming = self.incoming
        incoming.owed, incoming.told = 0, incoming.taken
        return Header(flags, position, incoming.come, incoming.room)


class Pipes:
    """Pipes library of one host. One task at a time writes to a node, and one reads from it."""

    def __init__(self, host: Host, view: ClusterView, hal: Hal, begin: int = 0) -> None:
        """Create the library; `begin` is the position of the first byte of all streams."""
        self.host, self.me, self._hal, self._names = host, view.me, hal, view.names
        self._options = options = Options.from_values(view.options)
        self._patience = options.timeout_us * 1_000_000 // 2
        """Time for which an acknowledgement may be delayed, ps."""
        others = [node for node in view.routes if node != view.me]
        self._peers = {node: Peer(host, hal, node, options, begin) for node in others}
        self.others = tuple(others)
        """Nodes with which this node has pipes."""
        self._news: dict[int, Peer] = {}
        """Peers with unacknowledged packets in either direction, or with unsent bytes."""
        self._consumer: Consumer | None = None
        self._arrivals = 0
        """Number of packets received."""
        self._lingers = False

    async def start(self) -> None:
        """Start the library. Call once, before anything else."""
        self._hal.on_packet(PROTOCOL, self._arrived)
        await self._hal.start()

    def on_bytes(self, consumer: Consumer | None) -> None:
        """Pass received bytes of all streams to `consumer` instead of keeping them for `read`; None ends that."""
        self._consumer = consumer

    async def interrupts(self, on: bool, delay_us: int | None = None) -> None:
        """Switch HAL's interrupt mode on or off; `delay_us` None uses HAL's option `interrupt_delay_us`."""
        await self._hal.interrupts(on, delay_us)

    # ---- application calls

    async def write(self, node: int, data: Bytes, direct: bool = False) -> None:
        """Append bytes to the stream to a node. They may be changed when this returns.

        Waits for room in the pipe, and processes packets meanwhile.

        Args:
            node: destination node.
            data: bytes to append.
            direct: True copies the bytes straight into HAL's buffers instead of the pipe.

        Raises:
            PipesError: an unknown node, or another task's write to the node in progress.
        """
        peer = self._of(node)
        out = peer.outgoing
        if out.writing:
            cause = "another task is writing to it"
            raise PipesError(f"write to node {node}", cause, "let one task write to a node at a time")
        out.writing = True
        try:
            await self.host.spend("pipes_write")
            await self._write(peer, memoryview(data), direct)
        finally:
            out.writing = False

    async def _write(self, peer: Peer, data: memoryview, direct: bool) -> None:
        out = peer.outgoing
        while data:
            if direct and self._hal.keepable:
                out.stuck = True
                self._watch(peer)
                await self._until(peer, "the window of", lambda: out.sent == out.written and out.may_send)
                out.stuck = False
                done = await out.send_direct(data) if self._hal.keepable else 0
            else:
                await self._until(peer, "room in", lambda: out.free > 0)
                done = min(out.free, DATA, len(data))
                await out.put(data[:done])
                await out.pump()
                if out.sent < out.written:
                    await self._hal.poll()  # received acknowledgements may make room
            data = data[done:]
            self._watch(peer)

    def _watch(self, peer: Peer) -> None:
        """Mark a peer as having pending work, and make waiting tasks check the time again."""
        self._news[peer.node] = peer
        self._hal.changed()

    async def _until(self, peer: Peer, what: str, condition: Callable[[], bool]) -> None:
        """Wait for the other end; `what` describes the wait in a hang report."""
        if condition():
            return
        with self._wanting(f"{what} the pipe to {self._names[peer.node]}", peer.node):
            await self.wait(condition)

    @contextmanager
    def _wanting(self, what: str, node: int) -> Iterator[None]:
        host = self.host
        host.waits.want(host.who, what, f"host {self._names[node]}")
        try:
            yield
        finally:
            host.waits.got(host.who, what)

    def readable(self, node: int) -> int:
        """Return the number of bytes of a node's stream that can be read."""
        return self._of(node).incoming.here

    async def read(self, node: int, size: int) -> bytes:
        """Return the next bytes of a node's stream, after waiting for all of them.

        Raises PipesError for an unknown node, for more bytes than a pipe holds, and while a consumer is set.
        """
        incoming = self._of(node).incoming
        if self._consumer is not None:
            raise PipesError("read", "a consumer takes the received bytes", "remove the consumer with on_bytes(None)")
        if not 0 <= size <= self._options.pipe_bytes:
            most = self._options.pipe_bytes
            raise PipesError(f"read of {size} bytes", f"a pipe holds {most} bytes", "read in parts")
        if incoming.here < size:
            with self._wanting(f"{size} bytes of the pipe from {self._names[node]}", node):
                await self.wait(lambda: incoming.here >= size)
        data = await incoming.read(size)
        if incoming.taken - incoming.told >= self._options.pipe_bytes // 2:
            await self._answer(self._peers[node])
        return data

    async def flush(self) -> None:
        """Wait until the other ends have received all bytes written."""
        for peer in self._peers.values():
            await self._flush(peer)

    async def _flush(self, peer: Peer) -> None:
        out = peer.outgoing
        if out.come != out.written:
            await out.request_ack()
            await self._until(peer, "acknowledgements of", lambda: out.come == out.written)

    async def finish(self) -> None:
        """Flush, then answer peers that have missed an acknowledgement until no packet arrives for a while."""
        await self.flush()
        if not self._lingers:
            self._lingers = True
            self.host.spawn(self._linger(), "Pipes: answers to packets that come once more")

    async def _linger(self) -> None:
        seen = -1
        while seen != self._arrivals:
            seen = self._arrivals
            await self.wait(self._more_than(seen), self.host.now + LINGER * 2 * self._patience)
        self._lingers = False

    def _more_than(self, seen: int) -> Callable[[], bool]:
        return lambda: self._arrivals != seen

    def _of(self, node: int) -> Peer:
        if node not in self._peers:
            known = ", ".join(map(str, self._peers)) or "none"
            raise PipesError(f"node {node!r}", "unknown node", f"give one of {known}")
        return self._peers[node]

    # ---- progress

    async def poll(self) -> None:
        """Process received packets and send what is due."""
        await self._hal.poll()
        await self._progress()

    async def wait(self, condition: Callable[[], bool], until_ps: int | None = None) -> bool:
        """Process packets until a condition holds (True) or until the given time (False)."""
        await self._progress()
        while not condition():
            if until_ps is not None and self.host.now >= until_ps:
                return False
            await self._turn(condition, self._soonest(until_ps))
        return True

    async def _turn(self, condition: Callable[[], bool], ends: int | None) -> None:
        await self._hal.wait(lambda: condition() or self._soonest(ends) != ends, ends)
        await self._progress()

    def _soonest(self, than: int | None) -> int | None:
        """Return the earliest time at which a packet to a peer is due, if before `than`, ps."""
        due = [when for peer in self._news.values() if (when := self._due(peer)) is not None]
        return min([*due, *([] if than is None else [than])], default=None)

    def _due(self, peer: Peer) -> int | None:
        """Return the time at which a packet to a peer is due, ps; None if none is."""
        reminds, owes = peer.outgoing.due, peer.incoming.owed_since + self._patience if peer.incoming.owed else None
        return min((when for when in (reminds, owes) if when is not None), default=None)

    async def _progress(self) -> None:
        """Remind silent peers, and acknowledge packets that have waited long enough for data in the other direction."""
        for peer in list(self._news.values()):
            out, incoming, now = peer.outgoing, peer.incoming, self.host.now
            if out.due is not None and out.due <= now:
                await out.remind()
            if incoming.owed and incoming.owed_since + self._patience <= now:
                await self._answer(peer)
            if self._due(peer) is None:
                self._news.pop(peer.node, None)

    async def _answer(self, peer: Peer) -> None:
        """Send an acknowledgement without data."""
        peer.incoming.owed = 0  # so that other tasks send no acknowledgement
        await self.host.spend("pipes_answer")
        await self._hal.send(peer.node, PROTOCOL, peer.stamp(0, peer.outgoing.sent).packed())

    async def _arrived(self, packet: Packet) -> None:
        """Process a packet of HAL: acknowledge it if due, and send what may now be sent."""
        header, peer = Header.decode(packet.view), self._peers.get(packet.source)
        if header is None or peer is None:
            return
        self._arrivals += 1
        out, incoming = peer.outgoing, peer.incoming
        await self.host.spend("pipes_arrive")
        count = out.answered(near(header.come, out.come), near(header.room, out.room))
        if count:
            await self.host.spend("pipes_acknowledged", count)
        due = bool(header.flags & ASKS)
        if len(packet.view) > LAYOUT.size:
            due |= await incoming.arrived(header, packet, self._consumer)
        if due or incoming.owed >= self._options.window // 2:
            await self._answer(peer)
        await out.pump()
        self._watch(peer)

    # ---- counters for studies

    @property
    def resent(self) -> int:
        """Packets sent again."""
        return sum(peer.outgoing.resent for peer in self._peers.values())

    @property
    def doubled(self) -> int:
        """Packets that came once more."""
        return sum(peer.incoming.doubled for peer in self._peers.values())
