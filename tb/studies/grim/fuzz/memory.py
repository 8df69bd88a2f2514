"""The reference of remote memory: which bytes may stand where.

Every write is an effect on a range of virtual addresses of a node. Of effects in one order (a sender's channel to a
node's) a later one hides the earlier; those of different orders may have come in any. A byte is right when it is what
some effect wrote that no later one of its order hides, or what stood there before, if no certain effect covers it.
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
    """Who does things one after the other: a task of a node, on one of its channels to another node."""

    kind: str
    """own: its CPU; to: writes, and what reads see; read: the answers to them."""
    by: int
    task: int
    channel: int
    node: int


LOCK_FREE = 0x5A5A_5A5A
"""What stands in a lock before anybody sets it."""
FOREVER = 1 << 62


@dataclass
class Block:
    """Registered memory of a node. It is granted from `born` to `freed`; between `freeing` and `freed` it is going."""

    node: int
    va: int
    size: int
    pieces: tuple[tuple[int, int], ...]
    """Physical addresses and bytes."""
    before: Bytes
    role: str
    contiguous: bool
    born: int
    freeing: int = FOREVER
    freed: int = FOREVER
    life: int = 0
    """How often its node had restarted."""

    def __str__(self) -> str:
        return f"node {self.node}, block {self.va:#x} ({self.size} bytes, {self.role})"


@dataclass
class Effect:
    """What a write, or a read's answer, does to memory."""

    what: str
    node: int
    va: int
    size: int
    order: Order
    begun: int
    images: Callable[[], Sequence[tuple[Mask | None, Bytes]]]
    """What it may have written, as masks and bytes."""
    certain: bool = True
    due: Due | None = None
    """The error that comes in place of it."""
    lock: Lock | None = None
    life: int = 0
    """Of the node, when it began."""
    source: Block | None = None
    """What a read reads."""

    def doubt(self, *arguments: str) -> None:
        """Memory came or went under way: it happens, or it is an error about one of these arguments."""
        self.certain = False
        if self.due is not None:
            self.due.most = 1
            self.due.arguments.update(arguments)

    def broken_by(self, block: Block) -> str:
        """The argument that is wrong when a block is freed under way: empty when it does not use the block."""
        if self.source is block:
            return "address"
        if not self.covers(block):
            return ""
        return "target" if self.source is not None else "address"

    def concerns(self, node: int) -> bool:
        """Whether a node has to do with it."""
        return node in (self.node, self.order.by, self.order.node)

    def covers(self, block: Block) -> bool:
        """Whether it touches a block's addresses while they are granted. What was under way when the node went down may
        have left its sender when the node had restarted.
        """
        return (
            self.node == block.node
            and (self.life == block.life or (self.life < block.life and not self.certain))
            and self.va < block.va + block.size
            and block.va < self.va + self.size
            and self.begun < block.freed
        )

    def on(self, block: Block) -> Iterator[tuple[slice, Mask | None, Bytes]]:
        """The part of a block that it covers, and what may stand there."""
        low, high = max(self.va, block.va), min(self.va + self.size, block.va + block.size)
        own = slice(low - self.va, high - self.va)
        for mask, image in self.images():
            yield slice(low - block.va, high - block.va), None if mask is None else mask[own], image[own]


@dataclass
class Lock:
    """A lock word that one transfer sets."""

    node: int
    va: int
    pa: int
    value: int
    before: int = LOCK_FREE
    certain: bool = True
    never: bool = False
    """The transfer is a bad act."""
    seen: bool = False

    def may_be(self) -> set[int]:
        """What may stand there at the end."""
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
    """By node: words of its block of locks that transfers have been given in all its lives: a transfer of before may
    still find the node that has restarted."""
    frozen: list[tuple[int, int, bytes, str]] = field(default_factory=list)
    """Freed memory: node, physical address, bytes, and whose it was."""

    def of(self, node: int, role: str = "") -> list[Block]:
        """The blocks that a node has now and is not freeing."""
        alive = (block for block in self.blocks if block.node == node and block.freeing == FOREVER)
        return [block for block in alive if not role or block.role == role]

    def freeing(self, block: Block, now: int) -> None:
        """A block begins to go: what is under way to it, or reads it, may or may not happen."""
        block.freeing = now
        for effect in self.effects:
            argument = effect.broken_by(block)
            if argument and not (effect.lock is not None and effect.lock.seen):
                self.doubt(effect, argument)

    def part(self, node: int, now: int) -> None:
        """A node goes down, with all its memory: what is under way to it or from it may or may not happen."""
        for effect in self.effects:
            if effect.concerns(node) and not (effect.lock is not None and effect.lock.seen):
                self.without_memory(effect)
        for block in self.of(node):
            block.freeing = block.freed = now
        self.frozen = [one for one in self.frozen if one[0] != node]
        self.locks = [lock for lock in self.locks if lock.node != node]

    def doubt(self, effect: Effect, *arguments: str) -> None:
        """An effect that may or may not happen: then it is an error about one of these arguments."""
        effect.doubt(*arguments)
        if effect.lock is not None:
            effect.lock.certain = False

    def without_memory(self, effect: Effect) -> None:
        """An effect may find no memory, nor its lock: the node is down, or has restarted, or is only allocating it."""
        self.doubt(effect, "address", *["lock"] * (effect.lock is not None))

    def freed(self, block: Block, now: int, load: Callable[[int, int], bytes]) -> None:
        """A block is gone: nobody may change its bytes any more."""
        block.freed = now
        self.frozen += [(block.node, pa, load(pa, size), str(block)) for pa, size in block.pieces]

    def check_frozen(self, load: Callable[[int, int, int], bytes], node: int = -1, pieces: Any = ()) -> list[str]:
        """Freed memory that changed. With `pieces` only what they reuse, which is free to change from now on."""
        wrong, kept = [], []
        for at_node, pa, data, whose in self.frozen:
            reused = at_node == node and any(pa < at + size and at < pa + len(data) for at, size in pieces)
            if pieces and not reused:
                kept.append((at_node, pa, data, whose))
            elif load(at_node, pa, len(data)) != data:
                wrong.append(f"{whose} was written after it had been freed")
        if pieces:
            self.frozen = kept
        return wrong

    def came(self, block: Block) -> None:
        """New memory: what missed its target here may hit now."""
        for effect in self.effects:
            if effect.covers(block) and effect.due is not None and not effect.due.came:
                self.without_memory(effect)
                if effect.lock is not None:
                    effect.lock.never = False
        self.blocks.append(block)

    def seen_at(self, reader: Order, begun: int, node: int, va: int, size: int) -> list[tuple[Mask, Bytes]]:
        """What a read of a node's addresses may bring: from the block that has them, or one that has them later, when
        the memory is freed under way or the node restarts.
        """
        return [
            seen
            for block in self.blocks
            if block.node == node and begun < block.freed and 0 <= va - block.va <= block.size - size
            for seen in self.seen_through(reader, begun, block, va - block.va, size)
        ]

    def seen_through(self, reader: Order, begun: int, block: Block, offset: int, size: int) -> list[tuple[Mask, Bytes]]:
        """What a read of a block in some order may bring."""
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
        """Offset of the first byte of a block that cannot stand there; None when all are right."""
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
    """What a bad act may have written."""
    return ()


def gaps(size: int, taken: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The ranges of `size` bytes that are in none of `taken` (offset, bytes), which may overlap."""
    end = 0
    for at, count in [*sorted(taken), (size, 0)]:
        if end < at:
            yield end, at
        end = max(end, at + count)
