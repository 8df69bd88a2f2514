"""Packet port: the firmware's interface for packets between host memory and the network, on any NIC.

A packet is two header words of the layer and up to `most` bytes of payload. The highest three bits of the second word
hold the payload's size modulo 8.

Sending: payload is fetched from host memory piece by piece, in order, and each piece leaves as one packet. A few bytes
may come from the firmware itself (`inline`). Receiving: the payload of the oldest packet is delivered to host memory
piece by piece. Data of `deliver` and `store` reach host memory in the order of the calls (readings C16).

Each call charges its own instructions; the layer charges those around it. A call's `message` is the number in the trace
of the message to which the data belong, or that they answer; 0 for none.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from firmware.common.nic.services import Service


def padding(second: int, padded: int) -> int:
    """Return the number of padding bytes after the payload. A network pads packets to words.

    Args:
        second: Second header word.
        padded: Bytes after the header.
    """
    return padded - (second >> 29) & 7


class Arrived(NamedTuple):
    """Packet at the head of the receive side."""

    source: int
    """Sending node."""
    header: tuple[int, int]
    """Header words of the layer."""
    size: int
    """Bytes of payload."""
    good: bool
    """True if CRC and length are right. Otherwise no field is valid, except the message."""
    message: int
    """Number of the packet's message in the trace."""


class PortEvents(Protocol):
    """Callbacks of the port to the layer, from the polling loop. The layer charges its own instructions."""

    async def fetched(self) -> None:
        """Handle the completion of the oldest fetch not yet reported, which may now be launched on any NIC."""

    async def launched(self) -> None:
        """Handle the end of the last `launch`: the next packet may be launched."""

    async def arrived(self) -> None:
        """Handle a packet at the head of the receive side. The layer releases it by `drop`."""

    async def stored(self) -> None:
        """Handle an increase of `PacketPort.stored`."""


class PacketPort(Protocol):
    """Packets of one NIC."""

    most: int
    """Maximum payload of a packet in bytes."""
    prepares: bool
    """True if a header can be given before its payload has been fetched."""
    waits: bool
    """True if the hardware waits for a packet's payload, so that a fetch may be launched once it is started."""
    stored: int
    """Number of `store` calls, since the start, whose data are in host memory with all data delivered before."""

    async def fetch(self, address: int, size: int, message: int = 0) -> None:
        """Start fetching `size` bytes (1 to `most`) at a physical address into the NIC. Returns when started.

        Fetches are launched in the order of their starts, each as one packet.
        """

    def room(self, size: int) -> bool:
        """Return True if a fetch of `size` bytes may be started now."""

    def ready(self) -> bool:
        """Return True if a packet may be launched now. Otherwise `launched` reports when."""

    async def launch(
        self, node: int, header: tuple[int, int], size: int, inline: bytes = b"", way: int = 0, message: int = 0
    ) -> None:
        """Send a packet: the header, then the oldest fetch or the bytes of `inline`.

        Args:
            node: Destination.
            header: Words of the layer. The top bit of the first must be 0: the word is the packet's key in every trace.
            size: Payload bytes: the size of the fetch, or the length of `inline`.
            inline: At most 8 bytes from the firmware.
            way: Index of the route to the node. A LANai has only the first.
            message: Number of the message in the trace.
        """

    async def prepare(self, node: int, header: tuple[int, int]) -> None:
        """Give node and header to the oldest fetch without a header, before its end. Requires `prepares`."""

    async def launch_prepared(self, size: int, message: int = 0) -> None:
        """Send the oldest fetch, which has a header and `size` bytes. Requires `prepares`."""

    def head(self) -> Arrived:
        """Return the packet that `arrived` reported."""

    async def inline(self) -> tuple[int, int]:
        """Return the first 8 payload bytes as two words, zero-padded. Call before the first `deliver`."""

    async def deliver(self, address: int, size: int) -> None:
        """Start moving the next `size` payload bytes to host memory. Returns when started."""

    async def drop(self) -> None:
        """Discard the rest of the packet. Its buffer is free once its deliveries are in host memory."""

    async def store(self, address: int, words: Sequence[int], message: int = 0) -> None:
        """Start storing 1 to 4 words to host memory, after all earlier deliveries and stores. Returns when started."""

    async def read(
        self, address: int, count: int, meanwhile: Callable[[], Awaitable[None]] | None = None
    ) -> tuple[int, ...]:
        """Return up to 32 words of host memory, read by DMA.

        Args:
            address: Physical address.
            count: Number of words.
            meanwhile: Work of the processor during the transfer. It must not use the port.
        """

    async def quiet(self) -> None:
        """Wait until all fetches, deliveries and stores started so far are complete."""

    async def interrupt(self) -> None:
        """Interrupt the host after all earlier stores."""

    def services(self, on: PortEvents) -> list[Service]:
        """Return the services that the polling loop needs for the port."""

    def background(self) -> list[Service]:
        """Return the services that a nested loop needs while the firmware waits for something else.

        Without them no store or interrupt completes. Call after `services`.
        """
