"""The packet port: how a firmware moves packets between host memory and the network, whatever the NIC has.

A packet is two header words of the layer, the second of which has the bytes of payload, modulo 8, in its highest three
bits, and up to `most` bytes of payload. Going out, payload is fetched from host
memory into the NIC piece by piece, in order, and each piece leaves as one packet; or a few bytes come straight from the
firmware (`inline`). Coming in, the payload of the oldest packet is delivered piece by piece to host memory, and what is
given by `deliver` and `store` reaches host memory in the order in which it was given (readings C16).

Each call charges its own instructions; those of the layer around it are the layer's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from firmware.common.nic.services import Service


def padding(second: int, padded: int) -> int:
    """How many of so many bytes behind a header are no payload, as its second word tells: a network pads to words."""
    return padded - (second >> 29) & 7


class Arrived(NamedTuple):
    """The packet at the head of the receive side."""

    source: int
    """Node that sent it."""
    header: tuple[int, int]
    """The layer's two words."""
    size: int
    """Bytes of payload."""
    good: bool
    """Its CRC was right, and it is as long as it says. In a packet that is not good, no field is valid."""


class PortEvents(Protocol):
    """What the port tells the layer, from the polling loop. The layer charges its own instructions."""

    async def fetched(self) -> None:
        """The oldest fetch that was not yet told of is complete: it may be launched in any case."""

    async def launched(self) -> None:
        """The packet of the last `launch` has been handed over: the next one may be launched."""

    async def arrived(self) -> None:
        """A packet is at the head of the receive side. The layer ends it by `drop`."""

    async def stored(self) -> None:
        """`PacketPort.stored` has grown."""


class PacketPort(Protocol):
    """The packets of one NIC."""

    most: int
    """Bytes of payload a packet takes."""
    prepares: bool
    """A header can be given before its payload is here."""
    waits: bool
    """The hardware waits for a packet's payload: a fetch may be launched as soon as it is started."""
    stored: int
    """How many `store`s are in host memory, counted from the start; so is all that was delivered before them."""

    async def fetch(self, address: int, size: int) -> None:
        """Start to bring `size` bytes (1 to `most`) at the physical address into the NIC. Returns when started.

        The fetches make a queue: each is launched, in the order of their starts, as one packet.
        """

    def room(self, size: int) -> bool:
        """Whether a fetch of so many bytes may be started now."""

    def ready(self) -> bool:
        """Whether a packet may be launched now; `launched` tells when it may again."""

    async def launch(self, node: int, header: tuple[int, int], size: int, inline: bytes = b"", way: int = 0) -> None:
        """Send a packet to a node: header, then the oldest fetch, whose `size` it has; or the bytes `inline`
        (at most 8, `size` is their number). The top bit of the first word must be 0: it is the packet's key in
        every trace. `way`: which of the routes to the node it takes; a LANai knows the first one only.
        """

    async def prepare(self, node: int, header: tuple[int, int]) -> None:
        """Where `prepares`: give the oldest fetch that has no header its node and header, while it is under way."""

    async def launch_prepared(self, size: int) -> None:
        """Where `prepares`: send the oldest fetch, which has a header, and `size` bytes."""

    def head(self) -> Arrived:
        """The packet of which `arrived` told."""

    async def inline(self) -> tuple[int, int]:
        """The first 8 bytes of its payload as two words, zeros where it is shorter. Before the first `deliver`."""

    async def deliver(self, address: int, size: int) -> None:
        """The next `size` bytes of its payload to host memory. Returns when started."""

    async def drop(self) -> None:
        """The rest of it is dropped: its buffer is free once what was delivered is in host memory."""

    async def store(self, address: int, words: Sequence[int]) -> None:
        """Words to host memory (1 to 4, behind all delivered and stored before). Returns when started."""

    async def read(
        self, address: int, count: int, meanwhile: Callable[[], Awaitable[None]] | None = None
    ) -> tuple[int, ...]:
        """Up to 32 words of host memory; returns when they are here. The processor does what `meanwhile` says, which
        does not use the port, and nothing else.
        """

    async def quiet(self) -> None:
        """Return when all fetches, deliveries and stores that were started so far are done."""

    async def interrupt(self) -> None:
        """Interrupt the host, behind everything that was stored before."""

    def services(self, on: PortEvents) -> list[Service]:
        """What the polling loop must look at."""

    def background(self) -> list[Service]:
        """What of it a loop must look at that waits for something else: without it, no store and no interrupt ends.

        Called after `services`.
        """
