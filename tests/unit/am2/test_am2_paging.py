"""AM-II paging of endpoints between the NIC's memory and host memory with messages in flight.

Strategy: the machine with fewer frames than endpoints. Moves are counted at the host DMA and checked in both memories,
where bytes are also changed without the driver. Then traffic between many endpoints on nodes that all page, on a
network that loses packets: each message must arrive once.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from firmware.am2.host import Code, Endpoint, Token
from firmware.am2.nic.layout import FRAME, FRAMES, Word, descriptor
from pymodels.trace import Part, TraceEvent, unit
from tests.unit.am2.am2_bench import KEEP, TAG, Bench

US = 1_000_000


class Ends:
    """Pairs of endpoints on two nodes: translation 0 is the endpoint of the same number on the other node."""

    def __init__(self, each: int, nodes: int = 2, **options: Any) -> None:
        self.bench = Bench(nodes, each=each, **{"timeout_us": 100, **options})
        self.near, self.far = ([*bundle.endpoints] for bundle in self.bench.bundles[:2])
        for one, other in zip(self.near, self.far, strict=True):
            one.map(0, other.name, TAG)
            other.map(0, one.name, TAG)

    def brought(self, node: int) -> list[int]:
        """Return the loaded endpoints, in order."""
        return [one.number for one in self.bench.layers[node]._driver.pager.log]

    def there(self, node: int) -> set[int]:
        """Return the endpoints whose frames are in the NIC's memory."""
        return {one.name.endpoint for one in self.bench.bundles[node].endpoints if one._granted.place is not None}

    def moved(self, node: int) -> list[int]:
        """Return the size of each transfer of the host DMA, positive towards the NIC."""
        who = unit(node, Part.HOST_DMA)
        records = self.bench.machine.trace.records
        return [record[5] for record in records if record[1] == who and record[2] == TraceEvent.DMA_DONE]

    async def served(self, node: int, count: int) -> None:
        """Poll until a node has received `count` messages."""
        await self.bench.until(node, count)

    def ask(self, number: int, *words: int) -> None:
        """Send a request from a near endpoint, and wait for the reply."""
        bench = self.bench
        done = len(bench.came[1])
        bench.run(
            self.near[number].request(0, KEEP, *words),
            self.served(1, done + 1),
            bench.bundles[0].until(lambda: not self.near[number].unanswered),
            within_us=1e5,
        )


@pytest.mark.parametrize(("nic", "frames"), [("lanai9", 1), ("lanai9", 3), ("lanai4", 2)])
def test_using_one_endpoint_more_than_frames_in_turn_causes_a_fault_at_each_use(nic: str, frames: int) -> None:
    ends = Ends(frames + 1, nic=nic, frames=frames)
    assert ends.there(0) == set(range(frames))
    uses = [number % (frames + 1) for number in range(frames, 3 * frames + 2)]
    for word, number in enumerate(uses):
        ends.ask(number, word)
    assert ends.brought(0) == uses
    assert [words for _, _, words, _ in ends.bench.came[1]] == [(word,) for word in range(len(uses))]
    assert not ends.bench.back[0]


def test_as_many_endpoints_as_frames_cause_no_fault() -> None:
    ends = Ends(3, frames=3)
    for number in range(4):
        ends.ask(number % 3, number)
    assert not ends.brought(0)
    assert not ends.brought(1)


def test_a_fault_evicts_one_frame_and_loads_another() -> None:
    ends = Ends(2, frames=1)
    before = len(ends.moved(0))
    ends.ask(1, 5)
    assert [abs(size) for size in ends.moved(0)[before:] if abs(size) >= FRAME] == [FRAME, FRAME]


def waiting_and_absent(ends: Ends) -> int:
    """Let a message wait at endpoint 0 of node 0, evict the endpoint, and return the offset of its argument."""
    bench, apart = ends.bench, ends.bench.libraries[0].allocate_bundle()
    bench.bundles[0].move_endpoint(ends.near[1], apart)
    bench.run(ends.far[0].request(0, KEEP, 1), bench.machine.kernel.sleep(100 * US))
    at = descriptor(0, 2, 0) + 4 * 6
    assert bench.machine.nic(0).load(FRAMES + at) == 1
    bench.run(ends.near[1].request(0, KEEP), bench.machine.kernel.sleep(1000 * US))
    assert ends.near[0]._granted.place is None
    return at


