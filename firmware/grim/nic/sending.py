"""Sending side: new and waiting messages from the channels to the transmitter.

While the link is busy, one message is prepared and the channels are not searched.
"""

from __future__ import annotations

from firmware.grim.formats import HEADER_BYTES, Words, padded
from firmware.grim.nic.channels import FETCHING, Channel
from firmware.grim.nic.fetching import Fetching
from firmware.grim.nic.layout import ROUTE_BYTES, Counter
from firmware.grim.nic.losses import LossyAnswers
from firmware.grim.nic.multicast import Multicast
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.outgoing import Outgoing
from firmware.grim.nic.path_tables import FIND_PATHS, LATER_PATHS, SEND_PATHS, STYLES
from firmware.grim.nic.transmitter import Transmitter
from pymodels.trace import TraceEvent


class Sender:
    """Main-loop steps that send messages."""

    def __init__(
        self,
        ni: Ni,
        outgoing: Outgoing,
        transmitter: Transmitter,
        multicast: Multicast,
        fetching: Fetching | None,
        losses: LossyAnswers | None,
    ) -> None:
        """Create the sender; `fetching` is None without DMA injection, `losses` is None without time-outs."""
        self._ni, self._nic = ni, ni.nic
        self._outgoing, self._streams, self._order = outgoing, outgoing.streams, outgoing.order
        self._transmitter, self._multicast = transmitter, multicast
        self._fetching, self._losses = fetching, losses
        self._path = STYLES * (ni.options.sequencing == "per-ni")

    async def new_message(self, channel: Channel) -> bool:
        """Enter a new message into the scoreboard, and prepare it for the link if its stream is open.

        Returns:
            False if no scoreboard slot or sequence number is free.
        """
        nic = self._nic
        if channel.count == channel.slots:
            channel.blocked = True
            self._ni.count(Counter.BLOCKED)
            await nic.work("channel_blocked")
            return False
        size, stream, data = self._next(channel)
        if self._losses is not None and self._losses.is_full(channel, stream):
            channel.blocked = True
            await nic.work("channel_blocked")
            return False
        slot = self._outgoing.enter(channel, size, stream)
        nic.trace(TraceEvent.NIC_NOTICED, channel.key(slot), channel.index, message=channel.message[slot])
        payload = 0
        if self._fetching is not None and channel.index != self._ni.card_channel:  # a card writes no address
            payload = nic.load(channel.base + channel.offset[slot])
        if self._fetching is not None and payload:
            channel.state[slot] = FETCHING
            self._streams.wait(channel, slot, stream)
            place = channel.base + channel.offset[slot] + ROUTE_BYTES + HEADER_BYTES
            await self._fetching.fetch(channel, slot, place, payload, data)
        else:
            await self._begin(channel, slot, stream)
        return True

    async def _begin(self, channel: Channel, slot: int, stream: int) -> None:
        """Prepare a message with complete payload, or let it wait."""
        nic, streams = self._nic, self._streams
        if self._is_here(stream):
            streams.wait(channel, slot, stream)
            streams.wake(stream)
            await nic.work(LATER_PATHS[self._path + channel.style])
        elif streams.open(stream):
            await nic.work(SEND_PATHS[self._path + channel.style])
            if self._ni.lossy:
                await nic.work("connection_tag")
            self._ni.count(Counter.SENT)
            self._transmitter.prepare(channel, slot)
        else:
            streams.wait(channel, slot, stream)
            if streams.closed[stream]:
                streams.wake(stream)
            await nic.work(LATER_PATHS[self._path + channel.style])

    def _next(self, channel: Channel) -> tuple[int, int, int]:
        """Return size in the queue, stream and payload bytes of the message at `next`."""
        ni, hosts = self._ni, self._ni.options.channels
        head = Words(*self._nic.load_words(channel.base + channel.next + ROUTE_BYTES, 4))
        size = ROUTE_BYTES + HEADER_BYTES + padded(head.words)
        vnn, target = head.target, head.channel
        root = target >= hosts  # root of a tree, which may be this NI
        to_itself = vnn == ni.me and not root and not ni.to_itself
        nowhere = vnn >= ni.nodes or target >= ni.layout.targets
        if size > ni.layout.slot or to_itself or nowhere:
            where = f"node {ni.me}, channel {channel.index}, {channel.next:#x}"
            raise RuntimeError(
                f"{where}: invalid message header in the queue: {head.w1:08x} {head.w2:08x} {head.w3:08x}"
            )
        return size, self._order.number(channel.index, vnn, target), head.bytes

    def _is_here(self, stream: int) -> bool:
        """Return True if a stream ends at a tree root on this node. Messages to the node's FPGA card use the switch
        instead.
        """
        if self._order.peer(stream) != self._ni.me:
            return False
        return not self._ni.to_itself or stream % self._ni.layout.targets >= self._ni.options.channels

    async def resend(self) -> None:
        """Prepare the next waiting message of the ready stream whose turn it is."""
        nic, streams = self._nic, self._streams
        stream = streams.take_ready()
        if stream is None:
            await nic.work("resend_nothing")
            return
        channel, slot, looked_at = streams.next_waiting(stream)
        await nic.work(FIND_PATHS[self._path + channel.style], looked_at)
        if channel.state[slot] == FETCHING:  # the end of the fetch wakes the stream again
            return
        if self._losses is not None and streams.closed[stream]:
            await self._losses.refuse(channel, slot, stream)
        elif self._is_here(stream):
            await self._multicast.local(channel, slot, stream)
        elif not self._transmitter.copy_leaves(channel, slot, stream):
            await self._send(channel, slot, stream)

    async def _send(self, channel: Channel, slot: int, stream: int) -> None:
        """Prepare a waiting message for the link."""
        nic = self._nic
        await nic.work("resend_message")
        if self._ni.lossy:
            await nic.work("connection_tag")
        self._streams.passed(channel, slot, stream)
        self._transmitter.prepare(channel, slot)
        again = channel.again[slot]
        self._ni.count(Counter.RESENT if again else Counter.SENT)
        if again:
            peer, message = self._order.peer(stream), channel.message[slot]
            nic.trace(TraceEvent.RESEND, channel.key(slot), peer, message=message)
        self._streams.wake(stream)
