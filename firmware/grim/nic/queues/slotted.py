"""The slotted queue (paper 000, 4.2.2 a): slots of one size, each with room for the longest message.

A message always begins where a slot does, and the first word of the slot tells its state, so the NI needs no
scoreboard: the slot is the entry. What a short message leaves of its slot is lost.
"""

from __future__ import annotations

from firmware.grim.nic.channels import SLOTTED, Channel
from firmware.grim.nic.layout import STATUS_BYTES, Layout
from firmware.verbs import Nic


class SlottedQueue(Channel):
    """A channel whose queue is slotted: entry and slot have one number."""

    style = SLOTTED

    def __init__(self, nic: Nic, layout: Layout, index: int, channels: int) -> None:
        super().__init__(nic, layout, index, channels)
        self.base += STATUS_BYTES
        self.stride = layout.stride
