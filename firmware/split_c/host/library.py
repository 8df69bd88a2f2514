"""Split-C as a program uses it: `get` and `put` are the language's `:=`, `store` is `:-`.

Every node runs the same program. `get` and `put` return at once; `sync` waits for all of the node's own. The storing
node does not wait for a `store`: the node that has the data may wait for a number of bytes, or all nodes for all
stores.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

from firmware.am.host import Am, Call, Port
from firmware.split_c.host.errors import SplitCError
from firmware.split_c.host.heap import Heap, packed
from firmware.split_c.host.moving import Bulk
from firmware.split_c.host.pointers import Global, Spread, element
from firmware.split_c.options import Options
from firmware.verbs import Host
from firmware.view import ClusterView

Value = int | float


class SplitC:
    """Split-C on one node of the program. All nodes must make the calls `start`, `barrier` and `all_...`."""

    def __init__(self, host: Host, view: ClusterView, am: Am) -> None:
        self.host, self._am = host, am
        self.me, self.nodes = view.me, len(view.names)
        self._heap = Heap(host, 1024 * Options.from_values(view.options).heap_kb)
        self._bases = {self.me: self._heap.base}
        """Physical address of each node's heap."""
        self._rounds = [0] * max(1, (self.nodes - 1).bit_length())
        """Number of arrivals in each round of a barrier."""
        self._episode = 0
        self._awaited = 0
        """Number of stored bytes that this node has waited for."""
        self._port: Port | None = None

    # ---- start

    async def start(self) -> None:
        """Start the program on all nodes and exchange heap addresses."""
        await self._am.start()
        self._port = self._am.open(
            [self._based, self._serve, self._take, self._stored, self._bulk_stored, self._arrive]
        )
        self._bulk = Bulk(self._heap, self._port, self._bases, self._bulk_stored)
        for node in self._port.partners:
            await self._port.request(node, self._based, self._heap.base)
        await self._port.until(lambda: len(self._bases) == self.nodes, "the heap addresses of the other nodes")
        await self.barrier()

    def all_spread(self, count: int, dtype: Any, block: int = 1) -> Spread:
        """Allocate an array of zeros, distributed to the nodes in blocks. All nodes must call it in the same order.

        Args:
            count: number of elements.
            dtype: numpy type of an element, 4 or 8 bytes.
            block: elements of a block.

        Raises:
            SplitCError: an invalid argument, or too little heap.
        """
        if count < 1 or block < 1:
            raise SplitCError(
                f"a spread array of {count} elements in blocks of {block}", "it is empty", "give at least 1 of each"
            )
        spread = Spread(count, block, self.nodes, self._heap.used, element(dtype))
        self._heap.allocate(spread.most * spread.dtype.itemsize)
        return spread

    def all_blocks(self, count: int, dtype: Any) -> Spread:
        """Allocate an array with `count` elements on each node. All nodes must call it in the same order."""
        return self.all_spread(count * self.nodes, dtype, count)

    def local(self, spread: Spread) -> np.ndarray[Any, Any]:
        """Return this node's part of an array, in place."""
        return self._heap.view(spread.at, spread.most, spread.dtype)

    # ---- single elements

    async def get(self, to: Global, source: Global) -> None:
        """Fetch an element into this node's heap (`to := *source`). Raises SplitCError."""
        self._check(to, source)
        self._check_here(to)
        if source.node == self.me:
            await self._copy(to, source)
            return
        await self.host.spend("split_c_issue")
        await self._ready.request(source.node, self._serve, source.at, to.at, to.dtype.itemsize)

    async def put(self, to: Global, value: Value) -> None:
        """Write an element (`*to := value`). Raises SplitCError."""
        await self._give(self._take, to, value)

    async def store(self, to: Global, value: Value) -> None:
        """Store an element (`*to :- value`); only its owner can wait for it. Raises SplitCError."""
        await self._give(self._stored, to, value)

    async def read(self, source: Global) -> Value:
        """Return an element after waiting for it (`*source`). Raises SplitCError."""
        to = Global(self.me, self._heap.scratch, source.dtype)
        await self.get(to, source)
        await self.sync()
        return self._heap.view(to.at, 1, to.dtype)[0].item()  # type: ignore[no-any-return]

    async def write(self, to: Global, value: Value) -> None:
        """Write an element and wait for it (`*to = value`). Raises SplitCError."""
        await self.put(to, value)
        await self.sync()

    # ---- many elements

    async def bulk_get(self, to: Global, source: Global, count: int) -> None:
        """Fetch `count` elements into this node's heap. Raises SplitCError."""
        await self._move(self._bulk.get, to, source, to, count)

    async def bulk_put(self, to: Global, source: Global, count: int) -> None:
        """Write `count` elements of this node's heap, which must not change before `sync`. Raises SplitCError."""
        await self._move(self._bulk.put, source, source, to, count)

    async def bulk_store(self, to: Global, source: Global, count: int) -> None:
        """Store `count` elements of this node's heap, which must not change before `sync` or `all_store_sync`.

        Raises SplitCError.
        """
        await self._move(self._bulk.store, source, source, to, count)

    # ---- waiting

    async def sync(self) -> None:
        """Wait until all gets, puts and stores of this node are complete."""
        port = self._ready
        await port.until(lambda: not port.unanswered, "the end of its gets and puts")

    async def store_sync(self, size: int) -> None:
        """Wait until other nodes have stored `size` more bytes into this node's heap."""
        self._awaited += size
        await self._ready.until(lambda: self._heap.stored >= self._awaited, f"{size} bytes stored by other nodes")

    async def all_store_sync(self) -> None:
        """Wait until the stores of all nodes are complete."""
        await self.sync()
        await self.barrier()

    async def barrier(self) -> None:
        """Wait until all nodes have reached the barrier."""
        self._episode += 1
        for number in range(len(self._rounds) if self.nodes > 1 else 0):
            await self.host.spend("split_c_round")
            await self._ready.request((self.me + (1 << number)) % self.nodes, self._arrive, number)
            await self._come(number)

    async def compute(self, ns: float) -> None:
        """Compute for `ns`. Messages wait for the end, unless `am.receive=interrupt`."""
        await self._ready.compute(ns)

    async def poll(self) -> int:
        """Run the handlers of received messages and return their number. All calls except `compute` poll, too."""
        return await self._ready.poll()

    @property
    def messages(self) -> int:
        """Number of messages sent by this node, replies included."""
        return self._ready.sent

    # ---- handlers

    async def _based(self, call: Call) -> None:
        self._bases[call.source] = call.arguments[0]

    async def _serve(self, call: Call) -> None:
        at, to, size = call.arguments
        await self.host.spend("split_c_serve")
        await call.reply(self._take, to, size, *self._heap.load(at, size))

    async def _take(self, call: Call) -> None:
        await self.host.spend("split_c_take")
        at, _, *words = call.arguments
        self._heap.store(at, words)

    async def _stored(self, call: Call) -> None:
        await self._take(call)
        self._heap.stored += call.arguments[1]

    async def _bulk_stored(self, call: Call) -> None:
        await self.host.copy_memory("split_c_copy", self._heap.base + call.arguments[0], call.address, call.size)
        self._heap.stored += call.size

    async def _arrive(self, call: Call) -> None:
        await self.host.spend("split_c_arrive")
        self._rounds[call.arguments[0]] += 1

    # ---- helpers

    @property
    def _ready(self) -> Port:
        if self._port is None:
            raise SplitCError(f"{self.host.who}: Split-C", "the program has not started", "await start() on all nodes")
        return self._port

    async def _come(self, number: int) -> None:
        """Wait until this round of the barrier has as many arrivals as there were barriers."""
        await self._ready.until(lambda: self._rounds[number] >= self._episode, "the other nodes, in a barrier")

    async def _give(self, handler: Callable[[Call], Any], to: Global, value: Value) -> None:
        self._check(to)
        words = packed(value, to.dtype)
        if to.node == self.me:
            await self.host.spend("split_c_local")
            self._heap.store(to.at, words)
            return
        await self.host.spend("split_c_issue")
        await self._ready.request(to.node, handler, to.at, to.dtype.itemsize, *words)

    async def _move(
        self,
        way: Callable[[Global, Global, int], Awaitable[None]],
        here: Global,
        source: Global,
        to: Global,
        count: int,
    ) -> None:
        if type(count) is not int or count < 0:
            raise SplitCError(f"{count!r} elements", "invalid count", "give an integer of 0 or more")
        self._check(to, source, count=count)
        self._check_here(here)
        if to.node == source.node:
            size = count * to.dtype.itemsize
            await self.host.copy_memory("split_c_copy", self._heap.base + to.at, self._heap.base + source.at, size)
            return
        await self.host.spend("split_c_issue")
        await way(to, source, count * to.dtype.itemsize)

    async def _copy(self, to: Global, source: Global) -> None:
        await self.host.spend("split_c_local")
        self._heap.store(to.at, self._heap.load(source.at, to.dtype.itemsize))

    def _check(self, *pointers: Global, count: int = 1) -> None:
        """Check global pointers and that their types agree. Raises SplitCError."""
        self._ready  # noqa: B018 - raises
        for one in pointers:
            size = one.dtype.itemsize
            if one.node not in range(self.nodes) or not 0 <= one.at <= self._heap.size - count * size or one.at % size:
                cause = f"{count} elements of {size} bytes are outside the heaps, or misaligned"
                raise SplitCError(f"{one}", cause, f"{self.nodes} nodes have {self._heap.size} bytes each")
        if len({one.dtype for one in pointers}) > 1:
            raise SplitCError(" and ".join(str(one.dtype) for one in pointers), "types differ", "copy one type")

    def _check_here(self, one: Global) -> None:
        if one.node != self.me:
            raise SplitCError(
                f"{one}", f"it is on node {one.node}, and this is node {self.me}", "give a pointer to this node's heap"
            )