def test_overwriting_the_former_place_of_a_frame_has_no_effect() -> None:
    ends = Ends(2, frames=1)
    at = waiting_and_absent(ends)
    ends.bench.machine.nic(0).store_words(FRAMES + at, [7])
    ends.bench.run(ends.served(0, 1), within_us=1e4)
    assert ends.bench.came[0] == [(False, 1, (1,), b"")]


def test_changes_of_the_copy_in_host_memory_are_loaded() -> None:
    ends = Ends(2, frames=1)
    near, at = ends.near[0], waiting_and_absent(ends)
    near.process.store_words(near._granted.copy + at, [9])
    ends.bench.run(near._granted.store(descriptor(0, 0, 9), bytes(4)))  # a store brings it
    assert ends.there(0) == {0}
    near.process.store_words(near._granted.copy + at, [8])
    ends.bench.run(ends.served(0, 1), within_us=1e4)
    assert ends.bench.came[0] == [(False, 1, (9,), b"")]


def test_a_message_for_an_absent_endpoint_loads_it_and_arrives_once() -> None:
    ends = Ends(3, frames=2)
    assert ends.there(1) == {0, 1}
    ends.ask(2, 6)
    assert ends.brought(1) == [2]
    assert ends.bench.came[1] == [(False, 0, (6,), b"")]
    assert ends.bench.machine.nic(1).load(Word.REFUSED) == 1


def test_a_message_for_an_absent_endpoint_loads_it_with_absent_silent() -> None:
    ends = Ends(3, frames=2, absent="silent")
    ends.ask(2, 6)
    assert ends.bench.came[1] == [(False, 0, (6,), b"")]
    assert ends.bench.machine.nic(1).load(Word.DROPPED) == 1


def test_an_endpoint_with_a_message_in_flight_is_not_evicted() -> None:
    ends = Ends(3, frames=2, timeout_us=1000)
    bench, faults = ends.bench, ends.bench.machine.faults
    bench.run(bench.machine.kernel.sleep(3000 * US))
    faults.delay(1, 0, faults.passed(1, 0), 600 * US)  # the acknowledgement of endpoint 0's message

    async def program() -> None:
        await ends.near[0].request(0, KEEP, 1)
        await ends.near[2].request(0, KEEP, 2)

    bench.run(program(), within_us=2000)
    assert ends.there(0) == {0, 2}


def test_posted_messages_are_sent_after_the_eviction_of_their_endpoint() -> None:
    ends = Ends(3, frames=1, channels=2, credits=8)
    bench = ends.bench

    async def program() -> None:
        for number in (0, 1, 2, 0, 1, 2):
            for word in range(4):
                await ends.near[number].request(0, KEEP, number, word)
        await bench.bundles[0].until(lambda: not any(one.unanswered for one in ends.near))

    bench.run(program(), ends.served(1, 24), within_us=1e5)
    came = Counter(words for _, _, words, _ in bench.came[1])
    assert came == Counter({(number, word): 2 for number in range(3) for word in range(4)})


def test_a_process_cannot_store_to_a_frame_that_has_its_former_place() -> None:
    ends = Ends(2, frames=1)
    bench = ends.bench
    first, second = ends.near
    stored: list[int] = []

    async def stores() -> None:
        for word in range(40):
            await first._granted.store(descriptor(0, 0, 9) + 4 * 6, word.to_bytes(4, "big"))
            stored.append(word)

    bench.run(stores(), second.request(0, KEEP, 3), ends.served(1, 1), within_us=1e5)
    bench.run(second.request(0, KEEP, 4), ends.served(1, 2), within_us=1e5)
    at = FRAMES + descriptor(0, 0, 9) + 4 * 6
    assert ends.there(0) == {1}
    assert bench.machine.nic(0).load(at) == 0
    assert first.process.load_words(first._granted.copy + descriptor(0, 0, 9) + 4 * 6, 1) == (39,)


