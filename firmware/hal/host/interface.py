"""HAL as the layers above use it: packets to other nodes, which may be lost or reordered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from firmware.common.host.payload import Data

MOST = 1024
"""Largest packet in bytes: protocol header and data."""
BUFFERS = 64
"""Number of send buffers of a node, and of its receive buffers."""
KEEPABLE = 48
"""Number of send buffers that layers may keep at a time; the rest is for acknowledgements and the like."""
PROTOCOLS = 8
"""Number of protocols; each layer above HAL has its own protocol number below this."""


@dataclass(frozen=True)
class Packet:
    """Received packet. Its bytes stay in a receive buffer until the handler returns."""

    source: int
    """Node that sent the packet."""
    address: int
    """Physical address of the bytes: protocol header, then data."""
    view: memoryview
    """The bytes, in place."""


Handler = Callable[[Packet], Awaitable[None]]
"""Packet handler of a layer. It may send; it may not poll or wait."""


class Hal(Protocol):
    """HAL of one host. Nodes are virtual node numbers."""

    me: int
    nodes: int

    async def start(self) -> None:
        """Pass the buffers to the NIC. Each layer calls it; later calls do nothing."""

    def on_packet(self, protocol: int, handler: Handler) -> None:
        """Set the handler of a protocol's packets. Raises HalError for an invalid or used protocol number."""

    # ---- sending

    @property
    def keepable(self) -> int:
        """Number of send buffers that may still be kept."""

    async def send(self, node: int, protocol: int, header: bytes, data: Data = b"", keep: bool = False) -> int:
        """Copy header and data into a send buffer and send the packet. Waits for a free buffer without calling
        handlers.

        Args:
            node: destination node.
            protocol: protocol number of the layer.
            header: header of the protocol.
            data: bytes, or a range of host memory; header and data are 1 to `MOST` bytes together.
            keep: True keeps the buffer until `free`; otherwise it is free when the NIC has read it.

        Returns:
            The buffer's number.

        Raises:
            HalError: an unknown node, an invalid protocol or size, or too many kept buffers.
        """

    async def again(self, buffer: int, header: bytes = b"") -> None:
        """Send a kept buffer once more without copying its data. Raises HalError for a buffer that is not kept.

        Args:
            buffer: the buffer's number.
            header: new header, stored over the start of the old one; empty for no change.
        """

    def free(self, buffer: int) -> None:
        """Free a kept send buffer. Raises HalError for a buffer that is not kept."""

    # ---- receiving

    async def poll(self) -> int:
        """Hand over the received packets. Return how many were handed over."""

    async def wait(self, condition: Callable[[], bool], until_ps: int | None = None) -> bool:
        """Poll until a condition holds or a time is reached. Costs no simulator wake-ups while no packet arrives.

        Args:
            condition: predicate; tasks of the host that change its inputs call `changed`.
            until_ps: end of the wait, ps; None waits forever.

        Returns:
            True if the condition holds.
        """

    def changed(self) -> None:
        """Make tasks in `wait` evaluate their conditions again."""

    async def interrupts(self, on: bool, delay_us: int | None = None) -> None:
        """Switch interrupt mode on or off. In interrupt mode a packet that arrives while no task polls interrupts the
        host.

        Args:
            on: True for interrupt mode.
            delay_us: time for which the interrupt routine polls for further packets, anew after each; None uses option
                `interrupt_delay_us`.
        """
