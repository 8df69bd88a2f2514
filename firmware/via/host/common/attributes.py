"""Attributes of a NIC, of a VI, and of registered memory (VIP_..._ATTRIBUTES of the specification)."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.via.formats import Reliability
from firmware.via.nic.layout import State


@dataclass(frozen=True)
class NicAttributes:
    """Result of VipQueryNic: capabilities and limits of a host's NIC."""

    name: str
    node: int
    """Address of the NIC: the number of its node."""
    nodes: int
    """Number of addresses, including its own."""
    vis: int
    """Number of VIs for processes."""
    descriptors: int
    """Number of descriptors that may be posted on a work queue."""
    segments: int
    """Maximum number of segments of a descriptor."""
    queues: int
    entries: int
    """Maximum number of entries of a completion queue."""
    regions: int
    register_bytes: int
    """Number of bytes that a host can register, or 0 if only its memory size limits it."""
    transfer: int
    """Maximum message size in bytes."""
    mtu: int
    """Maximum packet payload in bytes."""
    reliability: tuple[Reliability, ...]
    rdma_read: bool


@dataclass(frozen=True)
class ViAttributes:
    """Attributes of a VI. A server sees reliability and maximum message size of a client's VI."""

    tag: int
    reliability: Reliability
    most: int
    """Maximum message size in bytes."""
    rdma_write: bool = True
    """True if the peer may write memory that is registered for RDMA writes."""
    rdma_read: bool = True
    """True if the peer may read memory that is registered for RDMA reads."""


@dataclass(frozen=True)
class ViState:
    """Result of VipQueryVi."""

    state: State
    attributes: ViAttributes
    sends_empty: bool
    receives_empty: bool


@dataclass(frozen=True)
class MemoryAttributes:
    """Attributes of a registered region (VipQueryMem)."""

    tag: int
    rdma_write: bool = False
    rdma_read: bool = False
