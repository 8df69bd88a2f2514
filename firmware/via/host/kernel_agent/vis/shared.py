"""Objects shared by the VIs of a NIC."""

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
    """Notification of the peers of broken connections."""

    def begin(self, node: int, made: Message, vi: int) -> None:
        """Notify a node of the end of a VI's connection, in a task of its own."""


@dataclass(frozen=True)
class Shared:
    """Objects shared by the VIs of one NIC."""

    host: Host
    layout: Layout
    """Layout of the NIC's memory."""
    lock: KernelLock
    """Lock of the queue caches."""
    commands: CommandRing
    sends: Cache
    """Central send queue cache."""
    notices: Notices

    @property
    def options(self) -> Options:
        """Options of the layer."""
        return self.layout.options
