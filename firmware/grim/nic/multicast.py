"""Multicast: messages that the NIs of a tree replicate (paper 003, C.6).

A message goes to the root of its tree like any other, in a stream of its own. The root, and every NI below it, delivers
it to the subscribed channels of its own host. It makes one copy in the tree's queue and enters the copy into the tree's
scoreboard once for each child. From there each entry is a message under go-back-N: token, sequence, ACK. The copy is
freed when all children have acknowledged it.

Queue, tokens and streams belong to the tree. A tree that is blocked by a slow leaf fills only its own queues, up to its
senders. Every queue waits only for queues farther from the root, so there is no circular wait (readings B11, ours). All
messages of a tree pass its root, so their order is the same everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

from firmware.grim.formats import HEADER_BYTES, TAG, Cause, Device, Lack, MessageType, Words, padded
from firmware.grim.nic.answers import Answers
from firmware.grim.nic.channels import SENT, Channel
from firmware.grim.nic.clock import Clock
from firmware.grim.nic.delivery.buffering import Buffering
from firmware.grim.nic.delivery.buffers import Buffers
from firmware.grim.nic.delivery.delivery import NO_BUFFER, OWN, Delivery
from firmware.grim.nic.delivery.endpoints import Endpoints
from firmware.grim.nic.layout import ROUTE_BYTES, TREE_CHANNELS, Counter, Tree, fits
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.outgoing import Outgoing
from firmware.grim.nic.queues.hybrid import HybridQueue
from firmware.grim.nic.verdicts import Verdicts
from pymodels.trace import CAUSE_SHIFT, TraceEvent

OWN_DELIVERIES = 2
"""Maximum number of multicast messages of this NI's host in delivery to that host at a time."""
LINE = 32
"""Bytes copied in one iteration of the copy loop."""


Parts = tuple[tuple[int, int], ...]
"""Parts of a message in SRAM, from word 0 on: address and bytes of each."""


class Place(NamedTuple):
    """Position of this NI in a tree: root, children, and subscribed channels of its host."""

    root: int
    children: tuple[int, ...]
    channels: tuple[int, ...]


