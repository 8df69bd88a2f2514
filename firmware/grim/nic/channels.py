"""Logical channels: the queue between host and NI, and the scoreboard of its messages in flight.

This module implements the append queue (paper 000, 4.2.2 b): messages are contiguous, without gaps. The package
`queues` implements the other styles.

A channel's queue has three pointers: front (oldest unacknowledged message), next (first message that the NI has not
processed) and back (where the host appends). Messages between front and next are in the scoreboard, a ring of fixed
slots in queue order. The token of a message is its channel's first token plus its slot, so an answer identifies its
message without a search.
"""

from __future__ import annotations

from collections.abc import Sequence

from firmware.grim.formats import GRIM_ID, NI_TOKENS, REPORT_TOKENS, TREE_TOKENS
from firmware.grim.nic.layout import Layout, Register, following
from firmware.verbs import Nic

WAITING, SENT, DONE, FETCHING, ANSWERED = range(5)
"""States of a scoreboard entry: to be sent or retransmitted, in flight, acknowledged, waiting for its payload,
acknowledged while a copy is still in the send engine.
"""
APPEND, SLOTTED, HYBRID = range(3)
"""Queue styles, in the order of the path tables in `path_tables`."""
UNSENT = (WAITING, FETCHING)
"""States of a message that has to be sent or retransmitted."""


class Channel:
    """Logical channel with its queue and scoreboard.

    Channels 0 to `channels` - 1 belong to the host. Channel `channels` is the NI's own, for replies to remote reads.
    The next ones hold copies for multicast trees, and the last one holds reports to other hosts (`reports_afar`).
    Scoreboard columns are lists indexed by slot; `first` and `count` delimit the ring of used entries.
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
        """Slot size in bytes, 0 for queues without slots."""
        self.next = 0
        self._next_register = layout.register(index, Register.NEXT)
        self.first = 0
        self.count = 0
        self.head = 0
        """Running number (32 bits) of the message in slot `first`."""
        self.blocked = False
        """True while the scoreboard is full and the search skips this channel."""
        self.offset = [0] * self.slots
        self.size = [0] * self.slots
        self.stream = [0] * self.slots
        self.sequence = [0] * self.slots
        self.state = [DONE] * self.slots
        self.message = [0] * self.slots
        """Numbers of the messages, for the trace."""
        self.again = [False] * self.slots
        """True for messages that were rolled back at least once, by slot."""
        self._nic = nic

    def _go_to(self, offset: int) -> None:
        """Move the next pointer, and its copy in SRAM, to an offset."""
        self.next = offset
        self._nic.store(self._next_register, offset)

    def restart(self) -> None:
        """Begin again at offset 0 of the queue, which is empty."""
        self._go_to(0)
        self._nic.store(self.front_register, 0)
        self._nic.store(self.back_register, 0)

    def append(self, size: int, stream: int, sequence: int) -> int:
        """Enter the message at `next` into the scoreboard as WAITING and return its slot. A slot must be free."""
        slot = (self.first + self.count) % self.slots
        self.count += 1
        self._fill(slot, self.next, size, stream, sequence)
        self._go_to(following(self.next, self.stride or size, self.limit))
        return slot

    def _fill(self, slot: int, offset: int, size: int, stream: int, sequence: int) -> None:
        """Initialise a free slot for the message at a queue offset."""
        self.offset[slot] = offset
        self.size[slot] = size
        self.stream[slot] = stream
        self.sequence[slot] = sequence
        self.state[slot] = WAITING
        self.again[slot] = False
        self.message[slot] = self._nic.message_at(self.base + offset)

    def append_same(self, other: int, stream: int, sequence: int) -> int:
        """Enter the message of an existing slot a second time, for another stream, and return the new slot."""
        behind = self.next
        slot = self.append(self.size[other], stream, sequence)
        self.offset[slot] = self.offset[other]
        self._go_to(behind)
        return slot

    def done(self, slot: int) -> int:
        """Mark a message as acknowledged and free the completed messages at the front of the queue.

        Returns:
            The number of messages freed, 0 if an older message is still unacknowledged.
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
        """Return word 0 (identifier, token, sequence number) of the message in a slot."""
        return GRIM_ID << 16 | self.first_token + slot << 8 | self.sequence[slot]

    def number(self, slot: int) -> int:
        """Return the running number (32 bits) of the message in a slot."""
        return self.head + (slot - self.first) % self.slots & 0xFFFFFFFF


def holder(channels: Sequence[Channel], own: int, token: int) -> tuple[Channel, int] | None:
    """Return channel and slot of a token, or None for an unused token. `own` is the index of the NI's own channel."""
    index = min(token * own // channels[own].first_token, own)
    slot = token - channels[index].first_token
    if index == own and slot >= NI_TOKENS:
        further, slot = divmod(slot - NI_TOKENS, TREE_TOKENS)
        index += 1 + further
    return (channels[index], slot) if index < len(channels) and slot < channels[index].slots else None
