"""The tail of an endpoint's queue, to which messages from the link, the root's own multicast and reports are appended.

Strategy: long messages, which are delivered while they still arrive, meet each other kind again and again. All bytes
are checked in the handlers, and counters must show that the messages were cut through. An FPGA card receives nothing
before a message is complete.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from firmware.grim import nic as nic_grim
from firmware.grim.formats import HEADER_BYTES, Device, Reference, endpoint
from firmware.grim.host import Grim, GrimError
from firmware.grim.host.card_calls import Cards
from firmware.grim.host.handlers import CARD_CONTROL
from firmware.grim.nic.cards import CARD
from firmware.grim.nic.delivery.endpoints import Endpoints
from firmware.grim.nic.layout import Counter
from firmware.grim.nic.ni import Ni
from pymodels.card.fabric import EXAMPLE, names
from pymodels.card.registers import BANK_BYTES, REGISTERS, Forward
from pymodels.config.model import FPGA_CARD
from pymodels.machine.memory import Memory
from tests.unit.grim.grim_bench import Bench

LONG = 4096
COUNT = 40
SMALL_QUEUE = 64 + 5 * (LONG + 32)


def content(number: int, size: int) -> bytes:
    """Return the bytes of a message."""
    return random.Random(f"{number}.{size}").randbytes(size)


class Stream:
    """Long messages from node 1 to node 0, with those received by sender."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.came: dict[int, list[int]] = {0: [], 1: []}

    def on_data(self, source: int, sender: int, number: int, size: int, a3: int, payload: memoryview) -> None:
        """Handle a message at node 0."""
        assert bytes(payload) == content(number, size), f"message {number} of node {sender} is not what was sent"
        self.came[sender].append(number)

    async def send(self, library: Grim, handler: int, sizes: Sequence[int] = (LONG,)) -> None:
        """Run node 1."""
        for number in range(COUNT):
            size = sizes[number % len(sizes)]
            await library.send(0, handler, 1, number, size, payload=content(number, size))


@pytest.mark.parametrize(
    "options", [{}, {"sequencing": "per-ni"}, {"buffering": "both"}, {"host_queue_bytes": SMALL_QUEUE}], ids=str
)
def test_arriving_long_messages_and_broadcasts_of_the_root_do_not_overlap(
    options: dict[str, Any],
) -> None:
    bench = Bench(2, retry_delay_us=2, **options)
    stream = Stream(bench)

    async def node(library: Grim, me: int) -> None:
        handler = (await bench.publish(library, data=stream.on_data if me == 0 else lambda *message: None))["data"]
        if me == 1:
            await stream.send(library, handler)
            return
        for number in range(COUNT):
            await library.broadcast(handler, 0, number, 200, 0, content(number, 200))
            await library.host.sleep(random.Random(number).randrange(30_000_000))
        await library.wait_for(lambda: len(stream.came[0]) == len(stream.came[1]) == COUNT)

    bench.run(node)
    bench.settle()
    assert stream.came == {0: list(range(COUNT)), 1: list(range(COUNT))}
    assert bench.count(0, Counter.EARLY) > COUNT // 2
    assert bench.nothing_left()


def test_arriving_long_messages_and_reports_do_not_overlap() -> None:
    bench = Bench(2, retry_delay_us=2)
    stream = Stream(bench)

    async def node(library: Grim, me: int) -> None:
        handler = (await bench.publish(library, data=stream.on_data))["data"]
        if me == 1:
            await stream.send(library, handler)
            return
        library.trees.roots[3] = 0  # a tree that was never planted, as its own NI sees
        for number in range(COUNT):
            await library.send_mc(3, handler)
            with pytest.raises(GrimError, match="^tree: VNN 0 is not the root of this multicast tree"):
                await library.wait_for(lambda: False)
            await library.host.sleep(random.Random(number).randrange(30_000_000))
        await library.wait_for(lambda: len(stream.came[1]) == COUNT)

    bench.run(node)
    bench.settle()
    assert stream.came[1] == list(range(COUNT))
    assert bench.count(0, Counter.EARLY) > COUNT // 2
    assert bench.nothing_left()


def test_long_messages_behind_longer_waiting_ones_keep_bytes_and_order() -> None:
    """Read the endpoint slowly: a message in a receive buffer has no room where a later, shorter one has."""
    bench = Bench(2, buffering="both", host_queue_bytes=SMALL_QUEUE)
    stream = Stream(bench)

    async def node(library: Grim, me: int) -> None:
        handler = (await bench.publish(library, data=stream.on_data))["data"]
        if me == 1:
            await stream.send(library, handler, [LONG, 2400])
            return
        while len(stream.came[1]) < COUNT:
            await library.host.sleep(400_000_000)
            await library.poll()

    bench.run(node)
    assert stream.came[1] == list(range(COUNT))
    assert bench.count(0, Counter.QUEUED) > COUNT // 4
    assert bench.count(0, Counter.EARLY) > 0


