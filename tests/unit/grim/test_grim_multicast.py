"""Multicast: exactly the subscribed endpoints receive every message of their trees, once and in one order.

Strategy: nodes subscribe, send to several trees at once, as members and from outside, and stop and start. What each
endpoint received is compared with what was sent. Endpoints must agree on the order, since all messages pass the root. A
stopped leaf must not block another tree. Trees change during the traffic. Invalid calls are rejected with their exact
text. Counters of the firmware must show that NIs replicated and rejected messages.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from firmware.grim.formats import Device, reference
from firmware.grim.host import Grim, GrimError
from firmware.grim.host.trees import places
from firmware.grim.nic.layout import Counter
from pymodels.registers import Reg
from pymodels.trace import TraceEvent
from tests.unit.grim.grim_bench import Bench

Play = Callable[[Grim, int, int], Awaitable[Any]]
"""Called with library, node, number of the handler."""
SMALL: dict[str, Any] = {"host_queue_bytes": 2048, "segment_bytes": 200, "queue_bytes": 8192}


class Trees:
    """Hosts of a bench that subscribe to trees by name and record messages by node: (tree, sender, number)."""

    def __init__(self, bench: Bench, wants: dict[int, dict[str, int]]) -> None:
        """`wants`: by node, a mask of channels by name."""
        self.bench, self.wants = bench, wants
        self.seen: list[list[tuple[int, int, int]]] = [[] for _ in range(bench.nodes)]
        self.wrong: list[str] = []
        self.ready = self.played = 0
        self.trees: dict[str, int] = {}

    async def node(self, library: Grim, me: int, play: Play, due: int) -> None:
        """Run the application of one node, until all endpoints together have received `due` messages."""

        def on_data(source: int, tree: int, sender: int, number: int, size: int, payload: memoryview) -> None:
            self.seen[me].append((tree, sender, number))
            if bytes(payload) != content(tree, sender, number, size):
                self.wrong.append(f"node {me}: message {number} of {sender} in tree {tree}: {len(payload)} other bytes")

        handler = (await self.bench.publish(library, data=on_data))["data"]
        for name, mask in self.wants.get(me, {}).items():
            self.trees[name] = await library.subscribe_multicast_by_name(name, mask)
        self.ready += 1
        await poll_until(library, lambda: self.ready == self.bench.nodes)
        await play(library, me, handler)
        self.played += 1
        await poll_until(library, lambda: self.played == self.bench.nodes and sum(map(len, self.seen)) >= due)

    def run(self, play: Play, due: int) -> None:
        """Enable, subscribe, and play until `due` messages were received; check that no other arrives and nothing is
        left.
        """
        self.bench.run(lambda library, me: self.node(library, me, play, due), 50_000)
        self.bench.settle()
        assert not self.wrong, self.wrong[:3]
        assert self.bench.nothing_left()
        assert self.bench.total(Counter.STRANGE) == self.bench.total(Counter.OUT_OF_SEQUENCE) == 0
        assert sum(map(len, self.seen)) == due

    def of(self, node: int, tree: int) -> list[tuple[int, int]]:
        """Return the messages of a tree that a node received: (sender, number), in order."""
        return [(sender, number) for which, sender, number in self.seen[node] if which == tree]


async def poll_until(library: Grim, reached: Callable[[], bool]) -> None:
    """Poll until another node has made a condition true."""
    while not reached():
        await library.poll()
        await library.host.sleep(2_000_000)


def content(tree: int, sender: int, number: int, size: int) -> bytes:
    """Return the bytes of a message."""
    return random.Random(f"{tree}.{sender}.{number}").randbytes(size)


async def send(library: Grim, tree: int, handler: int, number: int, size: int) -> None:
    """Send a message of known bytes."""
    me = library.get_my_vnn()
    await library.send_mc(tree, handler, tree, me, number, size, content(tree, me, number, size))


@pytest.mark.parametrize("sequencing", ["any-to-any", "per-ni"])
def test_subscribed_endpoints_get_all_messages_once_and_in_one_order(sequencing: str) -> None:
    bench = Bench(6, 1, sequencing=sequencing, **SMALL)
    wants = {0: {"a": 1}, 1: {"a": 1, "b": 1}, 2: {"b": 1}, 3: {"a": 1}, 4: {"a": 1, "b": 1}}
    trees, sizes = Trees(bench, wants), [0, 3, 40, 200, 500]

    async def play(library: Grim, me: int, handler: int) -> None:
        rng = random.Random(me)
        for number in range(12):
            for name in ("a", "b"):
                await send(library, await library.find_multicast_tree(name), handler, number, rng.choice(sizes))

    for node in range(6):
        bench.machine.host(node).pause_between(300 + 100 * node, 900 + 150 * node)
    trees.run(play, 7 * 6 * 12)
    sent = {(sender, number) for sender in range(6) for number in range(12)}
    for name, tree in trees.trees.items():
        inside = [node for node in range(6) if name in wants.get(node, {})]
        orders = [trees.of(node, tree) for node in inside]
        assert set(orders[0]) == sent and len(orders[0]) == len(sent)
        assert all(one == orders[0] for one in orders), "every message passes the root"
        for sender in range(6):
            assert [number for who, number in orders[0] if who == sender] == list(range(12))
        assert not any(trees.of(node, tree) for node in range(6) if node not in inside)
    assert bench.total(Counter.COPIES) > 100
    assert bench.total(Counter.NACKS_SENT) > 0


def test_stopped_leaf_blocks_only_its_tree() -> None:
    bench = Bench(5, 2, retry_delay_us=20, **SMALL)
    everybody = {node: {"slow": 1, "fast": 1} for node in range(4)}
    trees = Trees(bench, {**everybody, 4: {"slow": 1}})
    stopped, counts = [False], {}

    async def play(library: Grim, me: int, handler: int) -> None:
        if me == 4:
            stopped[0] = True
            await library.host.sleep(4_000_000_000)
            counts.update({name: len(trees.of(3, tree)) for name, tree in trees.trees.items()})
        elif me in (1, 2):
            await poll_until(library, lambda: stopped[0])
            tree = await library.find_multicast_tree("slow" if me == 1 else "fast")
            for number in range(60):
                await send(library, tree, handler, number, 100)

    trees.run(play, (5 + 4) * 60)
    assert counts["fast"] == 60
    assert counts["slow"] < 60
    assert bench.total(Counter.NACKS_SENT) > 10


def test_tree_changes_under_traffic_without_loss_or_duplicates() -> None:
    bench = Bench(6, 3, **SMALL)
    trees = Trees(bench, {node: {"t": 1} for node in (0, 2, 3, 4)})
    over: list[int] = []

    async def play(library: Grim, me: int, handler: int) -> None:
        tree = await library.find_multicast_tree("t")
        if me == 2:
            for number in range(150):
                await send(library, tree, handler, number, 60)
            await poll_until(library, lambda: len(trees.of(2, tree)) == 150)
            over.append(1)
        elif me in (1, 5):
            while not over:
                await library.subscribe_multicast(tree, 1)
                await library.unsubscribe_multicast(tree, 1)

    bench.run(lambda library, me: trees.node(library, me, play, 4 * 150), 50_000)
    bench.settle()
    assert not trees.wrong
    for node in (0, 2, 3, 4):
        assert trees.of(node, 1) == [(2, number) for number in range(150)]
    for node in (1, 5):
        numbers = [number for _, number in trees.of(node, 1)]
        assert numbers == sorted(set(numbers)) and 10 < len(numbers) < 150
    assert bench.total(Counter.STRANGE) == 0 and bench.nothing_left()


@pytest.mark.parametrize(
    "options", [{"dma_inject": 1, "window": 1}, {"doorbell_notify": 1, "retry_delay_us": 0}, {"queue_style": "hybrid"}]
)
def test_broadcast_reaches_every_channel_0_once(options: dict[str, Any]) -> None:
    bench = Bench(5, 4, trace=True, channels=2, **{**SMALL, **options})
    trees = Trees(bench, {})

    async def play(library: Grim, me: int, handler: int) -> None:
        for number in range(10):
            size = 60 * number
            await library.broadcast(handler, 0, me, number, size, content(0, me, number, size), channel=number % 2)

    trees.run(play, 5 * 5 * 10)
    assert len(list(bench.machine.trace.of_event(TraceEvent.NIC_COPY))) == bench.total(Counter.COPIES) > 0
    for node in range(5):
        for sender in range(5):
            numbers = [number for who, number in trees.of(node, 0) if who == sender]
            assert [number for number in numbers if number % 2] == list(range(1, 10, 2)), "in order by channel"
            assert sorted(numbers) == list(range(10))


@pytest.mark.parametrize("sequencing", ["any-to-any", "per-ni"])
def test_tree_messages_arrive_once_over_a_lossy_network(sequencing: str) -> None:
    bench = Bench(4, 8, timeout_us=100, sequencing=sequencing, **SMALL)
    bench.machine.faults.lose(0.04, 0.02, 8)
    trees = Trees(bench, {})

    async def play(library: Grim, me: int, handler: int) -> None:
        for number in range(8):
            await library.broadcast(handler, 0, me, number, 100, content(0, me, number, 100))

    bench.run(lambda library, me: trees.node(library, me, play, 4 * 4 * 8), 100_000)
    bench.settle(20_000)
    assert not trees.wrong and bench.nothing_left()
    assert all(trees.of(node, 0) == trees.of(0, 0) for node in range(4))
    assert sorted(trees.of(0, 0)) == [(sender, number) for sender in range(4) for number in range(8)]
    assert bench.total(Counter.TIMEOUTS) > 0


class AtLeaving:
    """Watch on a NIC's stores into a packet that its send engine is sending."""

    def __init__(self, bench: Bench, node: int) -> None:
        self.nic = bench.machine.nic(node)
        self.written: list[int] = []
        self.places: list[int] = []
        """Addresses of the packets that were sent."""
        self._store, self._write = self.nic.store_words, self.nic.write
        self.nic.store_words, self.nic.write = self._store_words, self._write_register  # type: ignore[method-assign]

    def _write_register(self, register: int, value: int) -> None:
        if register == Reg.SMP:
            self.places.append(value)
        self._write(register, value)

    def _store_words(self, address: int, words: Sequence[int]) -> None:
        if self.nic.send.busy and self.places[-1] < address + 4 * len(words) and address < self.nic.send.limit:
            self.written.append(address)
        self._store(address, words)


