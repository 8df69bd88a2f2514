"""AM-II: bulk data go into the segment of an endpoint and come from it, by the staging areas, and its handler runs
once, when all of it is there.

Strategy: two hosts of the machine, each with a segment. Every byte of both segments is compared with what the calls
must leave there, also over a network that loses, damages, doubles and reorders packets. Places that the segment has
not are the program's, so the library of the receiver must be seen to judge; what came back is compared with what was
sent.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from firmware.host.am2 import Am2Error, Code, Token
from firmware.nic.am2.layout import BLOCKS_A_QUEUE
from firmware.nic.am2.words import Kind, Queue
from tests.unit.am2_bench import KEEP, Bench

SIZE, MEDIUM = 6000, 512
LENGTHS = (0, 1, 4, 511, 512, 513, 1024, 2100)
each_nic = pytest.mark.parametrize("nic", ["lanai9", "lanai4"])


class Ends:
    """A bench whose endpoints have segments, and what must stand in them."""

    def __init__(self, nic: str = "lanai9", **options: Any) -> None:
        self.bench = Bench(nic=nic, medium=MEDIUM, **{"timeout_us": 150, **options})
        self.images = [bytearray(random.Random(node).randbytes(SIZE)) for node in range(2)]
        self.places = []
        for endpoint, image in zip(self.bench.endpoints, self.images, strict=True):
            self.places.append(endpoint.process.allocate(SIZE))
            endpoint.process.store_bytes(self.places[-1], bytes(image))
            endpoint.set_segment(self.places[-1], SIZE)
            assert endpoint.segment == (self.places[-1], SIZE)

    def put(self, node: int, at: int, data: bytes | bytearray) -> None:
        """Data must come into a segment."""
        self.images[node][at : at + len(data)] = data

    def whole(self) -> bool:
        """Both segments are as they must be."""
        found = [one.process.load_bytes(at, SIZE) for one, at in zip(self.bench.endpoints, self.places, strict=True)]
        return found == [bytes(image) for image in self.images]

    def run(self, *calls: Awaitable[Any]) -> None:
        """Do the one of each program; then both poll until nothing is unanswered."""
        left = [len(calls)]

        def over() -> bool:
            return not left[0] and not any(endpoint.unanswered for endpoint in self.bench.endpoints)

        async def program(bundle: Any, call: Awaitable[Any] | None) -> None:
            if call is not None:
                await call
                left[0] -= 1
            while not over():
                await bundle.poll()
                await self.bench.machine.kernel.sleep(2_000_000)

        both = zip(self.bench.bundles, (*calls, None, None), strict=False)
        self.bench.run(*(program(bundle, call) for bundle, call in both), within_us=2e4)
        self.bench.run(*(bundle.poll() for bundle in self.bench.bundles))


@each_nic
def test_data_of_all_lengths_are_in_the_segment_when_the_handler_runs_once(nic: str) -> None:
    ends, seen = Ends(nic), list[tuple[int, int, bool]]()
    rng = random.Random(3)

    async def take(token: Token) -> None:
        assert token.va == ends.places[1] + token.offset
        seen.append((*token.arguments, ends.whole()))  # type: ignore[arg-type]

    ends.bench.endpoints[1].set_handler(9, take)

    async def program() -> None:
        for number, size in enumerate(LENGTHS):
            data, at = rng.randbytes(size), rng.randrange(SIZE - size)
            ends.put(1, at, data)
            await ends.bench.endpoints[0].request_xfer(1, at, 9, data, number, size)
            await ends.bench.bundles[0].until(lambda: not ends.bench.endpoints[0].unanswered)

    ends.run(program())
    assert seen == [(number, size, True) for number, size in enumerate(LENGTHS)]


@each_nic
def test_transfers_both_ways_at_once_over_a_bad_network_leave_each_byte_in_its_place(nic: str) -> None:
    ends, seen = Ends(nic), [list[int](), list[int]()]
    ends.bench.machine.faults.lose(0.03, 0.02, 5, reordered=0.03, doubled=0.03)
    rng = random.Random(7)

    def taking(node: int) -> Callable[[Token], Any]:
        async def take(token: Token) -> None:
            seen[node].append(token.arguments[0])

        return take

    async def program(node: int) -> None:
        endpoint, other = ends.bench.endpoints[node], 1 - node
        buffers = []
        for number in range(3):  # each side puts into the first half of the other's, and gets from the second
            data, at = rng.randbytes(900), 1000 * number
            ends.put(other, at, data)
            buffers.append((await endpoint.request_xfer_async(other, at, 9, data, number), data))
        for number in range(2):
            at = 3000 + 1400 * number
            ends.put(node, 5900 - 100 * number, ends.images[other][at : at + 100])
            await endpoint.get_xfer(other, at, 10, 5900 - 100 * number, 100, 10 + number)
        await ends.bench.bundles[node].until(lambda: not endpoint.unanswered)
        assert all(transfer.over and not transfer.failed for transfer, _ in buffers)

    for node, endpoint in enumerate(ends.bench.endpoints):
        endpoint.set_handler(9, taking(node))
        endpoint.set_handler(10, taking(node))
    ends.run(program(0), program(1))
    assert ends.whole()
    assert [sorted(one) for one in seen] == [[0, 1, 2, 10, 11]] * 2


@each_nic
def test_data_that_are_got_are_there_when_the_handler_of_the_asker_runs_once(nic: str) -> None:
    ends, seen = Ends(nic), list[tuple[Any, ...]]()

    async def got(token: Token) -> None:
        seen.append((token.arguments, ends.whole()))

    ends.bench.endpoints[0].set_handler(9, got)

    async def program() -> None:
        for size in LENGTHS:
            ends.put(0, 40, ends.images[1][3000 : 3000 + size])
            await ends.bench.endpoints[0].get_xfer(1, 3000, 9, 40, size, size, 2, 3, 4, 5, 6, 7, 8)
            await ends.bench.bundles[0].until(lambda: not ends.bench.endpoints[0].unanswered)

    ends.run(program())
    assert seen == [((size, 2, 3, 4, 5, 6, 7, 8), True) for size in LENGTHS]
    assert ends.bench.endpoints[1].handled == 0


def test_a_reply_brings_data_into_the_segment_of_the_asker() -> None:
    ends, seen = Ends(), list[bool]()

    async def asked(token: Token) -> None:
        if token.arguments[0]:
            await token.reply_xfer(20, 10, b"waits for room", 5)
        else:
            assert await token.reply_xfer_async(50, 10, b"at once", 6)

    async def answered(token: Token) -> None:
        seen.append(ends.whole())

    ends.bench.endpoints[1].set_handler(9, asked)
    ends.bench.endpoints[0].set_handler(10, answered)

    async def program() -> None:
        for kind in (1, 0):
            ends.put(0, *((20, b"waits for room") if kind else (50, b"at once")))
            await ends.bench.endpoints[0].request(1, 9, kind)
            await ends.bench.bundles[0].until(lambda: not ends.bench.endpoints[0].unanswered)

    ends.run(program())
    assert seen == [True, True]


def test_an_answer_that_cannot_go_at_once_sends_nothing_and_may_be_given_later() -> None:
    ends, told = Ends(credits=8), list[bool]()
    faults = ends.bench.machine.faults

    async def asked(token: Token) -> None:
        told.append(await token.reply_xfer_async(0, KEEP, bytes(MEDIUM)))

    ends.bench.endpoints[1].set_handler(9, asked)

    async def program() -> None:
        for _ in range(8):
            await ends.bench.endpoints[0].request(1, 9)
        await ends.bench.machine.kernel.sleep(200_000_000)
        for number in range(8):  # answers that nobody acknowledges keep their staging blocks
            faults.drop(1, 0, faults.passed(1, 0) + number)
        while len(told) < 8:
            await ends.bench.bundles[1].poll()

    ends.bench.run(program())
    ends.run()
    assert told[:4] == [True] * 4
    assert False in told


def test_data_pass_the_staging_areas_of_both_ends() -> None:
    ends = Ends()
    near, far = (layer._driver._memory[0][0] for layer in ends.bench.layers)
    ends.put(1, 100, b"Sent by 1")

    async def program() -> None:
        await ends.bench.endpoints[0].request_xfer(1, 100, KEEP, b"sent by 0")
        near.view[0:1] = b"S"
        await ends.bench.machine.kernel.sleep(40_000_000)
        at = MEDIUM * BLOCKS_A_QUEUE * Queue.REQUEST_RECEIVE
        assert bytes(far.view[at : at + 9]) == b"Sent by 0"
        far.view[at + 8 : at + 9] = b"1"

    ends.bench.run(program())
    ends.run()
    assert ends.whole()


# ---- what is refused

PLACES = {
    "offset outside": (SIZE + 1, b"x" * 8, Code.BAD_SEGMENT_OFFSET),
    "offset far outside": (0xFFFF0000, b"", Code.BAD_SEGMENT_OFFSET),
    "beyond the end": (SIZE - 3, b"x" * 4, Code.BAD_LENGTH),
}


@pytest.mark.parametrize("what", PLACES)
def test_what_the_segment_has_no_place_for_comes_back_whole_and_changes_nothing(what: str) -> None:
    ends = Ends()
    at, data, code = PLACES[what]
    ends.run(ends.bench.endpoints[0].request_xfer(1, at, KEEP, data, 1, 2))
    (token,) = ends.bench.back[0]
    assert (token.status, token.opcode, token.offset, token.arguments) == (code, "request bulk", at, (1, 2))
    assert ends.bench.returned_data == [data]
    assert ends.whole()
    assert not ends.bench.came[1]


def test_a_transfer_of_which_a_piece_comes_back_runs_no_handler() -> None:
    ends = Ends()
    at, data = SIZE - 1000, bytes(1600)
    ends.put(1, at, data[:512])
    ends.run(ends.bench.endpoints[0].request_xfer(1, at, KEEP, data))
    assert {(token.status, token.offset) for token in ends.bench.back[0]} == {
        (Code.BAD_LENGTH, at + 512),
        (Code.BAD_SEGMENT_OFFSET, at + 1024),
    }
    assert not ends.bench.came[1]
    assert ends.whole()
    ends.put(1, 0, b"goes on")
    ends.run(ends.bench.endpoints[0].request_xfer(1, 0, KEEP, b"goes on"))
    assert ends.whole()


@pytest.mark.parametrize("what", PLACES)
def test_what_cannot_be_got_comes_back_and_changes_nothing(what: str) -> None:
    ends = Ends()
    at, data, code = PLACES[what]
    ends.run(ends.bench.endpoints[0].get_xfer(1, at, KEEP, 0, len(data)))
    (token,) = ends.bench.back[0]
    assert (token.status, token.opcode) == (code, "request get")
    assert ends.whole()
    assert not ends.bench.came[0]


def test_a_reply_without_a_place_is_rejected_and_its_sender_told() -> None:
    ends = Ends()

    async def asked(token: Token) -> None:
        await token.reply_xfer(SIZE + 1, KEEP, b"nowhere")

    ends.bench.endpoints[1].set_handler(9, asked)
    ends.run(ends.bench.endpoints[0].request(1, 9))
    ends.bench.run(ends.bench.bundles[1].until(lambda: bool(ends.bench.back[1])))
    (token,) = ends.bench.back[1]
    assert (token.status, token.opcode, ends.bench.returned_data) == (
        Code.REPLY_REJECTED,
        "reply bulk",
        [b"nowhere"],
    )
    assert ends.whole()


Call = Callable[[Ends], Any]
MISUSES: dict[str, tuple[Call, Code, str]] = {
    "no offset": (lambda e: e.bench.endpoints[0].request_xfer(1, -1, KEEP, b""), Code.BAD_SEGMENT_OFFSET, "offset -1"),
    "a long offset": (
        lambda e: e.bench.endpoints[0].request_xfer(1, 1 << 32, KEEP, b""), Code.BAD_SEGMENT_OFFSET, "give a word"
    ),
    "beyond all": (
        lambda e: e.bench.endpoints[0].request_xfer(1, (1 << 32) - 2, KEEP, b"12"), Code.BAD_LENGTH, "give fewer"
    ),
    "text": (lambda e: e.bench.endpoints[0].request_xfer(1, 0, KEEP, "x"), Code.BAD_LENGTH, "its data"),  # type: ignore[arg-type]
    "handler 0": (lambda e: e.bench.endpoints[0].request_xfer(1, 0, 0, b""), Code.BAD_HANDLER, "handler 0"),
    "a free translation": (lambda e: e.bench.endpoints[0].request_xfer(9, 0, KEEP, b""), Code.BAD_ENTRY, "is free"),
    "nine words": (
        lambda e: e.bench.endpoints[0].request_xfer(1, 0, KEEP, b"", *range(9)), Code.BAD_ARGUMENTS, "9 arguments"
    ),
    "getting beyond the own end": (
        lambda e: e.bench.endpoints[0].get_xfer(1, 0, KEEP, SIZE - 1, 2), Code.BAD_LENGTH, "own segment has 6000"
    ),
    "getting to outside": (
        lambda e: e.bench.endpoints[0].get_xfer(1, 0, KEEP, SIZE + 1, 0), Code.BAD_SEGMENT_OFFSET, "within it"
    ),
    "getting half a byte": (lambda e: e.bench.endpoints[0].get_xfer(1, 0, KEEP, 0, 0.5), Code.BAD_LENGTH, "0.5 bytes"),  # type: ignore[arg-type]
    "getting for no handler": (lambda e: e.bench.endpoints[0].get_xfer(1, 0, 77, 0, 1), Code.BAD_HANDLER, "set it"),
    "a segment that is not there": (
        lambda e: e.bench.endpoints[0].set_segment(0x7000_0000, 4), Code.BAD_SEGMENT_OFFSET, "nothing is mapped"
    ),
    "half a segment": (lambda e: e.bench.endpoints[0].set_segment(0, 0.5), Code.BAD_LENGTH, "this is no place"),  # type: ignore[arg-type]
    "no resources": (lambda e: e.bench.endpoints[0].set_expected_resources(0, 1), Code.BAD_ARGUMENTS, "give two"),
    "many resources": (lambda e: e.bench.endpoints[0].set_expected_resources(1, 33), Code.BAD_ARGUMENTS, "32 at most"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISUSES)
def test_a_misuse_raises_its_own_error_and_sends_nothing(name: str) -> None:
    ends = Ends()
    call, code, said = MISUSES[name]
    before = ends.bench.machine.faults.passed(0, 1)

    async def made() -> None:
        done = call(ends)
        if isinstance(done, Awaitable):
            await done

    with pytest.raises(Am2Error, match=said) as error:
        ends.bench.run(made())
    assert error.value.code is code
    assert ends.bench.machine.faults.passed(0, 1) == before
    ends.put(1, 0, b"goes on")
    ends.run(ends.bench.endpoints[0].request_xfer(1, 0, KEEP, b"goes on"))
    assert ends.whole()


def test_a_handler_may_not_begin_a_transfer() -> None:
    ends, refused = Ends(), list[str]()

    async def asked(token: Token) -> None:
        with pytest.raises(Am2Error) as error:
            await ends.bench.endpoints[1].request_xfer(0, 0, KEEP, b"")
        refused.append(error.value.cause)

    ends.bench.endpoints[1].set_handler(9, asked)
    ends.run(ends.bench.endpoints[0].request(1, 9))
    assert refused == ["the handler of a request short makes it"]


def test_an_answer_that_nobody_has_asked_for_writes_nothing() -> None:
    ends = Ends()

    async def forged(token: Token) -> None:
        await token.endpoint.reply(token, Kind.BULK, 200, (), b"forged", 0, True)

    ends.bench.endpoints[1].set_handler(9, forged)
    ends.run(ends.bench.endpoints[0].request(1, 9))
    ends.bench.run(ends.bench.bundles[1].until(lambda: bool(ends.bench.back[1])))
    assert ends.bench.back[1][0].status is Code.REPLY_REJECTED


def test_expected_resources_say_how_many_requests_may_be_unanswered() -> None:
    ends = Ends()
    ends.bench.endpoints[0].set_expected_resources(1, 9)

    async def program() -> None:
        for _ in range(9):
            await ends.bench.endpoints[0].request(1, KEEP)
        assert ends.bench.endpoints[0].unanswered == 9

    ends.bench.run(program())
    ends.run()


def test_pieces_that_are_got_wait_for_staging_blocks_also_where_requests_come_back() -> None:
    ends, got = Ends(full="nack", credits=16), list[tuple[int, ...]]()
    count = 10

    async def done(token: Token) -> None:
        got.append(token.arguments)

    ends.bench.endpoints[0].set_handler(9, done)

    async def program() -> None:
        ends.put(0, 0, ends.images[1][: count * MEDIUM])
        await ends.bench.endpoints[0].get_xfer(1, 0, 9, 0, count * MEDIUM, 7)
        await ends.bench.machine.kernel.sleep(2_000_000_000)

    ends.run(program())
    assert got == [(7,)]
    assert ends.whole()
    assert not any(ends.bench.back)
