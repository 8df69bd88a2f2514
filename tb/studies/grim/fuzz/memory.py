"""Reference of remote memory: possible values of each byte.

Every write is an effect on a range of virtual addresses of a node. Of effects in one order (a sender's channel to a
node), later ones hide earlier ones. Effects of different orders may occur in any sequence. A byte is correct if an
effect wrote it that no later effect of its order hides. An unchanged byte is correct if no certain effect covers it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tb.studies.grim.fuzz.errors import Due

Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]


class Order(NamedTuple):
    """Sequence of effects: a task of a node, on one of its channels to another node."""

    kind: str
    """"own" for the node's CPU, "to" for writes and the requests of reads, "read" for the replies.

    Replies with bytes of a card, "card read", follow no order with the others.
    """
    by: int
    task: int
    channel: int
    node: int


LOCK_FREE = 0x5A5A_5A5A
"""Initial value of a lock."""
FOREVER = 1 << 62


@dataclass
class Block:
    """Registered memory of a node, valid from `born` to `freed`; its release takes from `freeing` to `freed`."""

    node: int
    va: int
    size: int
    pieces: tuple[tuple[int, int], ...]
    """Physical address and bytes of each piece."""
    before: Bytes
    role: str
    contiguous: bool
    born: int
    freeing: int = FOREVER
    freed: int = FOREVER
    life: int = 0
    """Number of restarts of its node at the allocation."""

    def __str__(self) -> str:
        return f"node {self.node}, block {self.va:#x} ({self.size} bytes, {self.role})"


@dataclass
class Effect:
    """Effect on memory of a write, or of a read's reply."""

    what: str
    node: int
    va: int
    size: int
    order: Order
    begun: int
    images: Callable[[], Sequence[tuple[Mask | None, Bytes]]]
    """Function that returns the possible written data, as masks and bytes."""
    certain: bool = True
    due: Due | None = None
    """Error that may replace the effect."""
    lock: Lock | None = None
    life: int = 0
    """Number of restarts of the node at its start."""
    source: Block | None = None
    """Block that a read reads."""

    def doubt(self, *arguments: str) -> None:
        """Make the effect uncertain: it occurs, or an error about one of these arguments is raised."""
        self.certain = False
        if self.due is not None:
            self.due.most = 1
            self.due.arguments.update(arguments)

    def broken_by(self, block: Block) -> str:
        """Return the argument that becomes invalid when a block is freed, or an empty text."""
        if self.source is block:
            return "address"
        if not self.covers(block):
            return ""
        return "target" if self.source is not None else "address"

    def concerns(self, node: int) -> bool:
        """Return True if a node takes part in the effect."""
        return node in (self.node, self.order.by, self.order.node)

    def covers(self, block: Block) -> bool:
        """Return True if the effect touches a block while it is valid.

        An effect in flight when the node went down may reach the block after the restart.
        """
        return (
            self.node == block.node
            and (self.life == block.life or (self.life < block.life and not self.certain))
            and self.va < block.va + block.size
            and block.va < self.va + self.size
            and self.begun < block.freed
        )

    def on(self, block: Block) -> Iterator[tuple[slice, Mask | None, Bytes]]:
        """Yield the part of a block that it covers, and the possible values there."""
        low, high = max(self.va, block.va), min(self.va + self.size, block.va + block.size)
        own = slice(low - self.va, high - self.va)
        for mask, image in self.images():
            yield slice(low - block.va, high - block.va), None if mask is None else mask[own], image[own]


@dataclass
class Lock:
    """Lock word that one transfer sets."""

    node: int
    va: int
    pa: int
    value: int
    before: int = LOCK_FREE
    certain: bool = True
    never: bool = False
    """True if the transfer is invalid."""
    seen: bool = False

    def may_be(self) -> set[int]:
        """Return the possible values at the end."""
        if self.never:
            return {self.before}
        return {self.value} if self.certain else {self.value, self.before}