class Multicast:
    """Multicast trees of one NI."""

    def __init__(
        self,
        ni: Ni,
        outgoing: Outgoing,
        buffers: Buffers,
        verdicts: Verdicts,
        endpoints: Endpoints,
        buffering: Buffering | None,
        delivery: Delivery,
        answers: Answers,
        clock: Clock,
    ) -> None:
        self._ni, self._nic, self._layout = ni, ni.nic, ni.layout
        self._outgoing, self._streams, self._clock = outgoing, outgoing.streams, clock
        self._buffers, self._verdicts, self._answers = buffers, verdicts, answers
        self._endpoints, self._buffering, self._delivery = endpoints, buffering, delivery
        self._own: dict[int, tuple[Channel, int]] = {}
        """Messages of this NI's host in delivery to that host, by entry number."""
        self._held_up: list[int] = []
        """Streams of this NI's host that wait for the end of such a delivery."""

    # ---- tree

    def _place(self, tree: int, at_root: bool) -> Place | None:
        """Return this NI's position in a tree, or None if it has none or, with `at_root`, is not the root.

        A card without power is no member.
        """
        if tree >= self._ni.options.multicast_trees:
            return None
        place, known = self._nic.load_words(self._layout.trees + Tree.BYTES * tree, 2)
        if not known or (at_root and place >> 24 != self._ni.me):
            return None
        children = dict.fromkeys((place >> 16 & 0xFF, place >> 8 & 0xFF))
        channels = tuple(i for i in range(min(TREE_CHANNELS, self._ni.options.channels)) if place >> i & 1)
        if self._endpoints.down:
            channels = tuple(channel for channel in channels if channel != self._ni.card_channel)
        others = tuple(vnn for vnn in children if vnn != self._ni.me)
        return Place(place >> 24, others, channels)

    def _lack(self, tree: int, place: Place, length: int) -> Lack | None:
        """Return the missing resource for a tree message, or None if it can be taken.

        A message needs room for its copy in the tree's queue, in every subscribed endpoint, and for reports about its
        copies.
        """
        if place.children:
            if self._answers.reports.afar.full:
                return Lack.COPIES
            copies = self._outgoing.trees[tree]
            front = copies.offset[copies.first] if copies.count else copies.next
            if copies.count + len(place.children) > copies.slots:
                return Lack.COPIES
            if not fits(front, copies.next, ROUTE_BYTES + length, copies.limit):
                return Lack.COPIES
        if self._buffering is not None and any(self._buffering.waits(channel) for channel in place.channels):
            return Lack.ENDPOINT
        takes = all(self._endpoints.room(channel, length) for channel in place.channels)
        return None if takes else Lack.ENDPOINT

    # ---- arrival

    async def arrived(self, buffer: int, head: Words, stream: int) -> None:
        """Process a received tree message that is next in its stream."""
        key, tree, source, length = head.w0, head.tree, head.source, HEADER_BYTES + padded(head.words)
        forwarded = head.type >= MessageType.FORWARDED
        await self._nic.work("multicast_look")
        place = self._place(tree, not forwarded)
        if place is None:  # for a forwarded message: this NI has restarted, unknown to its parent
            await self._verdicts.impossible(buffer, key, source, stream, Cause.UNKNOWN_TREE)
        elif (lack := self._lack(tree, place, length)) is not None:
            await self._verdicts.refuse(buffer, key, source, stream, lack)
            await self._endpoints.look_at_card(self._delivery)
        else:
            message = self._buffers.message[buffer]
            self._verdicts.take(key, source, stream, message)
            if self._ni.lossy and self._ni.card_channel in place.channels:  # as in Intake.accept
                at = self._buffers.at[buffer]
                self._nic.store(at + 4, self._nic.load(at + 4) & ~TAG)
                await self._nic.work("connection_tag")
            parts = ((self._buffers.at[buffer], length),)
            if place.channels:  # the DMA frees the buffer only after this step, when the copy is made
                await self._deliver(place, parts, (buffer, key, length), message)
            await self._verdicts.acknowledge(key, source, stream, message)
            await self._replicate(tree, place, parts, message)
            if not place.channels:
                self._buffers.release(buffer)

    async def local(self, channel: Channel, slot: int, stream: int) -> None:
        """Accept a message of this NI's host for a tree rooted here, or try again after the retry delay."""
        at = channel.base + channel.offset[slot] + ROUTE_BYTES
        head = Words(*self._nic.load_words(at, 3))
        tree, payload = head.tree, padded(head.words)
        await self._nic.work("multicast_local")
        place = self._place(tree, True)
        if place is not None and self._lack(tree, place, HEADER_BYTES + payload) is not None:
            await self._clock.later(stream)
            await self._endpoints.look_at_card(self._delivery)
        elif place is not None and place.channels and len(self._own) == OWN_DELIVERIES:
            self._held_up.append(stream)
        else:
            streams = self._streams
            streams.passed(channel, slot, stream)
            streams.in_flight[stream] += 1
            channel.state[slot] = SENT
            if place is None:
                await self._answers.failed(channel, slot, Cause.UNKNOWN_TREE)
            else:
                await self._begin(tree, place, (channel, slot), _parts(channel, slot, payload))
            streams.wake(stream)

    async def _begin(self, tree: int, place: Place, message: tuple[Channel, int], parts: Parts) -> None:
        """Replicate and deliver a message from a channel's queue. It was never sent, so its word 0 is written first."""
        key, me = message[0].key(message[1]), self._ni.me
        self._nic.store(parts[0][0], key)
        number = message[0].message[message[1]]
        self._nic.trace(TraceEvent.NIC_RECV_START, key, me, message=number)
        if place.channels:
            self._nic.trace(TraceEvent.NIC_ACCEPT, key, me, message=number)
            entry = next(free for free in range(OWN_DELIVERIES) if free not in self._own)
            self._own[entry] = message
            await self._deliver(place, parts, (OWN - entry, key, _length(parts)), number)
        await self._replicate(tree, place, parts, number)
        if not place.channels:
            await self._done(message)

    async def _done(self, message: tuple[Channel, int]) -> None:
        """Complete a message that its host has received; copies for the children may still be unsent."""
        await self._nic.work("multicast_done")
        await self._answers.finish(*message)

    async def ended(self, buffer: int) -> None:
        """Complete a message of this NI's host whose delivery to that host has finished."""
        await self._done(self._own.pop(OWN - buffer))
        held_up, self._held_up = self._held_up, []
        for stream in held_up:
            self._streams.wake(stream)

    # ---- copies

    async def _replicate(self, tree: int, place: Place, parts: Parts, cause: int) -> None:
        """Make one copy in the tree's queue and enter it into the scoreboard once for each child."""
        if not place.children:
            return
        nic, copies = self._nic, self._outgoing.trees[tree]
        to = copies.base + copies.next + ROUTE_BYTES
        length = _length(parts)
        await nic.work("multicast_copy", -(-length // LINE))
        key, w1, w2, w3, *words = [word for at, size in parts for word in nic.load_words(at, size // 4)]
        head = Words(key, w1, w2, w3)
        origin = head.destination if head.type >= MessageType.FORWARDED else w1 & 0xFF00 | head.source_channel
        w1 = (w1 | (MessageType.FORWARDED & ~MessageType.MULTICAST) << 26) & 0xFFFF0000 | self._ni.me << 8 | Device.NI
        w3 = copies.index << 24 | w3 & 0xFFFF
        nic.store_words(to + 4, (w1, w2 & 0xFFFF0000 | origin, w3, *words))
        first: int | None = None
        for vnn in place.children:
            await nic.work("multicast_entry")
            stream = self._outgoing.order.number(copies.index, vnn, 0)
            if first is None:
                slot = first = self._outgoing.enter(copies, ROUTE_BYTES + length, stream)
            else:
                slot = self._outgoing.enter_again(copies, first, stream)
            copies.message[slot] = number = nic.message()
            nic.trace(TraceEvent.NIC_COPY, copies.key(slot), key, vnn | cause << CAUSE_SHIFT, message=number)
            self._streams.wait(copies, slot, stream)
            self._streams.wake(stream)
        self._ni.count(Counter.COPIES, len(place.children))

    async def _deliver(self, place: Place, parts: Parts, last: tuple[int, int, int], message: int) -> None:
        """Deliver a message to the subscribed channels of this host; `last` is the chain entry of the last block."""
        endpoints, delivery, length = self._endpoints, self._delivery, _length(parts)
        for channel in place.channels:
            await self._nic.work("multicast_deliver")
            to, pointer, after = await endpoints.append(channel, length, message)
            for at, size in parts:
                delivery.data(at, to, size, False, (NO_BUFFER, 0, 0), message=message)
                to += size
            delivery.word(after, pointer, last if channel == place.channels[-1] else (NO_BUFFER, 0, 0), message)
            self._nic.trace(TraceEvent.NIC_DMA_START, last[1], length, 4, message=message)
        await delivery.start()


def _length(parts: Parts) -> int:
    return sum(size for _, size in parts)


def _parts(channel: Channel, slot: int, payload: int) -> Parts:
    """Return the parts of a message in a channel's queue. A hybrid queue stores the payload separately."""
    at = channel.base + channel.offset[slot] + ROUTE_BYTES
    if isinstance(channel, HybridQueue) and payload:
        return (at, HEADER_BYTES), (channel.payload_base + channel.payload_offset[slot], payload)
    return ((at, HEADER_BYTES + payload),)
