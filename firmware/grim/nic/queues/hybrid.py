"""Hybrid queue (paper 000, 4.2.2 c): headers in slots, payloads contiguous in a separate ring.

The header slots hold the state, as in the slotted queue, and payloads waste no room. But host and NI keep two sets of
pointers, and a message with payload leaves by two DMAs. What the NI does between them decides whether it can deadlock
(option `hybrid_wait`).
"""

from __future__ import annotations

from firmware.grim.formats import HEADER_BYTES
from firmware.grim.nic.channels import HYBRID, Channel
from firmware.grim.nic.layout import ROUTE_BYTES, STATUS_BYTES, Layout, Register, following
from firmware.verbs import Nic

HEADER_PIECE = ROUTE_BYTES + HEADER_BYTES


class HybridQueue(Channel):
    """Channel with a hybrid queue. The first word of a header slot is the offset of the payload."""

    style = HYBRID

    def __init__(self, nic: Nic, layout: Layout, index: int, channels: int) -> None:
        super().__init__(nic, layout, index, channels)
        self.base += STATUS_BYTES
        self.stride = layout.stride
        self.payload_base = layout.payload_queues[index]
        self.payload_size = [0] * self.slots
        self.payload_offset = [0] * self.slots
        self._payload_limit = layout.payload_limit
        self._payload_front = 0
        self._payload_register = layout.register(index, Register.PAYLOAD_FRONT)

    def append(self, size: int, stream: int, sequence: int) -> int:
        """Enter the message at `next`; the host has written its payload's offset into the slot."""
        place = self._nic.load(self.base + self.next - STATUS_BYTES)
        slot = super().append(HEADER_PIECE, stream, sequence)
        self.payload_size[slot], self.payload_offset[slot] = size - HEADER_PIECE, place
        return slot

    def done(self, slot: int) -> int:
        """Mark a message as acknowledged, free completed messages, and publish the new front of the payload ring."""
        first = self.first
        freed = super().done(slot)
        front = self._payload_front
        for i in range(freed):
            size = self.payload_size[(first + i) % self.slots]
            if size:
                front = following(self.payload_offset[(first + i) % self.slots], size, self._payload_limit)
        if front != self._payload_front:
            self._payload_front = front
            self._nic.store(self._payload_register, front)
        return freed