@dataclass
class Memory:
    """All registered memory of a cluster."""

    blocks: list[Block] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    locks: list[Lock] = field(default_factory=list)
    lock_words: Counter[int] = field(default_factory=Counter)
    """Number of lock words used by each node in all its lives. An old transfer may still reach a restarted node."""
    frozen: list[tuple[int, int, bytes, str]] = field(default_factory=list)
    """Freed memory: node, physical address, bytes, and description of the block."""

    def blocks_of(self, node: int, role: str = "") -> list[Block]:
        """Return the valid blocks of a node, optionally of one role."""
        alive = (block for block in self.blocks if block.node == node and block.freeing == FOREVER)
        return [block for block in alive if not role or block.role == role]

    def freeing(self, block: Block, now: int) -> None:
        """Begin the release of a block: effects in flight on it become uncertain."""
        block.freeing = now
        for effect in self.effects:
            argument = effect.broken_by(block)
            if argument and not (effect.lock is not None and effect.lock.seen):
                self.doubt(effect, argument)

    def part(self, node: int, now: int) -> None:
        """Remove all memory of a node that goes down: effects in flight to or from it become uncertain."""
        for effect in self.effects:
            if effect.concerns(node) and not (effect.lock is not None and effect.lock.seen):
                self.without_memory(effect)
        for block in self.blocks_of(node):
            block.freeing = block.freed = now
        self.frozen = [one for one in self.frozen if one[0] != node]
        self.locks = [lock for lock in self.locks if lock.node != node]

    def doubt(self, effect: Effect, *arguments: str) -> None:
        """Make an effect and its lock uncertain, with an error about one of these arguments instead."""
        effect.doubt(*arguments)
        if effect.lock is not None:
            effect.lock.certain = False

    def without_memory(self, effect: Effect) -> None:
        """Make an effect uncertain that may find neither memory nor lock, because its node is down or has restarted."""
        self.doubt(effect, "address", *["lock"] * (effect.lock is not None))

    def freed(self, block: Block, now: int, load: Callable[[int, int], bytes]) -> None:
        """Complete the release of a block: its bytes must not change any more."""
        block.freed = now
        self.frozen += [(block.node, pa, load(pa, size), str(block)) for pa, size in block.pieces]

    def check_frozen(self, load: Callable[[int, int, int], bytes], node: int = -1, pieces: Any = ()) -> list[str]:
        """Return a description of each change in freed memory; with `pieces`, only in memory that they reuse."""
        wrong, kept = [], []
        for at_node, pa, data, whose in self.frozen:
            reused = at_node == node and any(pa < at + size and at < pa + len(data) for at, size in pieces)
            if pieces and not reused:
                kept.append((at_node, pa, data, whose))
            elif load(at_node, pa, len(data)) != data:
                wrong.append(f"{whose} was written after it was freed")
        if pieces:
            self.frozen = kept
        return wrong

    def came(self, block: Block) -> None:
        """Add a new block, which transfers to invalid addresses may now hit."""
        for effect in self.effects:
            if effect.covers(block) and effect.due is not None and not effect.due.came:
                self.without_memory(effect)
                if effect.lock is not None:
                    effect.lock.never = False
        self.blocks.append(block)

    def seen_at(self, reader: Order, begun: int, node: int, va: int, size: int) -> list[tuple[Mask, Bytes]]:
        """Return the possible results of a read, from any block that is valid at the addresses during the read."""
        return [
            seen
            for block in self.blocks
            if block.node == node and begun < block.freed and 0 <= va - block.va <= block.size - size
            for seen in self.seen_through(reader, begun, block, va - block.va, size)
        ]

    def seen_through(self, reader: Order, begun: int, block: Block, offset: int, size: int) -> list[tuple[Mask, Bytes]]:
        """Return the possible results of a read of a block in an order."""
        found: list[tuple[Mask, Bytes]] = []
        alive = np.ones(block.size, bool)
        part = slice(offset, offset + size)
        for effect in reversed([effect for effect in self.effects if effect.covers(block)]):
            mine = effect.order == reader
            if mine and effect.begun > begun:
                continue
            for where, mask, image in effect.on(block):
                shown, data = np.zeros(block.size, bool), np.zeros(block.size, np.uint8)
                shown[where] = (alive[where] if mine else True) if mask is None else mask
                data[where] = image
                found.append((shown[part], data[part]))
                if mine and effect.certain:
                    alive[where] = False
        return [*found, (alive[part], block.before[part])]

    def wrong_bytes(self, block: Block, actual: Bytes) -> int | None:
        """Return the offset of a block's first impossible byte, or None."""
        right, covered = np.zeros(block.size, bool), np.zeros(block.size, bool)
        hidden: dict[Order, Mask] = {}
        for effect in reversed(self.effects):
            if not effect.covers(block):
                continue
            alive = hidden.setdefault(effect.order, np.ones(block.size, bool))
            where = slice(0, 0)
            for where, mask, image in effect.on(block):
                fits = alive[where] & (actual[where] == image)
                right[where] |= fits if mask is None else fits & mask
            if effect.certain:
                covered[where] = True
                alive[where] = False
        right |= ~covered & (actual == block.before)
        return None if right.all() else int(np.argmin(right))


def nothing() -> Sequence[tuple[Mask | None, Bytes]]:
    """Return the possible data of an invalid transfer: none."""
    return ()


def gaps(size: int, taken: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of `size` bytes outside all `taken` ranges (offset, bytes), which may overlap."""
    end = 0
    for at, count in [*sorted(taken), (size, 0)]:
        if end < at:
            yield end, at
        end = max(end, at + count)
