"""Messages of any length.

Strategy: messages have sizes around every boundary (word, segment, cut-through), 64 KB, 300 KB, and random sizes. Each
is compared byte for byte with one handler call. Payload comes from bytes, from another buffer, and from host memory.
Long messages of several channels and of handlers interleave without affecting each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from firmware.grim.formats import MAX_PAYLOAD
from firmware.grim.host import Grim
from firmware.grim.nic.layout import Counter
from tests.unit.grim.grim_bench import Bench

SEGMENT = 1024


def pattern(size: int) -> bytes:
    """Return bytes without repeated long parts."""
    return bytes((i * 7 + (i >> 8) * 13 + (i >> 16)) & 0xFF for i in range(size))


@dataclass
class Span:
    """Span of a buffer in host memory."""

    address: int
    size: int


def transfer(bench: Bench, payloads: list[Any]) -> list[bytes]:
    """Send each payload from node 0 to node 1; return the arguments of the handler calls."""
    got: list[bytes] = []

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            assert (a0, a1, a2, a3) == (len(got), -1, 1 << 30, -(1 << 31))
            got.append(bytes(data))

        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 0:
            for i, data in enumerate(payloads):
                await library.send(library.get_dest_id(1), number, i, -1, 1 << 30, 1 << 31, data)
        else:
            await library.wait_for(lambda: len(got) == len(payloads))

    bench.run(node)
    bench.settle()
    assert bench.nothing_left()
    return got


@pytest.mark.parametrize("size", [0, 1, 3, 4, SEGMENT - 1, SEGMENT, SEGMENT + 1, 2 * SEGMENT, 65_536, 300_000])
def test_message_of_each_size_arrives_in_one_handler_call(size: int) -> None:
    bench = Bench(2, segment_bytes=SEGMENT)
    assert transfer(bench, [pattern(size)]) == [pattern(size)]
    assert bench.count(1, Counter.ACCEPTED) - bench.count(0, Counter.ACCEPTED) == max(-(-size // SEGMENT), 1)


def test_longest_segment_fits_one_message() -> None:
    data = pattern(2 * MAX_PAYLOAD + 1)
    assert transfer(Bench(2, segment_bytes=MAX_PAYLOAD), [data, data[:MAX_PAYLOAD]]) == [data, data[:MAX_PAYLOAD]]


@settings(max_examples=15, phases=[Phase.explicit, Phase.generate])
@given(
    st.lists(st.integers(0, 5000), min_size=1, max_size=6),
    st.sampled_from([4, 60, 252, 1000]),
    st.sampled_from([0, 64, 520]),
)
def test_messages_with_random_sizes_segments_and_cut_through_arrive(
    sizes: list[int], segment: int, cut_through: int
) -> None:
    payloads = [pattern(size) for size in sizes]
    assert transfer(Bench(2, segment_bytes=segment, cut_through_bytes=cut_through), payloads) == payloads


def test_payload_in_host_memory_arrives() -> None:
    bench = Bench(2, segment_bytes=SEGMENT)
    buffer = bench.machine.host(0).allocate(5000)
    buffer.view[:] = pattern(5000)
    assert transfer(bench, [buffer]) == [pattern(5000)]


def test_payload_in_any_buffer_arrives() -> None:
    array = np.arange(1000, dtype=np.int16)
    data = pattern(3000)
    assert transfer(Bench(2), [array, bytearray(data), memoryview(data)[5:2000]]) == [
        array.tobytes(),
        data,
        data[5:2000],
    ]


def test_long_messages_of_two_channels_do_not_mix() -> None:
    bench = Bench(2, channels=2, segment_bytes=256)
    got: dict[int, bytes] = {}

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got[source & 0xFFFF] = bytes(data)

        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 0:
            there = library.get_dest_id(1)
            other = bench.machine.host(0).spawn(
                library.send(there, number, payload=pattern(9000), channel=1), "second send"
            )
            await library.send(there, number, payload=pattern(7000), channel=0)
            await other.finished
        else:
            await library.wait_for(lambda: len(got) == 2)

    bench.run(node)
    assert got == {0: pattern(7000), 1: pattern(9000)}


def test_two_tasks_on_one_channel_take_turns() -> None:
    bench = Bench(2, segment_bytes=256, queue_bytes=2048)
    got: list[bytes] = []

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(bytes(data))

        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 0:
            there, host = library.get_dest_id(1), bench.machine.host(0)
            tasks = [
                host.spawn(library.send(there, number, payload=pattern(size)), f"send {size}")
                for size in (9000, 100, 5000)
            ]
            for task in tasks:
                await task.finished
        else:
            await library.wait_for(lambda: len(got) == 3)

    bench.run(node)
    assert got == [pattern(9000), pattern(100), pattern(5000)]


def test_handlers_that_send_long_answers_use_the_overflow_queue() -> None:
    bench = Bench(2, segment_bytes=256, queue_bytes=2048, host_queue_bytes=2048)
    got: list[list[bytes]] = [[], []]
    most, asked = [0, 0], [0, 0]

    async def node(library: Grim, me: int) -> None:
        async def echo(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            asked[me] += 1
            await library.send(source, numbers["reply"], payload=bytes(data))
            most[me] = max(most[me], library.overflow)

        def reply(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got[me].append(bytes(data))

        numbers = await bench.publish(library, echo=echo, reply=reply)
        for size in range(0, 3000, 100):
            await library.send(library.get_dest_id(1 - me), numbers["echo"], payload=pattern(size))
        await library.wait_for(lambda: len(got[me]) == 30 and asked[me] == 30 and not library.overflow)

    bench.run(node)
    assert got == [[pattern(size) for size in range(0, 3000, 100)]] * 2
    assert min(most) > 0


@pytest.mark.parametrize("queue", [2048, 1 << 16])
def test_payload_of_a_handlers_message_may_change_as_soon_as_send_returns(queue: int) -> None:
    bench = Bench(2, segment_bytes=256, queue_bytes=queue)
    got: list[bytes] = []
    overflow: list[int] = []

    async def node(library: Grim, me: int) -> None:
        buffer = bench.machine.host(me).allocate(4000)

        async def ask(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            buffer.view[:] = pattern(4000)
            await library.send(source, numbers["reply"], payload=buffer)
            buffer.view[:] = bytes(4000)
            overflow.append(library.overflow)

        def reply(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(bytes(data))

        numbers = await bench.publish(library, ask=ask, reply=reply)
        if me == 0:
            await library.send(library.get_dest_id(1), numbers["ask"])
            await library.wait_for(lambda: bool(got))
        else:
            await library.wait_for(lambda: bool(overflow) and not library.overflow)

    bench.run(node)
    assert got == [pattern(4000)]
    assert (overflow[0] > 0) == (queue == 2048)


@pytest.mark.parametrize("channels", [1, 4])
def test_payload_fetched_by_dma_mixes_with_payload_that_is_written(channels: int) -> None:
    bench = Bench(3, dma_inject=1, channels=channels, segment_bytes=500, queue_bytes=8192, host_queue_bytes=4096)
    bench.machine.host(1).pause_between(100, 2000)
    sizes = [1, 0, 3000, 500, 37, 501, 2, 4097] * 4
    got: dict[int, list[bytes]] = {1: [], 2: []}

    async def node(library: Grim, me: int) -> None:
        buffer = bench.machine.host(me).allocate(4097)

        def handler(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got[me].append(bytes(data))

        number = (await bench.publish(library, handler=handler))["handler"]
        if me:
            await library.wait_for(lambda: len(got[me]) == len(sizes))
            return
        for i, size in enumerate(sizes):
            for target in (1, 2):
                data = pattern(size + i)[i:]
                buffer.view[:size] = data
                payload = Span(buffer.address, size) if i % 3 else data
                channel = target % channels
                await library.send(library.get_dest_id(target, 0, channel), number, payload=payload, channel=channel)
                buffer.view[:] = bytes(4097)

    bench.run(node)
    bench.settle()
    assert got[1] == got[2] == [pattern(size + i)[i:] for i, size in enumerate(sizes)]
    assert bench.total(Counter.NACKS_SENT) > 0
    assert bench.nothing_left()
    assert bench.machine.nic(0).dma.lists[2] != bench.libraries[0].layout.fetches


def test_handler_does_not_wait_for_a_payload_fetch() -> None:
    bench = Bench(2, dma_inject=1, segment_bytes=256)
    got: list[bytes] = []

    async def node(library: Grim, me: int) -> None:
        buffer = bench.machine.host(me).allocate(3000)

        async def ask(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            buffer.view[:] = pattern(3000)
            await library.send(source, numbers["reply"], payload=buffer)
            buffer.view[:] = bytes(3000)

        def reply(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(bytes(data))

        numbers = await bench.publish(library, ask=ask, reply=reply)
        if me == 0:
            await library.send(library.get_dest_id(1), numbers["ask"])
            await library.wait_for(lambda: bool(got))
        else:
            bench.machine.host(1).spawn(library.wait_for(lambda: False), "server")

    bench.run(node)
    assert got == [pattern(3000)]
