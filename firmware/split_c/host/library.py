"""Split-C as a program uses it: what is `:=` in that language is `get` and `put` here, `:-` is `store`.

Every node runs the same program. `get` and `put` return at once; `sync` waits for all of the own ones. A `store` is not
waited for by its node: the node that has the data may wait for so many bytes, or all nodes for all stores.
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
    """One node of the program. Calls beginning with `all_`, `start` and `barrier` are made by all nodes."""

    def __init__(self, host: Host, view: ClusterView, am: Am) -> None:
        self.host, self._am = host, am
        self.me, self.nodes = view.me, len(view.names)
        self._heap = Heap(host, 1024 * Options.of(view.options).heap_kb)
        self._bases = {self.me: self._heap.base}
        """Physical address of each node's heap."""
        self._rounds = [0] * max(1, (self.nodes - 1).bit_length())
        """How many have come, for each round of a barrier."""
        self._episode = 0
        self._awaited = 0
        """Stored bytes for which this node has waited."""
        self._port: Port | None = None

    # ---- the program begins

    async def start(self) -> None:
        """Begin the program on all nodes, which tell each other where their heaps are."""
        await self._am.start()
        self._port = self._am.open(
            [self._based, self._serve, self._take, self._stored, self._bulk_stored, self._arrive]
        )
        self._bulk = Bulk(self._heap, self._port, self._bases, self._bulk_stored)
        for node in self._port.partners:
            await self._port.request(node, self._based, self._heap.base)
        await self._port.until(lambda: len(self._bases) == self.nodes, "the other nodes")
        await self.barrier()

    def all_spread(self, count: int, dtype: Any, block: int = 1) -> Spread:
        """Memory for an array of `count` elements, dealt to the nodes in blocks; zeros. All nodes call it in one order.
        Raises SplitCError.
        """
        if count < 1 or block < 1:
            raise SplitCError(
                f"a spread array of {count} elements in blocks of {block}", "it is empty", "give 1 or more"
            )
        spread = Spread(count, block, self.nodes, self._heap.used, element(dtype))
        self._heap.take(spread.most * spread.dtype.itemsize)
        return spread

    def all_blocks(self, count: int, dtype: Any) -> Spread:
        """The same with `count` elements on each node."""
        return self.all_spread(count * self.nodes, dtype, count)

    def local(self, spread: Spread) -> np.ndarray[Any, Any]:
        """This node's part of an array, in place."""
        return self._heap.view(spread.at, spread.most, spread.dtype)

    # ---- single elements

    async def get(self, to: Global, source: Global) -> None:
        """`to := *source`: fetch an element into this node's heap. Raises SplitCError."""
        self._check(to, source)
        self._check_here(to)
        if source.node == self.me:
            await self._copy(to, source)
            return
        await self.host.spend("split_c_issue")
        await self._ready.request(source.node, self._serve, source.at, to.at, to.dtype.itemsize)

    async def put(self, to: Global, value: Value) -> None:
        """`*to := value`. Raises SplitCError."""
        await self._give(self._take, to, value)

    async def store(self, to: Global, value: Value) -> None:
        """`*to :- value`: only the node that has it may wait for it. Raises SplitCError."""
        await self._give(self._stored, to, value)

    async def read(self, source: Global) -> Value:
        """`*source`, waited for. Raises SplitCError."""
        to = Global(self.me, self._heap.scratch, source.dtype)
        await self.get(to, source)
        await self.sync()
        return self._heap.view(to.at, 1, to.dtype)[0].item()  # type: ignore[no-any-return]

    async def write(self, to: Global, value: Value) -> None:
        """`*to = value`, waited for. Raises SplitCError."""
        await self.put(to, value)
        await self.sync()

    # ---- many elements

    async def bulk_get(self, to: Global, source: Global, count: int) -> None:
        """Fetch `count` elements into this node's heap. Raises SplitCError."""
        await self._move(self._bulk.get, to, source, to, count)

    async def bulk_put(self, to: Global, source: Global, count: int) -> None:
        """Send `count` elements of this node's heap, which must not change before `sync`. Raises SplitCError."""
        await self._move(self._bulk.put, source, source, to, count)

    async def bulk_store(self, to: Global, source: Global, count: int) -> None:
        """The same as stores. The elements must not change before `sync` or `all_store_sync`. Raises SplitCError."""
        await self._move(self._bulk.store, source, source, to, count)

    # ---- waiting

    async def sync(self) -> None:
        """Wait until all that this node has got, put or stored is where it belongs."""
        port = self._ready
        await port.until(lambda: not port.unanswered, "its own gets and puts")

    async def store_sync(self, size: int) -> None:
        """Wait until so many bytes more have been stored into this node's heap by others."""
        self._awaited += size
        await self._ready.until(lambda: self._heap.stored >= self._awaited, f"{size} bytes that others store here")

    async def all_store_sync(self) -> None:
        """Wait until the stores of all nodes are where they belong."""
        await self.sync()
        await self.barrier()

    async def barrier(self) -> None:
        """Wait until all nodes are here."""
        self._episode += 1
        for number in range(len(self._rounds) if self.nodes > 1 else 0):
            await self.host.spend("split_c_round")
            await self._ready.request((self.me + (1 << number)) % self.nodes, self._arrive, number)
            await self._come(number)

    async def compute(self, ns: float) -> None:
        """Use the CPU for so long. Messages that come wait for its end, unless `am.receive=interrupt`."""
        await self._ready.compute(ns)

    async def poll(self) -> int:
        """Serve others: run the handlers of what has come. All calls but `compute` do it, too."""
        return await self._ready.poll()

    @property
    def messages(self) -> int:
        """Messages that this node has sent, answers among them."""
        return self._ready.sent

    # ---- handlers

    async def _based(self, call: Call) -> None:
        self._bases[call.source] = call.arguments[0]

    async def _serve(self, call: Call) -> None:
        at, to, size = call.arguments
        await self.host.spend("split_c_serve")
        await call.reply(self._take, to, size, *self._heap.words(at, size))

    async def _take(self, call: Call) -> None:
        await self.host.spend("split_c_take")
        at, _, *words = call.arguments
        self._heap.keep(at, words)

    async def _stored(self, call: Call) -> None:
        await self._take(call)
        self._heap.stored += call.arguments[1]

    async def _bulk_stored(self, call: Call) -> None:
        await self.host.copy_memory("split_c_copy", self._heap.base + call.arguments[0], call.address, call.size)
        self._heap.stored += call.size

    async def _arrive(self, call: Call) -> None:
        await self.host.spend("split_c_arrive")
        self._rounds[call.arguments[0]] += 1

    # ---- what they need

    @property
    def _ready(self) -> Port:
        if self._port is None:
            raise SplitCError(f"{self.host.who}: Split-C", "the program has not begun", "await start() on all nodes")
        return self._port

    async def _come(self, number: int) -> None:
        """Until as many have told of a round as there were barriers."""
        await self._ready.until(lambda: self._rounds[number] >= self._episode, "the others, in a barrier")

    async def _give(self, handler: Callable[[Call], Any], to: Global, value: Value) -> None:
        self._check(to)
        words = packed(value, to.dtype)
        if to.node == self.me:
            await self.host.spend("split_c_local")
            self._heap.keep(to.at, words)
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
            raise SplitCError(f"{count!r} elements", "there are not so many", "give 0 or more")
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
        self._heap.keep(to.at, self._heap.words(source.at, to.dtype.itemsize))

    def _check(self, *pointers: Global, count: int = 1) -> None:
        """Raises SplitCError for pointers that cannot be, or that are of different types."""
        self._ready  # noqa: B018 - raises
        for one in pointers:
            size = one.dtype.itemsize
            if one.node not in range(self.nodes) or not 0 <= one.at <= self._heap.size - count * size or one.at % size:
                cause = f"{count} elements of {size} bytes are not there"
                raise SplitCError(f"{one}", cause, f"{self.nodes} nodes have {self._heap.size} bytes each")
        if len({one.dtype for one in pointers}) > 1:
            raise SplitCError(" and ".join(str(one.dtype) for one in pointers), "types differ", "copy one type")

    def _check_here(self, one: Global) -> None:
        if one.node != self.me:
            raise SplitCError(f"{one}", f"it is on node {one.node}, and this is {self.me}", "name a place on this node")
