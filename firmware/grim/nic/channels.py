"""Logical channels: the queue between host and NI, and the scoreboard of its messages in flight.

The queue of this file is the append queue (paper 000, 4.2.2 b): messages one behind the other without a gap. The other
styles stand in `queues`.

A channel's queue has three pointers: front (oldest message not acknowledged), next (first message the NI has not
looked at) and back (where the host appends). Messages between front and next are in the scoreboard, a ring of fixed
slots in the order of the queue. The token of a message is its channel's first token plus its slot, so the message of an
answer is found without a search.
"""

from __future__ import annotations

from collections.abc import Sequence

from firmware.grim.formats import GRIM_ID, NI_TOKENS, REPORT_TOKENS, TREE_TOKENS
from firmware.grim.nic.layout import Layout, Register, following
from firmware.verbs import Nic

WAITING, SENT, DONE, FETCHING, ANSWERED = range(5)
"""States of a scoreboard entry: to be sent (again), in flight, acknowledged, waiting for its payload, acknowledged
while a copy of it is on its way to the link.
"""
APPEND, SLOTTED, HYBRID = range(3)
"""Styles of queues, in the order of the tables of paths (`costs_of`)."""
UNSENT = (WAITING, FETCHING)
"""States of a message that must be sent (again)."""


class Channel:
    """One logical channel; number `channels` is the NI's own, for its replies to remote reads, those behind it are the
    copies for the multicast trees, the last one the reports to other hosts (`reports_afar`). Scoreboard columns are
    lists indexed by slot; `first` and `count` are the ring of entries in use.
    """

    style = APPEND

    def __init__(self, nic: Nic, layout: Layout, index: int, channels: int) -> None:
        self.index = index
        self.first_token = index * layout.slots
        if index < channels:
            self.base, self.limit, self.slots = layout.queues[index], layout.limit, layout.queue_slots
        elif index == channels:
            self.base, self.limit, self.slots = layout.own_queue, layout.own_limit, NI_TOKENS
        else:
            tree = index - channels - 1
            self.first_token = channels * layout.slots + NI_TOKENS + tree * TREE_TOKENS
            if tree < len(layout.tree_queues):
                self.base, self.limit, self.slots = layout.tree_queues[tree], layout.tree_limit, TREE_TOKENS
            else:
                self.base, self.limit, self.slots = layout.reports_afar, 0, REPORT_TOKENS
        self.front_register = layout.register(index, Register.FRONT)
        self.back_register = layout.register(index, Register.BACK)
        self.stride = 0
        """Bytes of a slot, where the queue has slots."""
        self.next = 0
        self._next_register = layout.register(index, Register.NEXT)
        self.first = 0
        self.count = 0
        self.head = 0
        """Number of the message in slot `first`, counted from the beginning, 32 bits."""
        self.blocked = False
        """The scoreboard is full: the search passes this channel over until an entry is free."""
        self.offset = [0] * self.slots
        self.size = [0] * self.slots
        self.stream = [0] * self.slots
        self.sequence = [0] * self.slots
        self.state = [DONE] * self.slots
        self.again = [False] * self.slots
        """Rolled back at least once."""
        self._nic = nic

    def _go_to(self, offset: int) -> None:
        """The first message that the NI has not looked at stands there now; SRAM says so too."""
        self.next = offset
        self._nic.store(self._next_register, offset)

    def append(self, size: int, stream: int, sequence: int) -> int:
        """Enter the message at `next` into the scoreboard, waiting; its slot. There must be a free slot."""
        slot = (self.first + self.count) % self.slots
        self.count += 1
        self._fill(slot, self.next, size, stream, sequence)
        self._go_to(following(self.next, self.stride or size, self.limit))
        return slot

    def _fill(self, slot: int, offset: int, size: int, stream: int, sequence: int) -> None:
        """Enter a message at an offset into a free slot, waiting."""
        self.offset[slot] = offset
        self.size[slot] = size
        self.stream[slot] = stream
        self.sequence[slot] = sequence
        self.state[slot] = WAITING
        self.again[slot] = False

    def append_same(self, other: int, stream: int, sequence: int) -> int:
        """Enter the message of a slot once more, for another stream; its slot."""
        behind = self.next
        slot = self.append(self.size[other], stream, sequence)
        self.offset[slot] = self.offset[other]
        self._go_to(behind)
        return slot

    def done(self, slot: int) -> int:
        """Mark a message acknowledged; when it is the oldest, free the queue up to the oldest that is not. Messages
        freed.
        """
        self.state[slot] = DONE
        if slot != self.first:
            return 0
        freed = 0
        while freed < self.count and self.state[slot] == DONE:
            freed += 1
            slot = slot + 1 if slot + 1 < self.slots else 0
        self.count -= freed
        self.first = slot
        self.head = self.head + freed & 0xFFFFFFFF
        self._nic.store(self.front_register, self.offset[slot] if self.count else self.next)
        return freed

    def key(self, slot: int) -> int:
        """Word 0 of the message in a slot: token and sequence."""
        return GRIM_ID << 16 | self.first_token + slot << 8 | self.sequence[slot]

    def number(self, slot: int) -> int:
        """Number of the message in a slot, counted from the beginning, 32 bits."""
        return self.head + (slot - self.first) % self.slots & 0xFFFFFFFF


def holder(channels: Sequence[Channel], own: int, token: int) -> tuple[Channel, int] | None:
    """Channel and slot that a token means; None: it is nobody's. `own`: number of the NI's own channel."""
    index = min(token * own // channels[own].first_token, own)
    slot = token - channels[index].first_token
    if index == own and slot >= NI_TOKENS:
        further, slot = divmod(slot - NI_TOKENS, TREE_TOKENS)
        index += 1 + further
    return (channels[index], slot) if index < len(channels) and slot < channels[index].slots else None
