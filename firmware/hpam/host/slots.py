"""State of a process's buffers on the card: four for requests and four for replies of each node.

Reply buffer i of a node belongs to the node's request buffer i: the node's next request there implies that the reply
has arrived (readings AM-C7). So a buffer in reuse has always been sent, unless its packet was retransmitted. In that
case the card is polled first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from firmware.common.host.request_reply import Kind
from firmware.hpam.host.message import SLOTS

SEQUENCES = 1 << 16


@dataclass
class Sent:
    """Message in a buffer."""

    descriptor: int
    size: int
    """Used bytes of the buffer, in whole words."""
    sequence: int
    trace: int
    message: int
    bytes: int
    """Size of the message."""
    deadline: int = 0
    """Time of the next retransmission, ps."""
    wait: int = 0
    """Last wait for the reply, ps."""


class Slots:
    """Buffer state of one process."""

    def __init__(self, partners: Sequence[int]) -> None:
        self._partners = list(partners)
        self._sequences = {(node, slot): 0 for node in partners for slot in range(SLOTS)}
        self.requests: dict[tuple[int, int], Sent] = {}
        """Requests without a reply, by node and slot."""
        self.replies: dict[tuple[int, int], Sent] = {}
        """Last reply, by node and slot."""
        self.again: set[int] = set()
        """Retransmitted buffers whose transmission is not known to be complete."""
        self._seen: dict[tuple[int, int], int] = {}
        """Sequence number of the last executed request, by node and slot."""

    def buffer(self, kind: Kind, node: int, slot: int) -> int:
        """Return the number of a buffer on the card."""
        return 1 + 2 * SLOTS * self._partners.index(node) + SLOTS * (kind is Kind.REPLY) + slot

    def free(self, node: int) -> int | None:
        """Return a free request slot of a node, or None."""
        return next((slot for slot in range(SLOTS) if self._is_free(node, slot)), None)

    def _is_free(self, node: int, slot: int) -> bool:
        return (node, slot) not in self.requests and self.buffer(Kind.REQUEST, node, slot) not in self.again

    def next_sequence(self, node: int, slot: int) -> int:
        """Return the sequence number of the next request in a slot, counted from 1."""
        self._sequences[node, slot] = (self._sequences[node, slot] + 1) % SEQUENCES
        return self._sequences[node, slot]

    def new(self, node: int, slot: int, sequence: int) -> bool | None:
        """Record a request as executed. Return True if it is new, False if it is the last one, None if it is out of
        order.
        """
        last = self._seen.get((node, slot), 0)
        if sequence == (last + 1) % SEQUENCES:
            self._seen[node, slot] = sequence
            return True
        return False if sequence == last and last else None

    def deadline(self) -> int | None:
        """Return the time of the next retransmission, or None."""
        return min((sent.deadline for sent in self.requests.values()), default=None)

    def overdue(self, now: int) -> Iterator[tuple[int, Sent]]:
        """Yield overdue requests with their buffers."""
        for (node, slot), sent in list(self.requests.items()):
            if sent.deadline <= now:
                yield self.buffer(Kind.REQUEST, node, slot), sent

    def used(self) -> Iterator[tuple[int, Sent]]:
        """Yield the buffers whose contents are still needed."""
        for kind, all_sent in ((Kind.REQUEST, self.requests), (Kind.REPLY, self.replies)):
            for (node, slot), sent in all_sent.items():
                yield self.buffer(kind, node, slot), sent
