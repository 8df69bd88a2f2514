"""Receive queue of a VI."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from firmware.via.nic.descriptors import Work
from firmware.via.nic.queue_cache import QueueCache


@dataclass
class ReceiveQueue:
    """Receive descriptors that have not been used for a message."""

    cache: QueueCache
    ahead: deque[Work] = field(default_factory=deque)
    """Descriptors read ahead. They precede those in the queue cache."""
