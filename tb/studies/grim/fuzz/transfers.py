"""Memory actions of a node: allocation, remote writes and reads, locks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from firmware.grim.formats import Device, Reference
from firmware.grim.nic.remote_memory.entries import PAGE
from tb.fuzz.program import Act
from tb.studies.grim.fuzz.errors import Due
from tb.studies.grim.fuzz.mail import INK, INK_BYTES
from tb.studies.grim.fuzz.memory import FOREVER, LOCK_FREE, Block, Effect, Lock, Order, gaps
from tb.studies.grim.fuzz.node import Node

STORE_BYTES, LOCKS, LANDING_BYTES = 6000, 512, 6000
BREAKS_TRANSFERS = ("free", "read and free", "go down")
"""Actions that may prevent a lock from being set."""
HANDLERS = 2
"""Task number of handlers, in addition to the two tasks of a program."""
STEP = 212
"""Distance of the patterns of two blocks in INK."""


class Transfers:
    """Actions of a node that use memory.

    The roles of its blocks: "ink" is never written; "store" is written and read, "landing" is written and receives
    reads, by any node; "open" is written by physical address and is never freed.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self.cluster, self.index, self.host = node.cluster, node.index, node.host
        self.mail, self.memory, self.ledger = node.mail, node.memory, node.ledger
        self._regions: list[Any] = []
        """Host memory that the library has allocated for pinned memory."""
        self.further: list[tuple[int, int]] = []
        """Physical address and bytes of pinned memory of other acts, which check it."""

    # ---- allocation

    async def allocate_own(self) -> None:
        """Allocate the initial blocks of the node."""
        self._regions, take = [], type(self.host).allocate

        def allocate(size: int, align: int = 4096) -> Any:
            self._regions.append(take(self.host, size, align))
            return self._regions[-1]

        self.host.allocate = allocate
        self.node.ink = await self._allocate("ink", INK_BYTES, True, INK[:INK_BYTES])
        await self._allocate("locks", 4 * LOCKS, True, LOCK_FREE.to_bytes(4, "big") * LOCKS)
        for role, size, contiguous in (("store", STORE_BYTES, True), ("open", 4096, True)):
            await self._allocate(role, size, contiguous)
        await self._allocate("landing", LANDING_BYTES, False)

    async def _allocate(self, role: str, size: int, contiguous: bool, pattern: bytes = b"") -> Block:
        library, memory = self.node.library, self.memory
        size = -(-size // 4) * 4
        born = self.mail.event()
        call = library.malloc_pinned if contiguous else library.pin_user_memory
        va: int = await self.node.call(f"allocate {size} bytes", lambda: call(size))
        unit = size if contiguous else PAGE
        pieces = tuple([(await self._physical(va + at), min(unit, size - at)) for at in range(0, size, unit)])
        begin = STEP * len(memory.blocks) % 8192
        pattern = pattern or INK[begin : begin + size]
        block = Block(self.index, va, size, pieces, np.frombuffer(pattern, np.uint8), role, contiguous, born)
        block.life = self.cluster.lives[self.index]
        self.cluster.wrong += memory.check_frozen(self.load_of, self.index, pieces)
        memory.came(block)
        library.store_pinned(va, pattern)
        return block

    async def allocate_further(self, size: int) -> int:
        """Allocate a block of pinned memory for other acts before the acts, and return its address."""
        library = self.node.library
        va: int = await self.node.call(f"allocate {size} bytes", lambda: library.malloc_pinned(size))
        self.further.append((await self._physical(va), size))
        return va

    async def _physical(self, va: int) -> int:
        pa: int = await self.node.call("get_pinned_pa", lambda: self.node.library.get_pinned_pa(va))
        return pa

    def load_of(self, node: int, pa: int, size: int) -> bytes:
        """Return bytes of any node's memory."""
        loaded: bytes = self.cluster.world.hosts[node].load_bytes(pa, size)
        return loaded

    async def do_allocate(self, act: Act) -> None:
        """Allocate a block: contiguous ones are stores, scattered ones alternate between stores and landings."""
        contiguous = act.values["kind"] == "contiguous"
        role = "store" if contiguous or act.whole("size") % 2 else "landing"
        await self._allocate(role, act.whole("size"), contiguous)

    async def do_free(self, act: Act) -> None:
        """Free a block, even with transfers in progress."""
        blocks = self.memory.blocks_of(self.index, "store")[1:] + self.memory.blocks_of(self.index, "landing")[1:]
        if blocks:
            await self._free(blocks[act.whole("block") % len(blocks)])

    async def _free(self, block: Block) -> None:
        self.memory.freeing(block, self.mail.event())
        await self.node.call(f"free {block}", lambda: self.node.library.free_pinned_va(block.va))
        self.memory.freed(block, self.mail.event(), self.host.load_bytes)

    async def do_store(self, act: Act) -> None:
        """Store bytes to memory of this node, as an application does."""
        block = self.block_at(self.index, act, "store")
        offset, size = self._range(block, act)
        data = INK[offset : offset + size]
        self.expect(str(act), block.node, block.va + offset, data, Order("own", self.index, act.task, 0, self.index))
        await self.node.call(str(act), lambda: self.node.library.store_pinned(block.va + offset, data))

    def block_at(self, node: int, act: Act, *roles: str) -> Block:
        """Return the block of a node that an action names."""
        blocks = [block for role in roles for block in self.memory.blocks_of(node, role)]
        if not blocks:  # the node is down: use its former blocks
            blocks = [block for block in self.memory.blocks if block.node == node and block.role in roles]
        return blocks[act.whole("block") % len(blocks)]

    def _range(self, block: Block, act: Act) -> tuple[int, int]:
        """Return offset and bytes of an action within a block."""
        offset = act.whole("offset") % block.size & ~3
        size = min(max(act.whole("bytes"), 1), block.size - offset)
        return offset, size if self.host.card.moves_bytes else -(-size // 4) * 4

    # ---- effects

    def expect(self, what: str, node: int, va: int, data: bytes, order: Order, lock: Lock | None = None) -> Effect:
        """Expect bytes, and a lock behind them, in a node's memory."""
        image = np.frombuffer(data, np.uint8)
        effect = Effect(what, node, va, len(data), order, self.mail.event(), lambda: [(None, image)], lock=lock)
        self._note(effect, node)
        return effect

    def _freed_meanwhile(self, effect: Effect) -> str:
        """Return the argument for which a local transfer may be rejected because another task frees its memory."""
        return "address" if effect.node == effect.order.node == self.index and not effect.certain else ""

    def _note(self, effect: Effect, peer: int) -> None:
        """Record an effect; a transfer with another node may end in an error about that `peer`."""
        if peer != self.index:
            effect.due = self._doubtful(effect.what, peer)
        effect.life = self.cluster.lives[effect.node]
        self.memory.effects.append(effect)
        if self.cluster.down is not None and effect.concerns(self.cluster.down):
            self.memory.without_memory(effect)

    def new_lock(self, node: int, value: int) -> Lock:
        """Return the next unused lock of a node."""
        owner = [block for block in self.memory.blocks if (block.node, block.role) == (node, "locks")][-1]
        used = 4 * self.memory.lock_words[node]
        self.memory.lock_words[node] += 1
        lock = Lock(node, owner.va + used, owner.pieces[0][0] + used, value)
        if node != self.cluster.down:  # the memory of a node that is down is lost
            self.memory.locks.append(lock)
        return lock

    def _doubtful(self, what: str, node: int) -> Due:
        """Return an expected error that occurs only if memory is freed meanwhile."""
        return self.ledger.owe(what, "", f"VNN {node}", least=0, most=0)

    # ---- transfers

    def where_to(self, act: Act) -> tuple[int, int, Order]:
        """Return node, destination reference and order of a transfer."""
        node = act.whole("to") % self.cluster.program.nodes
        to = Reference(node, Device.HOST, 0).pack()
        kind, channel = ("own", 0) if node == self.index else ("to", self.node.channel(act))
        return node, to, Order(kind, self.index, act.task, channel, node)

    async def do_write(self, act: Act) -> None:
        """Write remotely from the ink."""
        node = act.whole("to") % self.cluster.program.nodes
        block = self.block_at(node, act, "store", "landing")
        offset, size = self._range(block, act)
        await self._write(act, block, offset, size, self.node.library.send_memory, block.va + offset)

    do_write_more = do_write

    async def do_write_physical(self, act: Act) -> None:
        """Write remotely from the ink by physical address."""
        node = act.whole("to") % self.cluster.program.nodes
        block = self.block_at(node, act, "open")
        offset, size = self._range(block, act)
        await self._write(act, block, offset, size, self.node.library.send_physical_memory, block.pieces[0][0] + offset)

    async def _write(
        self, act: Act, block: Block, offset: int, size: int, call: Callable[..., Any], target: int
    ) -> None:
        node, to, order = self.where_to(act)
        source = 4 * (len(self.memory.effects) * 13 % 1024)
        lock = self.new_lock(node, 1 + len(self.memory.locks)) if act.whole("lock") else None
        locks = {"lock": lock.va, "value": lock.value} if lock is not None else {}
        effect = self.expect(str(act), node, block.va + offset, INK[source : source + size], order, lock)
        channel = self.node.channel(act)
        await self.node.call(
            str(act),
            lambda: call(to, target, self.node.ink.va + source, size, channel=channel, **locks),
            may=lambda: self._freed_meanwhile(effect),
        )

    async def do_read(self, act: Act) -> None:
        """Read remotely to a landing."""
        landings = self.memory.blocks_of(self.index, "landing")
        await self._read(act, landings[act.whole("index") % len(landings)])

    do_read_more = do_read

    async def do_read_and_free(self, act: Act) -> None:
        """Read remotely to a landing that is freed during the read."""
        landing = await self._allocate("landing", max(act.whole("bytes"), 1), False)
        await self._read(act, landing)
        if landing.freeing == FOREVER:  # another task may have freed it already
            await self._free(landing)

    async def _read(self, act: Act, landing: Block) -> None:
        node, to, order = self.where_to(act)
        source = self.block_at(node, act, "store")
        offset, size = self._range(source, act)
        size = min(size, landing.size)
        target = (act.whole("offset") % (landing.size - size + 1)) & ~3
        lock = self.new_lock(self.index, 0) if act.whole("lock") else None
        begun, va = self.mail.event(), landing.va + target
        seen = partial(self.memory.seen_at, order, begun, node, source.va + offset, size)
        order = order._replace(kind="own" if node == self.index else "read")
        effect = Effect(str(act), self.index, va, size, order, begun, seen, lock=lock, source=source)
        self._note(effect, node)
        reading = source.va + offset
        await self.node.call(
            str(act),
            lambda: self.node.library.fetch_memory(
                to, va, reading, size, lock=lock.va if lock else 0, channel=self.node.channel(act)
            ),
            may=lambda: self._freed_meanwhile(effect),
        )

    async def write_back(self, node: int) -> None:
        """Write from a handler into the memory of its message's sender.

        A restarted node runs handlers before it has memory, and then writes nothing.
        """
        values = {"to": node, "block": 0, "offset": 64, "bytes": 100, "lock": 1}
        if self.memory.blocks_of(self.index, "ink"):
            await self.do_write(Act(self.index, "write from a handler", values, HANDLERS))

    async def do_await_lock(self, act: Act) -> None:
        """Wait for a lock that a transfer in progress sets; its data must then be in memory."""
        locks = [lock for lock in self.memory.locks if lock.node == self.index and lock.certain and not lock.never]
        if not locks:
            return
        lock = locks[act.whole("index") % len(locks)]
        if any(other.name in BREAKS_TRANSFERS for other in self.cluster.program.acts):
            await self.node.idle(lambda: not lock.certain or self.host.load_words(lock.pa, 1)[0] == lock.value)
        if lock.certain:
            await self.node.call(str(act), lambda: self.node.library.wait_for_lock(lock.va, lock.value))
            lock.seen = lock.certain

    # ---- at the end

    def wrong_memory(self) -> list[str]:
        """Return a description of each block with wrong bytes, and of each change outside all blocks."""
        found = []
        for block in self.memory.blocks_of(self.index):
            if block.role == "locks":
                continue
            actual = np.frombuffer(b"".join(self.host.load_bytes(pa, size) for pa, size in block.pieces), np.uint8)
            at = self.memory.wrong_bytes(block, actual)
            if at is not None:
                found.append(f"{block}: wrong bytes from {at} on")
        return found + self._strays()

    def _strays(self) -> list[str]:
        granted = [piece for block in self.memory.blocks if block.node == self.index for piece in block.pieces]
        granted += self.further
        found = []
        for region in self._regions:
            inside = [(pa - region.address, size) for pa, size in granted if 0 <= pa - region.address < region.size]
            view = np.frombuffer(region.view, np.bool_)
            for begin, end in gaps(region.size, inside):
                if view[begin:end].any():
                    at = region.address + begin + int(np.argmax(view[begin:end]))
                    found.append(f"node {self.index}: {at:#x} was written, which was never allocated")
        return found
