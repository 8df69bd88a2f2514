"""The styles of a channel's message queue (paper 000, 4.2.2; option `queue_style`), as the NI keeps them."""

from __future__ import annotations

from firmware.grim.nic.channels import Channel
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.queues.hybrid import HybridQueue
from firmware.grim.nic.queues.slotted import SlottedQueue

STYLES: dict[str, type[Channel]] = {"append": Channel, "slotted": SlottedQueue, "hybrid": HybridQueue}


def queues_of(ni: Ni) -> list[Channel]:
    """The channels of the hosts, with queues of the style that the options ask for."""
    count = ni.options.channels
    return [STYLES[ni.options.queue_style](ni.nic, ni.layout, index, count) for index in range(count)]
