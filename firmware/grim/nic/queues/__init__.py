"""Styles of a channel's message queue on the NI (paper 000, 4.2.2; option `queue_style`)."""

from __future__ import annotations

from firmware.grim.nic.channels import Channel
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.queues.card import CardQueue
from firmware.grim.nic.queues.hybrid import HybridQueue
from firmware.grim.nic.queues.slotted import SlottedQueue

STYLES: dict[str, type[Channel]] = {"append": Channel, "slotted": SlottedQueue, "hybrid": HybridQueue}


def create_queues(ni: Ni) -> list[Channel]:
    """Create the channels of the host and its card; the options select the style of the host's queues."""
    count, style = ni.options.channels, STYLES[ni.options.queue_style]
    kinds = [CardQueue if index == ni.card_channel else style for index in range(count)]
    return [kind(ni.nic, ni.layout, index, count) for index, kind in enumerate(kinds)]
