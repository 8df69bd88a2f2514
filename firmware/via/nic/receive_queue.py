"""The receive queue of a VI."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from firmware.via.nic.descriptors import Work
from firmware.via.nic.queue_cache import QueueCache


@dataclass
class ReceiveQueue:
    """Receive descriptors that no message has taken yet."""

    cache: QueueCache
    ahead: deque[Work] = field(default_factory=deque)
    """Read out of the queue cache before a message needs them; they come before those that still stand there."""
