"""Styles of a channel's message queue on the NI (paper 000, 4.2.2; option `queue_style`)."""

from __future__ import annotations

from firmware.grim.nic.channels import Channel
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.queues.hybrid import HybridQueue
from firmware.grim.nic.queues.slotted import SlottedQueue

STYLES: dict[str, type[Channel]] = {"append": Channel, "slotted": SlottedQueue, "hybrid": HybridQueue}


def create_queues(ni: Ni) -> list[Channel]:
    """Create the host channels with queues of the style that the options select."""
    count = ni.options.channels
    return [STYLES[ni.options.queue_style](ni.nic, ni.layout, index, count) for index in range(count)]
