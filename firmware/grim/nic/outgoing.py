"""Outgoing messages of one NI: the channels' queues and scoreboards, and the streams of their messages."""

from __future__ import annotations

from firmware.grim.nic.channels import FETCHING, Channel
from firmware.grim.nic.delivery.unfinished import Unfinished
from firmware.grim.nic.layout import REPORT_BYTES, fits
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.orders import create_order
from firmware.grim.nic.queues import create_queues
from firmware.grim.nic.queues.report_places import ReportPlaces
from firmware.grim.nic.streams import Streams


class Outgoing:
    """Messages of the hosts, replies to remote reads, copies for multicast trees, and reports to other hosts."""

    def __init__(self, ni: Ni) -> None:
        count = ni.options.channels
        self.channels = create_queues(ni)
        self.own = Channel(ni.nic, ni.layout, count, count)
        """Channel of this NI's replies to remote reads."""
        last = ni.layout.sources - 1
        trees = range(count + 1, last)
        self.trees = [Channel(ni.nic, ni.layout, index, count) for index in trees]
        """Channels of the copies for multicast trees."""
        self.reports = ReportPlaces(ni.nic, ni.layout, last, count)
        """Channel of this NI's reports to other hosts."""
        self.all = [*self.channels, self.own, *self.trees, self.reports]
        """All channels, by number."""
        self.order = create_order(ni, self.all)
        self.streams = Streams(ni, self.order)
        self.unfinished = Unfinished(ni, self.order)
        self._lossy = ni.lossy

    def enter(self, channel: Channel, size: int, stream: int) -> int:
        """Enter the message at a channel's `next` into its scoreboard and return its slot. A slot must be free."""
        slot = channel.append(size, stream, self.streams.next_sequence(stream))
        self._entered(channel, slot)
        return slot

    def enter_again(self, channel: Channel, other: int, stream: int) -> int:
        """Enter the message of an existing slot a second time, for another stream, and return the new slot."""
        slot = channel.append_same(other, stream, self.streams.next_sequence(stream))
        self._entered(channel, slot)
        return slot

    def _entered(self, channel: Channel, slot: int) -> None:
        self.order.entered(channel, slot)
        if self._lossy and channel is not self.own and channel is not self.reports:
            self.unfinished.entered(channel, slot)

    def own_message(self, size: int, vnn: int, target: int) -> int | None:
        """Reserve room for a reply in the NI's own channel.

        The reply leaves once its state is WAITING and its stream is woken.

        Args:
            size: Bytes of the reply, including the room for its route.
            vnn: Destination node.
            target: Destination channel.

        Returns:
            The slot, or None if there is no room.
        """
        own = self.own
        front = own.offset[own.first] if own.count else own.next
        if own.count == own.slots or not fits(front, own.next, size, own.limit):
            return None
        return self._enter_empty(own, size, vnn, target)

    def report(self, vnn: int, target: int) -> int | None:
        """Reserve room for a report to a channel of another host.

        Returns:
            The slot, or None if no place is free or an earlier report to that host is still unanswered.
        """
        reports = self.reports
        if not reports.has_room or any(self.order.peer(stream) == vnn for stream in reports.under_way()):
            return None
        return self._enter_empty(reports, REPORT_BYTES, vnn, target)

    def _enter_empty(self, channel: Channel, size: int, vnn: int, target: int) -> int:
        """Enter a message that this NI has yet to write, and return its slot."""
        stream = self.order.number(channel.index, vnn, target)
        slot = self.enter(channel, size, stream)
        channel.state[slot] = FETCHING
        self.streams.wait(channel, slot, stream)
        return slot