class WithCard:
    """Memory of a host with the window of an FPGA card, which accepts all writes of the NIC."""

    def __init__(self, memory: Memory) -> None:
        self.memory, self.read = memory, memory.read
        self.written: dict[int, bytes] = {}
        """Bytes written, by offset in the card."""

    def granted(self, address: int, size: int) -> None:
        """Grant access to all of the card's window."""
        assert address >= CARD or address + size <= self.memory.size

    def write(self, address: int, data: bytes) -> None:
        """Write one piece of a transfer."""
        if address < CARD:
            self.memory.write(address, data)
        else:
            self.written[address - CARD] = bytes(data)

    def bank(self, number: int) -> bytes:
        """Return the contents of a bank from its start."""
        inside = {
            at: data for at, data in self.written.items() if number * BANK_BYTES <= at < (number + 1) * BANK_BYTES
        }
        return b"".join(inside[at] for at in sorted(inside))


def test_long_message_goes_to_an_fpga_card_only_when_complete() -> None:
    """Configure the NIC with a card, which the machine lacks, and record the writes to its window."""
    bench = Bench(2, start_nics=False, channels=2)
    views = [replace(view, cards=(frozenset(), frozenset({FPGA_CARD}))) for view in bench.views]
    bench.libraries[0] = Grim(bench.machine.host(0), views[0])
    for node in range(2):
        nic = bench.machine.nic(node)
        nic.spawn(nic_grim.main(nic, views[node]), "firmware")
    dma = bench.machine.nic(1).dma
    window = WithCard(dma.host_memory)
    dma.host_memory, dma.check_grant = window, window.granted  # type: ignore[assignment]

    async def node_of(library: Grim, me: int) -> None:
        handler = (await bench.publish(library, data=lambda *message: None))["data"]
        if me == 0:
            for number in range(2):
                await library.send(library.get_resource(1, Device.CELOXICA), handler, payload=content(number, LONG))

    bench.run(node_of)
    bench.settle()
    assert [window.bank(number)[HEADER_BYTES:] for number in range(2)] == [content(number, LONG) for number in range(2)]
    assert {at for at in window.written if at >= REGISTERS} == {REGISTERS, REGISTERS + 4}, "the two back pointers"


def test_lent_place_taken_by_another_message_stays_taken_after_a_queue_wrap() -> None:
    bench = Bench(2, start_nics=False, channels=2, host_queue_bytes=1 << 14)
    ni = Ni(bench.machine.nic(0), bench.views[0])
    endpoints = Endpoints(ni)
    first = endpoints.lend(1)

    async def fill() -> None:
        while True:
            await endpoints.append(1, 1000)
            if endpoints._back[1] == 0:
                return

    bench.machine.finish(endpoints.append(0, 1000))
    assert endpoints.is_lent, "of another channel"
    bench.machine.finish(fill())
    assert not endpoints.take_back()
    assert endpoints.lend(1) == first
    assert endpoints.take_back()


@pytest.mark.parametrize("mode", Forward)
def test_forwarding_entry_has_a_handler_only_for_results_to_an_endpoint_or_a_tree(mode: Forward) -> None:
    bench = Bench(2)
    told: list[tuple[int, ...]] = []

    async def send_internal(*words: int) -> None:
        told.append(words)

    async def node(library: Grim, me: int) -> None:
        handler = (await bench.publish(library, result=lambda *message: None))["result"]
        if me:
            return
        messages = SimpleNamespace(send_internal=send_internal)
        library.nodes.circuits = names(EXAMPLE)
        cards = Cards(library.nodes, library.calls, messages, library.handlers, library.trees)  # type: ignore[arg-type]
        card, end = Reference(1, Device.CELOXICA, 0).pack(), (library.get_dest_id(1), handler)
        with pytest.raises(GrimError, match="^handler: 99 is not a registered handler"):
            await cards.forward(card, "crc32", Forward.ENDPOINT, end[0], 99)
        with pytest.raises(GrimError, match="^handler: 99 is not a registered handler"):
            await cards.forward(card, "crc32", Forward.TREE, 0, 99)
        with pytest.raises(GrimError, match=r"^tree: unknown multicast tree 2; call find_multicast_tree first"):
            await cards.forward(card, "crc32", Forward.TREE, 2, handler)
        library.trees.roots[3] = 1
        if mode == Forward.TREE:
            end = 3, handler
        await cards.forward(card, "crc32", mode, *(end if mode in (Forward.ENDPOINT, Forward.TREE) else ()))
        words = {
            Forward.ENDPOINT: (endpoint(1, Device.HOST), handler),
            Forward.TREE: (3 << 24 | library.options.channels + 3 << 16 | endpoint(1, Device.NI), handler),
        }.get(mode, (0, 0))
        assert told == [(card, CARD_CONTROL, names(EXAMPLE).index("crc32"), mode << 29 | words[0], words[1], 0)]

    bench.run(node)
