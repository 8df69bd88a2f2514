"""Slotted queue (paper 000, 4.2.2 a): slots of one size, each with room for the longest message.

A message always begins at the start of a slot, and the first word of the slot holds its state. So the NI needs no
separate scoreboard. The rest of a slot with a short message is unused.
"""

from __future__ import annotations

from firmware.grim.nic.channels import SLOTTED, Channel
from firmware.grim.nic.layout import STATUS_BYTES, Layout
from firmware.verbs import Nic


class SlottedQueue(Channel):
    """Channel with a slotted queue; scoreboard entry and slot have the same number."""

    style = SLOTTED

    def __init__(self, nic: Nic, layout: Layout, index: int, channels: int) -> None:
        super().__init__(nic, layout, index, channels)
        self.base += STATUS_BYTES
        self.stride = layout.stride
