"""Delivery of AM-II messages: exactly once, short ones by PIO only, longer ones through the staging areas.

Strategy: two to four hosts of the machine, with each LANai. Messages of all kinds must arrive once and unchanged, also
with lost, damaged, duplicated and reordered packets. Words of a frame, of a staging block and of a packet are changed
in transit, to show that they determine the result: the handler index, the tag, the payload.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from firmware.am2.host import Handler, Token
from firmware.am2.nic.layout import ARRIVED, BLOCKS_A_QUEUE, FRAME, FRAMES, QUEUE, STRIDE, Place, Word, descriptor
from firmware.am2.nic.words import LEAD, Head, Kind, Name, Queue, Second, name
from firmware.layers import check_options
from firmware.options import OptionError
from pymodels.hardware.discover import nic_kind
from pymodels.trace import TraceEvent
from tests.unit.am2.am2_bench import ANSWER, KEEP, Bench

SIZES = (0, 1, 3, 4, 31, 32, 33, 1000, 8191, 8192)
each_nic = pytest.mark.parametrize("nic", ["lanai9", "lanai4"])
Message = tuple[int, tuple[int, ...], bytes]


async def give(bench: Bench, node: int, messages: Sequence[Message]) -> None:
    for to, arguments, data in messages:
        await bench.send(node, to, *arguments, data=data)


def traffic(me: int, nodes: int, count: int, seed: int, most: int = 300) -> list[Message]:
    rng = random.Random(f"{seed} {me}")
    others = [node for node in range(nodes) if node != me]
    return [
        (rng.choice(others), (number, *(rng.getrandbits(32) for _ in range(rng.randrange(8)))),
         rng.randbytes(rng.randrange(most) if number % 3 == 0 else 0))
        for number in range(count)
    ]  # fmt: skip


def check(bench: Bench, sent: Sequence[Sequence[Message]]) -> None:
    """Check that every request and its reply arrived once."""
    for me in range(len(sent)):
        requests = Counter((False, node, *one[1:]) for node in range(len(sent)) for one in sent[node] if one[0] == me)
        twice = [(to, tuple(2 * one & 0xFFFFFFFF for one in words), data[::-1]) for to, words, data in sent[me]]
        assert Counter(bench.came[me]) == requests + Counter((True, *one) for one in twice)


@each_nic
def test_requests_and_replies_of_all_sizes_arrive_once_and_unchanged_in_both_directions(nic: str) -> None:
    bench, rng = Bench(nic=nic), random.Random(1)
    sent = [
        [
            (1 - me, tuple(rng.getrandbits(32) for _ in range(n % 9)), rng.randbytes(size))
            for n, size in enumerate(SIZES)
        ]
        for me in range(2)
    ]
    bench.run(*(give(bench, me, sent[me]) for me in range(2)))
    bench.run(*(bench.until(me, 2 * len(SIZES)) for me in range(2)))
    check(bench, sent)
    assert not bench.back[0] + bench.back[1]


@each_nic
def test_an_all_to_all_storm_ends_on_a_network_that_loses_damages_duplicates_and_reorders(nic: str) -> None:
    bench = Bench(4, nic, timeout_us=150, channels=4)
    bench.machine.faults.lose(0.04, 0.03, 3, reordered=0.03, doubled=0.03)
    sent = [traffic(me, 4, 40, 7) for me in range(4)]
    expected = [len(sent[me]) + sum(one[0] == me for other in sent for one in other) for me in range(4)]

    async def program(me: int) -> None:
        await give(bench, me, sent[me])
        await bench.until(me, expected[me])
        await bench.bundles[me].until(lambda: all(len(bench.came[n]) >= expected[n] for n in range(4)), "the others")

    for me in range(4):
        bench.machine.kernel.spawn(program(me), f"program {me}")
    bench.run(_whole(bench, expected), within_us=1e5)
    check(bench, sent)
    counted = [sum(bench.machine.nic(node).load(word) for node in range(4)) for word in (Word.RESENT, Word.DUPLICATES)]
    assert all(counted), counted


async def _whole(bench: Bench, expected: Sequence[int]) -> None:
    while any(len(came) < count for came, count in zip(bench.came, expected, strict=True)):
        await bench.machine.kernel.sleep(10_000_000, "the storm")


def test_each_endpoint_of_a_process_gets_its_own_messages() -> None:
    bench = Bench(each=3)
    near, far = (bundle.endpoints for bundle in bench.bundles)
    names: list[tuple[int, int]] = []

    def noting(number: int) -> Handler:
        async def who(token: Token) -> None:
            names.append((token.source.endpoint, number))

        return who

    for endpoint in far:
        endpoint.set_handler(9, noting(endpoint.name.endpoint))
    for index, endpoint in enumerate(near):
        endpoint.map(5, far[2 - index].name, far[0].tag)

    async def program() -> None:
        for endpoint in near:
            await endpoint.request(5, 9)
        await bench.bundles[0].until(lambda: not any(one.unanswered for one in near))

    bench.run(program(), bench.bundles[1].until(lambda: len(names) == 3))
    assert sorted(names) == [(0, 2), (1, 1), (2, 0)]


def test_short_messages_use_pio_only_and_payload_one_dma_on_each_side() -> None:
    bench = Bench()
    moved: list[int] = []
    for data in (b"", bytes(500)):
        before = len(bench.machine.trace.records)
        bench.run(bench.send(0, 1, 1, 2, 3, data=data, handler=KEEP), bench.until(1, len(moved) + 1))
        bench.run(bench.until(0, 0))
        events = [record[2] for record in bench.machine.trace.records[before:]]
        moved.append(events.count(TraceEvent.DMA_START))
    assert moved == [0, 2]


def test_the_handler_index_in_the_frame_selects_the_handler() -> None:
    bench = Bench()
    bench.run(bench.send(0, 1, 7, handler=KEEP), _rest(bench, 30))
    at = descriptor(FRAMES, Queue.REQUEST_RECEIVE, 0)
    nic = bench.machine.nic(1)
    nic.store(at, nic.load(at) & ~0xFF | ANSWER)
    bench.run(bench.until(1, 1), bench.until(0, 1))
    assert bench.came == [[(True, 1, (14,), b"")], [(False, 0, (7,), b"")]]


async def _rest(bench: Bench, us: int) -> None:
    await bench.machine.kernel.sleep(us * 1_000_000, "what was sent")


def test_payload_changed_in_a_staging_area_reaches_the_handler() -> None:
    bench = Bench()
    near, far = (layer._driver._memory[0][0] for layer in bench.layers)

    async def program() -> None:
        await bench.send(0, 1, data=b"sent by 0", handler=KEEP)
        near.view[0:1] = b"S"  # before the NIC has fetched it
        await _rest(bench, 30)

    bench.run(program())
    at = 8192 * BLOCKS_A_QUEUE * Queue.REQUEST_RECEIVE
    assert bytes(far.view[at : at + 9]) == b"Sent by 0"
    far.view[at + 8 : at + 9] = b"1"
    bench.run(bench.until(1, 1))
    assert bench.came[1] == [(False, 0, (), b"Sent by 1")]


def test_words_of_messages_and_packets_are_decoded_as_encoded() -> None:
    head = Head(Kind.BULK, 8, 255, True, True, 10)
    assert Head.decode(head.word) == head
    assert Head.decode(Head(Kind.SHORT, 0, 1).word) == Head(Kind.SHORT, 0, 1)
    second = Second(1, 127, 255, True)
    assert Second.decode(second.word(13)) == second
    assert second.word(13) >> 29 == 5
    assert Name.decode(name(127, 126, 1, 0x12345)) == Name(127, 126, 1, 0x2345)


def test_regions_of_the_layout_do_not_overlap_and_excessive_options_are_rejected() -> None:
    place = Place(8, 32, 4, 8192)
    assert place.frames[-1] + FRAME <= place.channels < place.port < place.end(LEAD)
    assert FRAME == 4 * QUEUE
    assert ARRIVED % STRIDE >= 56
    card = nic_kind("lanai4").card(262_144)
    check_options("am2", {}, 8, 262_144, card)
    with pytest.raises(OptionError, match="24 frames, 32 channels to 8 nodes and packets of 8192 bytes need"):
        check_options("am2", {"frames": 24}, 8, 262_144, card)
    with pytest.raises(OptionError, match="not supported on a NIC"):
        check_options("am2", {}, 2, 1 << 20, nic_kind("sp").card(1 << 20))
    with pytest.raises(OptionError, match="65 nodes: names of endpoints can address 64"):
        check_options("am2", {}, 65, 1 << 21, card)
    for options, said in (
        ({"frame": 8}, "did you mean 'frames'"),
        ({"retries": 256}, "am2.retries is 256; give 1 to 255"),
        ({"full": "drop"}, "am2.full is 'drop'; .*silent"),
        ({"medium": 1001}, "not a multiple of 8"),
    ):
        with pytest.raises(OptionError, match=said):
            check_options("am2", options, 2, 1 << 20, card)
