"""Pipes of one host: a stream of bytes to each other node, and one back."""

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
"""Time-outs without a packet after which nobody misses an acknowledgement any more: the time of four reminders."""
Bytes = bytes | bytearray | memoryview


class Peer:
    """Both streams of a pair, as one end has them."""

    def __init__(self, host: Host, hal: Hal, node: int, options: Options, begin: int) -> None:
        self.node = node
        self.incoming = Incoming(host, node, options.pipe_bytes, begin)
        self.outgoing = Outgoing(host, hal, node, options, begin, self.stamp)

    def stamp(self, flags: int, position: int) -> Header:
        """A header that acknowledges all that has come."""
        incoming = self.incoming
        incoming.owed, incoming.told = 0, incoming.taken
        return Header(flags, position, incoming.come, incoming.room)


class Pipes:
    """The library of one host. One task at a time writes to a node, and one reads from it."""

    def __init__(self, host: Host, view: ClusterView, hal: Hal, begin: int = 0) -> None:
        """`begin`: the position of the first byte of all streams."""
        self.host, self.me, self._hal, self._names = host, view.me, hal, view.names
        self._options = options = Options.of(view.options)
        self._patience = options.timeout_us * 1_000_000 // 2
        """So long an acknowledgement may be owed."""
        others = [node for node in view.routes if node != view.me]
        self._peers = {node: Peer(host, hal, node, options, begin) for node in others}
        self.others = tuple(others)
        """The nodes with which it has pipes."""
        self._news: dict[int, Peer] = {}
        """Those with packets that are not acknowledged, by either end, or bytes that are not sent."""
        self._consumer: Consumer | None = None
        self._arrivals = 0
        """Packets so far."""
        self._lingers = False

    async def start(self) -> None:
        """Once, before anything else."""
        self._hal.on_packet(PROTOCOL, self._arrived)
        await self._hal.start()

    def on_bytes(self, consumer: Consumer | None) -> None:
        """Have the bytes of all streams given to `consumer` as they come, instead of being read; None: no more."""
        self._consumer = consumer

    async def interrupts(self, on: bool, delay_us: int | None = None) -> None:
        """HAL's: whether packets that come while nobody polls are taken in by the service routine, which then waits so
        long for further ones; None: as long as HAL's option says.
        """
        await self._hal.interrupts(on, delay_us)

    # ---- the application

    async def write(self, node: int, data: Bytes, direct: bool = False) -> None:
        """Append bytes to the stream to a node; they may be changed when this returns. It waits for room in the pipe,
        and takes in packets meanwhile. `direct`: they are not copied into the pipe, but straight into HAL's buffers.
        Raises PipesError.
        """
        peer = self._of(node)
        out = peer.outgoing
        if out.writing:
            cause = "another task's write has not returned"
            raise PipesError(f"a write to node {node}", cause, "let one task write to a node at a time")
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
                    await self._hal.poll()  # acknowledgements that are here let it go on
            data = data[done:]
            self._watch(peer)

    def _watch(self, peer: Peer) -> None:
        """There may be something to wait for: tasks that wait look at the time again."""
        self._news[peer.node] = peer
        self._hal.changed()

    async def _until(self, peer: Peer, what: str, condition: Callable[[], bool]) -> None:
        """Wait for the other end; reports of hangs say so."""
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
        """How many bytes of a node's stream are here."""
        return self._of(node).incoming.here

    async def read(self, node: int, size: int) -> bytes:
        """The next bytes of a node's stream; waits until all of them are here. Raises PipesError for more than a pipe
        holds, and where a consumer takes them.
        """
        incoming = self._of(node).incoming
        if self._consumer is not None:
            raise PipesError("a read", "a consumer takes what comes", "leave on_bytes out")
        if not 0 <= size <= self._options.pipe_bytes:
            most = self._options.pipe_bytes
            raise PipesError(f"a read of {size} bytes", f"a pipe holds {most}", "read in parts")
        if incoming.here < size:
            with self._wanting(f"{size} bytes of the pipe from {self._names[node]}", node):
                await self.wait(lambda: incoming.here >= size)
        data = await incoming.read(size)
        if incoming.taken - incoming.told >= self._options.pipe_bytes // 2:
            await self._answer(self._peers[node])
        return data

    async def flush(self) -> None:
        """Wait until the other ends have all that was written."""
        for peer in self._peers.values():
            await self._flush(peer)

    async def _flush(self, peer: Peer) -> None:
        out = peer.outgoing
        if out.come != out.written:
            await out.ask()
            await self._until(peer, "acknowledgements of", lambda: out.come == out.written)

    async def finish(self) -> None:
        """Flush; then answer others that have missed an acknowledgement, until nothing has come for a while."""
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
            raise PipesError(f"node {node!r}", "there is no pipe to it", f"name one of {known}")
        return self._peers[node]

    # ---- progress

    async def poll(self) -> None:
        """Take in what is here, and send what is due."""
        await self._hal.poll()
        await self._progress()

    async def wait(self, condition: Callable[[], bool], until_ps: int | None = None) -> bool:
        """Take in packets and send what is due until a condition holds, or until it is that time; whether it holds."""
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
        """When a node is to be told something, if that is sooner, ps."""
        due = [when for peer in self._news.values() if (when := self._due(peer)) is not None]
        return min([*due, *([] if than is None else [than])], default=None)

    def _due(self, peer: Peer) -> int | None:
        """When the other end is to be told something, ps."""
        reminds, owes = peer.outgoing.due, peer.incoming.owed_since + self._patience if peer.incoming.owed else None
        return min((when for when in (reminds, owes) if when is not None), default=None)

    async def _progress(self) -> None:
        """Remind those that do not answer, and acknowledge what has waited long enough for data that go back."""
        for peer in list(self._news.values()):
            out, incoming, now = peer.outgoing, peer.incoming, self.host.now
            if out.due is not None and out.due <= now:
                await out.remind()
            if incoming.owed and incoming.owed_since + self._patience <= now:
                await self._answer(peer)
            if self._due(peer) is None:
                self._news.pop(peer.node, None)

    async def _answer(self, peer: Peer) -> None:
        """An acknowledgement of its own."""
        peer.incoming.owed = 0  # other tasks send none
        await self.host.spend("pipes_answer")
        await self._hal.send(peer.node, PROTOCOL, peer.stamp(0, peer.outgoing.sent).packed())

    async def _arrived(self, packet: Packet) -> None:
        """HAL hands a packet over: acknowledge it if that is due, and send what now may be sent."""
        header, peer = Header.of(packet.view), self._peers.get(packet.source)
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

    # ---- what a study measures

    @property
    def resent(self) -> int:
        """Packets sent again."""
        return sum(peer.outgoing.resent for peer in self._peers.values())

    @property
    def doubled(self) -> int:
        """Packets that came once more."""
        return sum(peer.incoming.doubled for peer in self._peers.values())
