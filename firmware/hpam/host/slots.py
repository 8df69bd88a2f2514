"""The buffers of a process on the card: of each node four for requests and four for replies, and what is in them.

Reply buffer i of a node belongs to the node's request buffer i: the next request from there says that the reply has
arrived (readings AM-C7). So a buffer that is used again has always been sent, unless its packet was sent again: then
the card is asked before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from firmware.common.host.request_reply import Kind
from firmware.hpam.host.message import SLOTS

SEQUENCES = 1 << 16


@dataclass
class Sent:
    """What stands in a buffer."""

    descriptor: int
    size: int
    """Bytes of the buffer that are used, whole words."""
    sequence: int
    trace: int
    send: int
    bytes: int
    """Of the message."""
    deadline: int = 0
    """When a request is sent again, in picoseconds."""
    wait: int = 0
    """How long it waited for its answer last, in picoseconds."""


class Slots:
    """Of one process."""

    def __init__(self, partners: Sequence[int]) -> None:
        self._partners = list(partners)
        self._sequences = {(node, slot): 0 for node in partners for slot in range(SLOTS)}
        self.requests: dict[tuple[int, int], Sent] = {}
        """By node and slot: requests that are not answered."""
        self.replies: dict[tuple[int, int], Sent] = {}
        """By node and slot: the last answers."""
        self.again: set[int] = set()
        """Buffers that were sent again, and of which nobody knows whether the card has done it."""
        self._seen: dict[tuple[int, int], int] = {}
        """By node and slot: the sequence of the request that was executed last."""

    def buffer(self, kind: Kind, node: int, slot: int) -> int:
        """The number of a buffer on the card."""
        return 1 + 2 * SLOTS * self._partners.index(node) + SLOTS * (kind is Kind.REPLY) + slot

    def free(self, node: int) -> int | None:
        """A request buffer of a node that is free."""
        return next((slot for slot in range(SLOTS) if self._is_free(node, slot)), None)

    def _is_free(self, node: int, slot: int) -> bool:
        return (node, slot) not in self.requests and self.buffer(Kind.REQUEST, node, slot) not in self.again

    def next_sequence(self, node: int, slot: int) -> int:
        """Of the next request in a slot; from 1."""
        self._sequences[node, slot] = (self._sequences[node, slot] + 1) % SEQUENCES
        return self._sequences[node, slot]

    def new(self, node: int, slot: int, sequence: int) -> bool | None:
        """Whether a request was not executed yet, which it is from now on; None: it is old, or ahead of its turn."""
        last = self._seen.get((node, slot), 0)
        if sequence == (last + 1) % SEQUENCES:
            self._seen[node, slot] = sequence
            return True
        return False if sequence == last and last else None

    def deadline(self) -> int | None:
        """When the next request is to be sent again."""
        return min((sent.deadline for sent in self.requests.values()), default=None)

    def overdue(self, now: int) -> Iterator[tuple[int, Sent]]:
        """The requests that are to be sent again, each with its buffer."""
        for (node, slot), sent in list(self.requests.items()):
            if sent.deadline <= now:
                yield self.buffer(Kind.REQUEST, node, slot), sent

    def used(self) -> Iterator[tuple[int, Sent]]:
        """The buffers whose contents are needed again."""
        for kind, all_sent in ((Kind.REQUEST, self.requests), (Kind.REPLY, self.replies)):
            for (node, slot), sent in all_sent.items():
                yield self.buffer(kind, node, slot), sent
