"""Host memory for messages between kernel agents: buffers of a descriptor followed by a message."""

from __future__ import annotations

from firmware.verbs import Host
from firmware.via.formats import Field

MESSAGE_BYTES = 64
PLACES = 16
"""Number of messages that may wait to be read, and to be sent."""


class MessageBuffers:
    """Message buffers of one host."""

    def __init__(self, host: Host) -> None:
        stride = Field.SIZE + MESSAGE_BYTES
        base = host.allocate(2 * PLACES * stride).address
        self.sends = [base + stride * i for i in range(PLACES)]
        self.receives = [base + stride * (PLACES + i) for i in range(PLACES)]
        """Physical addresses of the receive descriptors."""