@pytest.mark.parametrize("replace", ["clock", "random", "lru"])
def test_every_replacement_policy_delivers_all_messages_once(replace: str) -> None:
    ends = Ends(5, nodes=3, frames=2, replace=replace, credits=2)
    bench, rng = ends.bench, random.Random(replace)
    sent: Counter[tuple[int, ...]] = Counter()
    for node in range(3):
        for to in range(3):
            for number in rng.sample(range(50), 2):
                bench.machine.faults.drop(node, to, number)
    for bundle in bench.bundles:
        others = [other for one in bench.bundles if one is not bundle for other in one.endpoints]
        for endpoint in bundle.endpoints:
            for index, other in enumerate(others):
                endpoint.map(index, other.name, TAG)

    async def program(node: int) -> None:
        mine: list[Endpoint] = bench.bundles[node].endpoints
        for word in range(20):
            words = node, word, rng.randrange(1 << 16)
            sent[words] += 1
            await rng.choice(mine).request(rng.randrange(10), KEEP, *words)
        await bench.bundles[node].until(lambda: sum(map(len, bench.came)) == 60 and not lacks(mine))

    def lacks(endpoints: list[Endpoint]) -> bool:
        return any(one.unanswered for one in endpoints)

    bench.run(*(program(node) for node in range(3)), within_us=1e5)
    assert Counter(words for came in bench.came for _, _, words, _ in came) == sent
    assert not any(bench.back)
    assert all(ends.brought(node) for node in range(3))


def test_two_nodes_that_page_at_the_same_rate_exchange_messages() -> None:
    ends = Ends(4, frames=2, timeout_us=300)
    bench = ends.bench

    async def program() -> None:
        for endpoint in ends.near:
            await endpoint.request(0, KEEP)
        await bench.bundles[0].until(lambda: not any(one.unanswered for one in ends.near))

    bench.run(program(), ends.served(1, 4), within_us=2e4)
    bench.run(program(), ends.served(1, 8), within_us=2e4)


def test_payload_arrives_at_paged_endpoints() -> None:
    ends = Ends(3, frames=1, credits=4)
    bench = ends.bench

    async def program() -> None:
        for word in range(9):
            await ends.near[word % 3].request_i(0, KEEP, bytes([word]) * 700, word)
        await bench.bundles[0].until(lambda: not any(one.unanswered for one in ends.near))

    bench.run(program(), ends.served(1, 9), within_us=1e5)
    assert sorted((words[0], data) for _, _, words, data in bench.came[1]) == [
        (word, bytes([word]) * 700) for word in range(9)
    ]


def test_a_returned_message_reaches_a_paged_endpoint() -> None:
    ends = Ends(2, frames=1)
    bench = ends.bench
    back: list[Token] = []

    async def returned(token: Token) -> None:
        back.append(token)

    for endpoint in ends.near:
        endpoint.set_handler(0, returned)
        endpoint.map(3, ends.far[0].name, TAG + 1)

    async def program() -> None:
        for number in (0, 1, 0, 1):
            await ends.near[number].request(3, KEEP, number)
        await bench.bundles[0].until(lambda: len(back) == 4)

    bench.run(program(), within_us=1e5)
    assert [token.status for token in back] == [Code.BAD_TAG] * 4


def test_absent_endpoints_can_be_freed_and_allocated_again_empty() -> None:
    ends = Ends(3, frames=1)
    bench = ends.bench
    waiting_and_absent(ends)
    bench.run(ends.near[2].free(), ends.near[0].free(), within_us=1e4)
    again = bench.run(bench.layers[0].init().allocate_bundle().allocate_endpoint())[0]
    assert again.name == ends.near[0].name
    assert again._granted.place is None
    assert not any(again.process.load_bytes(again._granted.copy, FRAME))
    came = bench.bundles[1].until(lambda: len(bench.came[1]) == 2)
    bench.run(ends.near[1].request(0, KEEP, 8), came, within_us=1e4)
    assert bench.came[1][-1] == (False, 0, (8,), b"")


def test_the_tag_of_an_absent_endpoint_can_change() -> None:
    ends = Ends(2, frames=1)
    bench = ends.bench
    bench.run(ends.far[1].set_tag(TAG + 1))
    bench.run(ends.near[1].request(0, KEEP), bench.bundles[0].until(lambda: bool(bench.back[0])), within_us=1e4)
    assert bench.back[0][0].status is Code.BAD_TAG
    assert ends.there(1) == {0}
