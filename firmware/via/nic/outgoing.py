"""A message that is being sent: what of it is still to be fetched, and which packet comes next."""

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
    """The message, in the order of its packets: `before`, one for each fetch, `behind`."""

    endpoint: Endpoint
    connection: Connection
    """By which it goes, whatever becomes of its VI meanwhile."""
    work: Work
    cache: QueueCache | None
    """The queue cache from which it came; None: the data of an RDMA read."""
    number: int
    key: int
    """First word of its packets."""
    data: Kind
    """What its pieces are."""
    before: deque[tuple[Kind, bytes]] = field(default_factory=deque)
    """Packets without a fetch: their bytes came with the descriptor."""
    asked: int = 0
    """Number of the RDMA read that it answers."""
    behind: deque[tuple[Kind, bytes]] = field(default_factory=deque)
    piece: tuple[int, int] = (0, 0)
    """What of a page is not fetched: address, bytes."""
    fetching: deque[int] = field(default_factory=deque)
    """Bytes of the fetches that are not launched."""
    fetched: int = 0
    """How many of them can be."""
    prepared: int = 0
    """How many of them, the oldest ones, have a header."""
    underway: int = 0
    """Fetches that are not complete."""
    first: bool = True
    """None of its packets has left."""
    leaving: bool = False
    """All are launched, and payload is still on its way from host memory."""

    def launchable(self) -> bool:
        """Whether its next packet is there."""
        return bool(self.before or self.fetched or (self.behind and self.all_fetched and not self.fetching))

    @property
    def user(self) -> bool:
        """A process has posted it by itself."""
        return self.cache is not None and self.cache.user

    @property
    def in_turn(self) -> bool:
        """The newest fetch is the next that needs a header."""
        return not self.before and self.prepared + 1 == len(self.fetching)

    @property
    def all_fetched(self) -> bool:
        """The last fetch is started."""
        return not self.piece[1] and not self.work.pages.more()

    @property
    def over(self) -> bool:
        """All its packets have left."""
        return self.all_fetched and not (self.before or self.fetching or self.behind)

    def next(self) -> tuple[Kind, int, bytes]:
        """Take the next packet: kind, bytes, and the bytes themselves if they were not fetched."""
        if self.before:
            kind, data = self.before.popleft()
            return kind, len(data), data
        if self.fetched:
            self.fetched -= 1
            return self.data, self.fetching.popleft(), b""
        kind, data = self.behind.popleft()
        return kind, len(data), data