def test_copy_gets_the_second_childs_route_only_after_it_left_for_the_first() -> None:
    bench = Bench(3, 1, segment_bytes=2000)
    watch = AtLeaving(bench, 0)
    trees = Trees(bench, {})

    async def play(library: Grim, me: int, handler: int) -> None:
        for number in range(4 if me == 0 else 0):
            await library.broadcast(handler, 0, me, number, 2000, content(0, me, number, 2000))

    bench.run(lambda library, me: trees.node(library, me, play, 3 * 4), 50_000)
    bench.settle()
    assert not trees.wrong and bench.nothing_left()
    layout = bench.libraries[0].layout
    copies = [place for place in watch.places if 0 <= place - layout.tree_queues[0] < layout.tree_limit]
    assert len(copies) == 2 * 4, "each of four copies left twice"
    assert all(copies.count(place) % 2 == 0 for place in copies), "from one place"
    assert watch.written == []


def test_every_channel_of_the_mask_gets_a_copy_and_the_source_is_the_last_ni() -> None:
    bench = Bench(3, 5, channels=3, **SMALL)
    sources: list[int] = []

    async def node(library: Grim, me: int) -> None:
        def on_data(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            sources.append(source)

        handler = (await bench.publish(library, data=on_data))["data"]
        tree = await library.find_multicast_tree("t")
        if me == 2:
            await library.subscribe_multicast(tree, 0b101)
            await library.send_mc(tree, handler)
        await poll_until(library, lambda: len(sources) == 2)

    bench.run(node)
    assert [reference(source)[:2] for source in sources] == [(0, Device.NI)] * 2, "node 0 asked first: the root"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda g: g.send_mc(9, 1),
            "tree: unknown multicast tree 9; call find_multicast_tree first (known trees: 1 (t))",
        ),
        (
            lambda g: g.subscribe_multicast(2, 1),
            "tree: unknown multicast tree 2; call find_multicast_tree first (known trees: 1 (t))",
        ),
        (
            lambda g: g.subscribe_multicast(1, 0),
            "channels: 0x0 is not a mask of channels 0..0; set bit i for channel i",
        ),
        (
            lambda g: g.subscribe_multicast(1, 2),
            "channels: 0x2 is not a mask of channels 0..0; set bit i for channel i",
        ),
        (
            lambda g: g.unsubscribe_multicast(1, 1),
            "channels: 0x01 has channels that are not subscribed to tree 1 (0x00); give subscribed channels",
        ),
        (lambda g: g.find_multicast_tree(""), "name: '' is not a valid tree name; give 1 to 255 bytes"),
        (
            lambda g: g.find_multicast_tree("u"),
            "name: 'u' would be tree 2, but option multicast_trees allows 1; increase it",
        ),
        (
            lambda g: g.send_mc(1, 77),
            "handler: 77 is not a registered handler; use a number returned by resolve_handler",
        ),
    ],
)
def test_invalid_call_is_rejected_at_the_caller(call: Callable[[Grim], Awaitable[Any]], message: str) -> None:
    bench = Bench(2, 6, multicast_trees=2)

    async def node(library: Grim, me: int) -> str:
        await bench.publish(library)
        await library.find_multicast_tree("t")
        with pytest.raises(GrimError) as caught:
            await call(library)
        return str(caught.value)

    ended = [False, False]

    async def both(library: Grim, me: int) -> str:
        said = await node(library, me)
        ended[me] = True
        await poll_until(library, lambda: all(ended))
        return said

    assert bench.run(both) == [message] * 2


def test_ni_that_is_not_the_root_answers_with_an_error_at_the_sender() -> None:
    bench = Bench(3, 7)

    async def node(library: Grim, me: int) -> str | None:
        handler = (await bench.publish(library, data=lambda *message: None))["data"]
        if me != 2:
            await library.host.sleep(500_000_000)
            return None
        library.trees.roots[3] = 1  # what a corrupted table would say
        await library.send_mc(3, handler)
        with pytest.raises(GrimError) as caught:
            await library.wait_for(lambda: False)
        return str(caught.value)

    assert bench.run(node)[2] == "tree: VNN 1 is not the root of this multicast tree; call find_multicast_tree again"
    bench.settle()
    assert bench.nothing_left()


def test_places_are_those_of_a_heap_from_the_root_on_without_unused_branches() -> None:
    words = places(4, {5: 1, 1: 3, 2: 0, 0: 1}, 6)
    assert words == {3: 0x04030300, 2: 0x04020200, 1: 0x04010103, 0: 0x04000001, 5: 0x04010501, 4: 0x04050000}
    assert places(1, {}, 3) == {0: 0x01000000, 2: 0x01020200, 1: 0x01010100}
    assert list(places(0, {}, 4)) == [3, 2, 1, 0], "the leaves first"
