"""What a process can ask for and set: attributes of a NIC, of a VI, of registered memory (the specification's VIP_..._
ATTRIBUTES).
"""

from __future__ import annotations

from dataclasses import dataclass

from firmware.via.formats import Reliability
from firmware.via.nic.layout import State


@dataclass(frozen=True)
class NicAttributes:
    """VipQueryNic: what a NIC of this host can do."""

    name: str
    node: int
    """Its address: the number of its node."""
    nodes: int
    """Addresses that it can reach, and its own."""
    vis: int
    """For processes."""
    descriptors: int
    """That may be posted, a work queue."""
    segments: int
    """Of a descriptor."""
    queues: int
    entries: int
    """Of a completion queue."""
    regions: int
    register_bytes: int
    """Of a host: pages for which there is room in tables, or its memory's size (0) where tables stand there."""
    transfer: int
    """Bytes of a message."""
    mtu: int
    """Bytes of a packet."""
    reliability: tuple[Reliability, ...]
    rdma_read: bool


@dataclass(frozen=True)
class ViAttributes:
    """Of a VI. A process that is asked for a connection sees its peer's level and size."""

    tag: int
    reliability: Reliability
    most: int
    """Bytes of a message."""
    rdma_write: bool = True
    """The peer may write memory that is registered for it."""
    rdma_read: bool = True
    """The same for reads."""


@dataclass(frozen=True)
class ViState:
    """VipQueryVi."""

    state: State
    attributes: ViAttributes
    sends_empty: bool
    receives_empty: bool


@dataclass(frozen=True)
class MemoryAttributes:
    """VipQueryMem: of a registered region."""

    tag: int
    rdma_write: bool = False
    rdma_read: bool = False
