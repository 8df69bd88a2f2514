"""Host memory for messages between kernel agents: places of a descriptor, and behind it a message."""

from __future__ import annotations

from firmware.verbs import Host
from firmware.via.formats import Field

MESSAGE_BYTES = 64
PLACES = 16
"""Messages that may wait to be read, or to be sent."""


class MessageBuffers:
    """Of one host."""

    def __init__(self, host: Host) -> None:
        stride = Field.SIZE + MESSAGE_BYTES
        base = host.allocate(2 * PLACES * stride).address
        self.sends = [base + stride * i for i in range(PLACES)]
        self.receives = [base + stride * (PLACES + i) for i in range(PLACES)]
        """Physical addresses of descriptors."""
