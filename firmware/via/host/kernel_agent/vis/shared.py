"""What the VIs of a NIC share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from firmware.verbs import Host
from firmware.via.host.kernel_agent.messages.message import Message
from firmware.via.host.kernel_agent.rings.cache import Cache
from firmware.via.host.kernel_agent.rings.command_ring import CommandRing
from firmware.via.host.kernel_agent.rings.lock import KernelLock
from firmware.via.nic.layout import Layout
from firmware.via.options import Options


class Notices(Protocol):
    """How the peer of a broken connection is told."""

    def begin(self, node: int, made: Message, vi: int) -> None:
        """Tell a node, while others go on, that a connection of this VI has ended."""


@dataclass(frozen=True)
class Shared:
    """Of one NIC."""

    host: Host
    layout: Layout
    """Of the NIC's memory."""
    lock: KernelLock
    """Of the queue caches."""
    commands: CommandRing
    sends: Cache
    """The central send queue cache."""
    notices: Notices

    @property
    def options(self) -> Options:
        """The layer's."""
        return self.layout.options
