"""Outgoing message: the parts that are still to be fetched, and the order of its packets."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from firmware.via.formats import Kind
from firmware.via.nic.connection import Connection
from firmware.via.nic.descriptors import Work
from firmware.via.nic.endpoint import Endpoint
from firmware.via.nic.queue_cache import QueueCache


@dataclass
class Outgoing:
    """Message being sent. Its packets are `before`, then one for each fetch, then `behind`."""

    endpoint: Endpoint
    connection: Connection
    """Connection of the message, even if the VI gets another one meanwhile."""
    work: Work
    cache: QueueCache | None
    """Queue cache of the descriptor, or None for the data of an RDMA read."""
    number: int
    key: int
    """First word of the packets' headers."""
    data: Kind
    """Kind of the fetched packets."""
    before: deque[tuple[Kind, bytes]] = field(default_factory=deque)
    """Packets without a fetch, whose bytes came with the descriptor."""
    asked: int = 0
    """Number of the RDMA read that the message responds to."""
    behind: deque[tuple[Kind, bytes]] = field(default_factory=deque)
    piece: tuple[int, int] = (0, 0)
    """Address and size of the current page's bytes that have not been fetched."""
    fetching: deque[int] = field(default_factory=deque)
    """Sizes of the fetches that have not been launched."""
    fetched: int = 0
    """Number of fetches that may be launched."""
    prepared: int = 0
    """Number of fetches, the oldest, that have a header."""
    underway: int = 0
    """Number of fetches that are not complete."""
    first: bool = True
    """True until the first packet has been sent."""
    leaving: bool = False
    """True if all packets are launched and payload is still being fetched."""
    message: int = 0
    """Number of the message in the trace."""
    cause: int = 0
    """Number in the trace of the RDMA read that the message responds to."""

    def launchable(self) -> bool:
        """Return True if the next packet may be launched."""
        return bool(self.before or self.fetched or (self.behind and self.all_fetched and not self.fetching))

    @property
    def user(self) -> bool:
        """True if a process posted the descriptor without the kernel."""
        return self.cache is not None and self.cache.user

    @property
    def in_turn(self) -> bool:
        """True if the newest fetch is the next that needs a header."""
        return not self.before and self.prepared + 1 == len(self.fetching)

    @property
    def all_fetched(self) -> bool:
        """True if the last fetch has been started."""
        return not self.piece[1] and not self.work.pages.more()

    @property
    def over(self) -> bool:
        """True if all packets have been launched."""
        return self.all_fetched and not (self.before or self.fetching or self.behind)

    def next(self) -> tuple[Kind, int, bytes]:
        """Remove the next packet, and return its kind, its size, and its bytes if they were not fetched."""
        if self.before:
            kind, data = self.before.popleft()
            return kind, len(data), data
        if self.fetched:
            self.fetched -= 1
            return self.data, self.fetching.popleft(), b""
        kind, data = self.behind.popleft()
        return kind, len(data), data
