"""The sending half: messages from the channels to the link, answers before them, one prepared while one leaves.

The send engine takes one packet at a time: route and message stand in one piece in the channel's queue, so SMP and
SMLT send it in a single DMA (paper 000, 4.2.2). While the link is busy the next message is prepared and the channels
are not searched; answers that cannot leave wait in the control-message queue and go before the prepared message
(paper 000, 4.2.3).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from firmware.nic.grim.channels import FETCHING, SENT, Channel
from firmware.nic.grim.costs_of import FIND_PATHS, LATER_PATHS, SEND_PATHS, STYLES
from firmware.nic.grim.layout import CONTROL_ENTRY, ROUTE_BYTES, Counter, fits
from firmware.nic.grim.ni import Ni
from firmware.nic.grim.queues import queues_of
from firmware.nic.grim.streams import streams_of
from pymodels.formats.grim import GRIM_ID, HEADER_BYTES, TAG, padded
from pymodels.registers import Isr, Reg
from pymodels.trace import Part, TraceEvent, unit, unit_name

SEND = 1 << Isr.SEND
Local = Callable[[Channel, int, int], Awaitable[None]]
"""Called with channel, slot, stream."""
Fetch = Callable[[Channel, int, int, int, int], Awaitable[None]]
"""Called with channel, slot, place in SRAM, address in host memory, bytes."""


class Sender:
    """Link, control-message queue and the message prepared for the link."""

    def __init__(self, ni: Ni) -> None:
        self.ni = ni
        self.nic = ni.nic
        count = ni.options.channels
        self.channels = queues_of(ni)
        self.own = Channel(ni.nic, ni.layout, count, count)
        """The channel of what this NI sends on its own account."""
        trees = range(count + 1, ni.layout.sources)
        self.trees = [Channel(ni.nic, ni.layout, index, count) for index in trees]
        """The copies for the multicast trees."""
        self.streams = streams_of(ni, [*self.channels, self.own, *self.trees])
        self._path = STYLES * (ni.options.sequencing == "per-ni")
        self.busy = False
        """The send engine has a packet."""
        self.prepared: tuple[int, int, int, int, int] | None = None
        """SMP, SA, SMLT, key, stream of the message that leaves next."""
        self.fetch: Fetch | None = None
        """With DMA injection: begins to fetch a payload."""
        self.on_sent: Callable[[int], None] | None = None
        """With time-outs: called with the stream of each message that is prepared."""
        self.refuse: Local
        """With time-outs: a message of a stream that is closed."""
        self.is_full: Callable[[Channel, int], bool] | None = None
        """With time-outs: whether a stream has no free sequence number for a message of a channel."""
        self.entered: Callable[[Channel, int], None] | None = None
        """With time-outs: called with each message that enters the scoreboard, but for the NI's own."""
        self.down: set[int] = set()
        """NIs that give no sign of life."""
        self.local: Local
        """A message for a multicast tree whose root is here."""
        self.leaving = (0, 0)
        """Key and bytes of the packet that the send engine has, or had last."""
        self.stuck = False
        """The NI waits for the link, and does nothing else (options `control_queue`, `hybrid_wait`)."""
        self._leaving_at = 0
        self._behind: list[int] = []
        """Streams whose next message is the copy that leaves now, for another child."""
        self._align = -1
        self._head = 0
        self.waiting = 0
        """Answers in the control-message queue."""

    # ---- messages

    async def new_message(self, channel: Channel) -> bool:
        """The search met a new message: enter it into the scoreboard, and prepare it if its stream is open. False: no
        slot.
        """
        nic, streams = self.nic, self.streams
        if channel.count == channel.slots:
            channel.blocked = True
            self.ni.count(Counter.BLOCKED)
            await nic.work("channel_blocked")
            return False
        size, stream, data = self._next(channel)
        if self.is_full is not None and self.is_full(channel, stream):
            channel.blocked = True
            await nic.work("channel_blocked")
            return False
        sequence = streams.next_sequence(stream)
        slot = channel.append(size, stream, sequence)
        if streams.tokens is not None:
            streams.tokens[stream][sequence] = channel.first_token + slot
        if self.entered is not None:
            self.entered(channel, slot)
        nic.trace(TraceEvent.NIC_NOTICED, GRIM_ID << 16 | channel.first_token + slot << 8 | sequence, channel.index)
        payload = nic.load(channel.base + channel.offset[slot]) if self.fetch is not None else 0
        if payload:
            channel.state[slot] = FETCHING
            streams.wait(channel, slot, stream)
            place = channel.base + channel.offset[slot] + ROUTE_BYTES + HEADER_BYTES
            assert self.fetch is not None
            await self.fetch(channel, slot, place, payload, data)
        elif self._is_here(stream):
            streams.wait(channel, slot, stream)
            streams.wake(stream)
            await nic.work("send_later")
        elif streams.open(stream):
            await nic.work(SEND_PATHS[self._path + channel.style])
            if self.on_sent is not None:
                await nic.work("connection_tag")
            self.ni.count(Counter.SENT)
            self._prepare(channel, slot)
        else:
            streams.wait(channel, slot, stream)
            if streams.closed[stream]:
                streams.wake(stream)
            await nic.work(LATER_PATHS[self._path + channel.style])
        return True

    def _next(self, channel: Channel) -> tuple[int, int, int]:
        """Of the message at `next`: its size in the queue, stream, and the bytes of its payload."""
        w1, w2, w3 = self.nic.load_words(channel.base + channel.next + ROUTE_BYTES + 4, 3)
        size = ROUTE_BYTES + HEADER_BYTES + padded(w2 >> 16)
        vnn, target = w2 >> 8 & 0xFF, w3 >> 16 & 0xFF
        root = target >= len(self.channels)  # of a tree: may be here
        to_itself = vnn == self.ni.me and not root and not self.ni.to_itself
        nowhere = vnn >= self.ni.nodes or target >= self.ni.layout.targets
        if size > self.ni.layout.slot or to_itself or nowhere:
            where = f"node {self.ni.me}, channel {channel.index}, {channel.next:#x}"
            raise RuntimeError(f"{where}: the queue holds no message: {w1:08x} {w2:08x} {w3:08x}")
        return size, self.streams.number(channel.index, vnn, target), 4 * (w2 >> 16) - (w1 >> 24 & 3)

    def _is_here(self, stream: int) -> bool:
        """Whether a stream leads to the root of a tree on this node; to its card messages go over the switch."""
        if self.streams.peer(stream) != self.ni.me:
            return False
        return not self.ni.to_itself or stream % self.ni.layout.targets >= len(self.channels)

    def own_message(self, size: int, vnn: int, target: int) -> int | None:
        """Enter a message of `size` bytes into the NI's own channel, for a channel of another NI: its slot. It leaves
        when its state is WAITING and its stream is woken. None when there is no room.
        """
        own, streams = self.own, self.streams
        front = own.offset[own.first] if own.count else own.next
        if own.count == own.slots or not fits(front, own.next, size, own.limit):
            return None
        stream = streams.number(own.index, vnn, target)
        sequence = streams.next_sequence(stream)
        slot = own.append(size, stream, sequence)
        own.state[slot] = FETCHING
        if streams.tokens is not None:
            streams.tokens[stream][sequence] = own.first_token + slot
        streams.wait(own, slot, stream)
        return slot

    async def resend(self) -> None:
        """Prepare the next waiting message of the ready stream whose turn it is."""
        streams = self.streams
        stream = streams.take_ready()
        if stream is None:
            await self.nic.work("resend_nothing")
            return
        channel, slot, looked_at = streams.next_waiting(stream)
        await self.nic.work(FIND_PATHS[self._path + channel.style], looked_at)
        if channel.state[slot] == FETCHING:  # its end wakes the stream again
            return
        if streams.closed[stream]:
            await self.refuse(channel, slot, stream)
            return
        if self._is_here(stream):
            await self.local(channel, slot, stream)
            return
        if self.busy and self._leaving_at == channel.base + channel.offset[slot]:  # the route stands before it
            self._behind.append(stream)
            return
        await self.nic.work("resend_message")
        if self.on_sent is not None:
            await self.nic.work("connection_tag")
        streams.passed(channel, slot, stream)
        self._prepare(channel, slot)
        again = channel.again[slot]
        self.ni.count(Counter.RESENT if again else Counter.SENT)
        if again:
            self.nic.trace(TraceEvent.RESEND, self.key(channel, slot), streams.peer(stream))
        streams.wake(stream)

    def key(self, channel: Channel, slot: int) -> int:
        """Word 0 of a message: token and sequence."""
        return GRIM_ID << 16 | channel.first_token + slot << 8 | channel.sequence[slot]

    def _prepare(self, channel: Channel, slot: int) -> None:
        """Write route and word 0 into the queue; leave at once if the link is free."""
        stream = channel.stream[slot]
        channel.state[slot] = SENT
        self.streams.in_flight[stream] += 1
        r0, r1, align = self.ni.routes[self.streams.peer(stream)]
        at = channel.base + channel.offset[slot]
        key = self.key(channel, slot)
        self.nic.store_words(at, (r0, r1, key))
        if self.on_sent is not None:  # in place of what a copy had for another child
            w1 = self.nic.load(at + ROUTE_BYTES + 4) & ~TAG
            self.nic.store(at + ROUTE_BYTES + 4, w1 | self.ni.tags[self.streams.peer(stream)] & TAG)
        self.prepared = (at, align, at + channel.size[slot], key, stream)
        if self.on_sent is not None:
            self.on_sent(stream)
        if not self.busy:
            self._start_prepared()

    def _start_prepared(self) -> None:
        assert self.prepared is not None
        at, align, limit, key, _ = self.prepared
        self.prepared = None
        self._start(at, align, limit, key)
        self.nic.trace(TraceEvent.NIC_SEND_START, key, limit - at - ROUTE_BYTES)

    def _start(self, at: int, align: int, limit: int, key: int, register: Reg = Reg.SMLT) -> None:
        """Hand a packet to the send engine, which must be free; or, with register SML, its first piece."""
        write, skip = self.nic.write, align % self.nic.word_bytes
        if skip != self._align:
            write(Reg.SA, skip)
            self._align = skip
        write(Reg.SMP, at + align - skip)
        write(register, limit)
        self.busy = True
        self.leaving, self._leaving_at = (key, limit - at - ROUTE_BYTES), at

    async def sent(self) -> None:
        """SEND_INT: the packet has left SRAM. The next one: answers first, then the prepared message."""
        self.nic.write(Reg.ISR, SEND)
        self.nic.trace(TraceEvent.NIC_SEND_DONE, *self.leaving)
        if self.waiting or self._behind or self.stuck or self.prepared is not None:
            await self.nic.work("send_done")
        else:
            self.nic.post("send_done")
        self.busy = False
        while self._behind:
            self.streams.wake(self._behind.pop())
        if self.waiting:
            self._start_control()
        if not self.waiting:
            self.link_found()
        if not self.busy and self.prepared is not None:
            self._start_prepared()

    def wait_for_link(self) -> None:
        """Do nothing but wait until the send engine has ended."""
        self.stuck = True
        self.nic.waits.want(self.nic.who, "the outgoing link", unit_name(unit(self.nic.node, Part.NET_SEND)))

    def link_found(self) -> None:
        """The send engine has ended: go on."""
        if self.stuck:
            self.stuck = False
            self.nic.waits.got(self.nic.who, "the outgoing link")

    def withdraw(self, stream: int) -> None:
        """A roll-back: do not send the prepared message of this stream."""
        if self.prepared is not None and self.prepared[4] == stream:
            self.prepared = None

    def forget(self, key: int) -> None:
        """Do not send the prepared message if it is this one."""
        if self.prepared is not None and self.prepared[3] == key:
            self.prepared = None

    # ---- answers

    def answer(self, vnn: int, words: tuple[int, int]) -> None:
        """Send a control message: at once if the link is free, else through the queue. The queue holds an answer to
        each message in flight; answers to copies, which only time-outs bring, may be lost.
        """
        layout = self.ni.layout
        if self.waiting == layout.control_entries:
            if self.ni.options.timeout_us:
                self.ni.count(Counter.UNSENT)
                return
            raise RuntimeError(f"node {self.ni.me}: the control-message queue is full, {self.waiting} answers are owed")
        r0, r1, _ = self.ni.routes[vnn]
        at = layout.control + CONTROL_ENTRY * ((self._head + self.waiting) % layout.control_entries)
        self.nic.store_words(at, (r0, r1, words[0], words[1] | max(self.ni.tags[vnn], 0)))
        self.waiting += 1
        if not self.busy:
            self._start_control()
        else:
            if not self.ni.options.control_queue:
                self.wait_for_link()
            self.ni.count(Counter.CONTROL_QUEUED)
            self.nic.trace(TraceEvent.CONTROL_QUEUED, words[0], self.waiting)

    def _start_control(self) -> None:
        layout = self.ni.layout
        at = layout.control + CONTROL_ENTRY * self._head
        self._head = (self._head + 1) % layout.control_entries
        self.waiting -= 1
        r0, r1, key = self.nic.load_words(at, 3)
        self._start(at, _unused(r0, r1), at + CONTROL_ENTRY, key)


def _unused(r0: int, r1: int) -> int:
    """How many bytes of a right-aligned route are not used."""
    return ROUTE_BYTES - ((r0 << 32 | r1).bit_length() + 7 >> 3)
