"""HAL as layers on it see it: packets to other nodes, any of which may be lost, or overtake one before it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

MOST = 1024
"""Bytes of a packet: the header of the protocol, and its data."""
BUFFERS = 64
"""Send buffers of a node, and its receive buffers."""
KEEPABLE = 48
"""Send buffers that layers may keep at a time: the others are left for acknowledgements and the like."""
PROTOCOLS = 8
"""Protocols, the layers on HAL, have numbers below."""


class Stretch(NamedTuple):
    """Bytes that stand in host memory."""

    address: int
    """Physical."""
    size: int


Data = bytes | bytearray | memoryview | Stretch


@dataclass(frozen=True)
class Packet:
    """A packet that has come. Its bytes stand in a receive buffer, until the handler returns."""

    source: int
    """Node that sent it."""
    address: int
    """Physical address of its bytes: header of the protocol, then data."""
    view: memoryview
    """The bytes themselves."""


Handler = Callable[[Packet], Awaitable[None]]
"""What a layer does with a packet. It may send; it may not poll or wait."""


class Hal(Protocol):
    """HAL on one host. Nodes are virtual node numbers."""

    me: int
    nodes: int

    async def start(self) -> None:
        """Set up the rings of the NIC. Each layer calls it; the first call does it."""

    def on_packet(self, protocol: int, handler: Handler) -> None:
        """Have the packets of a protocol handed over to `handler`, one at a time. Raises HalError for a number that
        is not a protocol's, or that another layer has.
        """

    # ---- out

    @property
    def keepable(self) -> int:
        """How many send buffers more may be kept."""

    async def send(self, node: int, protocol: int, header: bytes, data: Data = b"", keep: bool = False) -> int:
        """Copy header and data into a send buffer, and have the NIC send it; the number of the buffer. It waits until
        one is free, and calls no handlers meanwhile. With `keep` the buffer stays the caller's until `free`; otherwise
        it is free when the NIC has read it. Raises HalError for a packet that is empty or too long, for a node that
        there is not, and for more buffers than may be kept.
        """

    async def again(self, buffer: int, header: bytes = b"") -> None:
        """Send a buffer that was kept once more, without copying its data; `header` is stored over the old one. Raises
        HalError for a buffer that is not kept.
        """

    def free(self, buffer: int) -> None:
        """A buffer that was kept is not needed any more. Raises HalError for one that is not kept."""

    # ---- in

    async def poll(self) -> int:
        """Hand over the packets that are here; how many."""

    async def wait(self, condition: Callable[[], bool], until_ps: int | None = None) -> bool:
        """Poll until the condition holds, or until it is that time; whether it holds. While nothing comes it costs no
        Python; other tasks of the host that change what the condition looks at call `changed`.
        """

    def changed(self) -> None:
        """Let those that are in `wait` look at their conditions again."""

    async def interrupts(self, on: bool, delay_us: int | None = None) -> None:
        """Switch interrupt mode on or off: whether a packet that comes while nobody polls interrupts the host. The
        service routine hands it over, and those that come within the delay, which begins anew with each; None: that of
        option `interrupt_delay_us`.
        """
