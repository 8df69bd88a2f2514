"""AM-II bulk data: into and out of an endpoint's segment through the staging areas, with a single handler run.

Strategy: two hosts of the machine, each with a segment. Every byte of both segments is compared with the expected
contents, also over a network that loses, damages, duplicates and reorders packets.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from firmware.am2.host import Token
from firmware.am2.nic.layout import BLOCKS_A_QUEUE
from firmware.am2.nic.words import Queue
from tests.unit.am2.am2_bench import KEEP
from tests.unit.am2.am2_segments import LENGTHS, MEDIUM, SIZE, Ends, each_nic


@each_nic
def test_the_handler_runs_once_when_data_of_any_length_are_in_the_segment(nic: str) -> None:
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
def test_concurrent_transfers_over_a_faulty_network_deliver_each_byte(nic: str) -> None:
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
def test_the_handler_of_a_get_runs_once_when_the_data_are_complete(nic: str) -> None:
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


def test_a_reply_delivers_data_into_the_segment_of_the_requester() -> None:
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


def test_an_asynchronous_reply_without_room_sends_nothing_and_can_be_repeated() -> None:
    ends, told = Ends(credits=8), list[bool]()
    faults = ends.bench.machine.faults

    async def asked(token: Token) -> None:
        told.append(await token.reply_xfer_async(0, KEEP, bytes(MEDIUM)))

    ends.bench.endpoints[1].set_handler(9, asked)

    async def program() -> None:
        for _ in range(8):
            await ends.bench.endpoints[0].request(1, 9)
        await ends.bench.machine.kernel.sleep(200_000_000)
        for number in range(8):  # unacknowledged answers keep their staging blocks
            faults.drop(1, 0, faults.passed(1, 0) + number)
        while len(told) < 8:
            await ends.bench.bundles[1].poll()

    ends.bench.run(program())
    ends.run()
    assert told[:4] == [True] * 4
    assert False in told


def test_bulk_data_pass_through_the_staging_areas_of_both_ends() -> None:
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


def test_pieces_of_a_get_wait_for_staging_blocks_also_with_full_nack() -> None:
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
