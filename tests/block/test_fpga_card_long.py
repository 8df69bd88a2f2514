"""Long messages to and from the FPGA card: segments in its banks, segments in the NIC's queue.

Strategy: random payloads in segments of random lengths go to each circuit of an image, with a segment size that cuts
the results as well. The reassembled results must match the models', and the headers must be those that a host, another
card, a tree or a remote write needs. Messages that their sender leaves unfinished, and segments without a beginning,
must change no later result. A host that holds a bank interrupts messages anywhere.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from firmware.grim.formats import MessageType
from pymodels.card.circuits import CIRCUITS
from pymodels.card.registers import BANK_BYTES, CardReg, Forward
from tests.block.card_bench import (
    CARD,
    CHANNEL,
    DIGESTS,
    FILTERS,
    REPLY_HANDLER,
    SELF,
    SOURCE,
    SOURCE_CHANNEL,
    CardBench,
    begin,
    check_end,
    forward,
    handler_of,
)
from tests.block.cases import some

SEGMENT = 256
OTHER_CARD, OTHER_HOST = 0x0702, 0x0700


async def begin_long(dut: Any, file: str, fabric_ps: int = 10000, divisor: int = 0) -> CardBench:
    """Return a bench whose card cuts results into segments of SEGMENT bytes."""
    bench = await begin(dut, file, fabric_ps, divisor)
    bench.write(CardReg.RUN, SEGMENT << 16 | 1)
    return bench


def cut(rng: random.Random, payload: bytes, largest: int = 600) -> list[bytes]:
    """Return a payload in at least two segments of random lengths, multiples of 4 but for the last."""
    segments: list[bytes] = []
    while not segments or payload:
        size = 4 * rng.randint(1, largest // 4)
        segments.append(payload[:size])
        payload = payload[size:]
    return segments if len(segments) > 1 else [segments[0], b""] if len(segments[0]) % 4 == 0 else segments


def check_headers(headers: list[Any], arguments: tuple[int, int, int, int]) -> None:
    """Check the headers of a result to a host: {0, offset} in all segments but the last."""
    for number, header in enumerate(headers[:-1]):
        assert (header.type, header.tree, header.bytes) == (MessageType.SEGMENT, 0, SEGMENT)
        assert header.arguments == (0, number * SEGMENT, 0, 0)
    assert (headers[-1].type, headers[-1].arguments) == (MessageType.ACTIVE, arguments)
    for header in headers:
        assert (header.source, header.destination, header.handler) == (SELF, SOURCE, REPLY_HANDLER)
        assert header.channel == CHANNEL << 8 | SOURCE_CHANNEL


@cocotb.test(timeout_time=60, timeout_unit="ms")
async def long_messages_and_results_equal_the_models(dut: Any) -> None:
    for file, circuits, fabric_ps, divisor in some(
        (
            (DIGESTS, ("crc32", "sha256", "loopback"), 10000, 0),
            (FILTERS, ("fir16", "loopback", "histogram"), 13100, 1),
        )
    ):
        bench = await begin_long(dut, file, fabric_ps, divisor)
        models = {name: CIRCUITS[name]() for name in circuits}
        for name in circuits:
            await forward(bench, name, Forward.REPLY)
        await bench.send(handler_of(circuits[0]), (1, 0, 0, REPLY_HANDLER), bytes(range(32)))
        assert (await bench.result())[1] == models[circuits[0]].run(1, bytes(range(32)))
        if "histogram" in models:
            await bench.send(handler_of("histogram"), (2, 0, 0, REPLY_HANDLER), b"")
            await bench.result()
        for number, size in enumerate((SEGMENT, 1003, 4, 2400, SEGMENT - 1)):
            for name in circuits:
                payload = bench.rng.randbytes(size)
                arguments = (0, number, 0xFFFFFFFF, REPLY_HANDLER)
                given = cocotb.start_soon(bench.send_long(handler_of(name), arguments, cut(bench.rng, payload)))
                headers, result = await bench.long_result()
                await given
                assert result == models[name].run(0, payload), (name, size)
                check_headers(headers, arguments)
        if "histogram" in models:  # a short message whose result is longer than a segment
            await bench.send(handler_of("histogram"), (1, 0, 0, REPLY_HANDLER), b"")
            headers, result = await bench.long_result()
            assert result == models["histogram"].run(1, b"")
            check_headers(headers, (1, 0, 0, REPLY_HANDLER))
        await bench.quiet()
        check_end(bench)


@cocotb.test(timeout_time=60, timeout_unit="ms")
async def unfinished_messages_and_lone_segments_leave_nothing_behind(dut: Any) -> None:
    bench = await begin_long(dut, DIGESTS)
    for name in ("crc32", "sha256", "loopback"):
        await forward(bench, name, Forward.REPLY)
    for name in ("loopback", "crc32", "sha256"):
        handler, arguments = handler_of(name), (0, 0, 0, REPLY_HANDLER)
        part = bench.rng.randbytes(100)
        await bench.send(handler, arguments, part, kind=MessageType.CARD_SEGMENT, place=2)
        for place in (3, 1):  # segments of another sender, and of another circuit
            await bench.send(handler, arguments, part, kind=MessageType.CARD_SEGMENT, place=place, source=OTHER_HOST)
        other = handler_of("crc32" if name != "crc32" else "sha256")
        await bench.send(other, arguments, part, kind=MessageType.CARD_SEGMENT, place=1)
        payload = bench.rng.randbytes(900)
        await bench.send_long(handler, arguments, cut(bench.rng, payload, 400), OTHER_HOST)
        headers, result = await bench.long_result()
        assert (headers[-1].destination, result) == (OTHER_HOST, CIRCUITS[name]().run(0, payload))
        await bench.send(handler, arguments, part, kind=MessageType.CARD_SEGMENT, place=1)  # the message has ended
        await bench.send(handler, arguments, payload)
        headers, result = await bench.long_result()
        assert (headers[-1].destination, result) == (SOURCE, CIRCUITS[name]().run(0, payload))
    assert await bench.read(CardReg.REFUSED) == 0
    await bench.quiet()
    check_end(bench)


@cocotb.test(timeout_time=60, timeout_unit="ms")
async def another_image_is_loaded_only_when_a_long_message_has_ended(dut: Any) -> None:
    bench = await begin_long(dut, DIGESTS)
    await forward(bench, "sha256", Forward.REPLY)
    first, rest = bench.rng.randbytes(200), bench.rng.randbytes(77)
    arguments = (0, 0, 0, REPLY_HANDLER)
    await bench.send(handler_of("sha256"), arguments, first, kind=MessageType.CARD_SEGMENT, place=2)
    loading = cocotb.start_soon(bench.load(FILTERS))
    await ClockCycles(dut.clk, 1500)
    assert not loading.done()
    await bench.send(handler_of("sha256"), arguments, rest, kind=MessageType.CARD_SEGMENT, place=1)
    assert (await bench.result())[1] == CIRCUITS["sha256"]().run(0, first + rest)
    await loading
    check_end(bench)


@cocotb.test(timeout_time=60, timeout_unit="ms")
async def a_result_to_another_card_waits_until_all_earlier_ones_are_acknowledged(dut: Any) -> None:
    bench = await begin_long(dut, DIGESTS)
    await forward(bench, "crc32", Forward.REPLY)
    await forward(bench, "loopback", Forward.ENDPOINT, OTHER_CARD, 3)
    await bench.send(handler_of("crc32"), (0, 0, 0, REPLY_HANDLER), b"earlier")
    payload = bench.rng.randbytes(3 * SEGMENT + 5)
    await bench.send_long(handler_of("loopback"), (9, 8, 7, 6), cut(bench.rng, payload))
    while await bench.read(CardReg.RESULTS) != 3:  # two answers to `forward`, and that of crc32
        pass
    await ClockCycles(dut.clk, 3000)
    back = bench.back()
    await ClockCycles(dut.clk, 1000)
    assert bench.back() == back, "a segment has left before the NIC's queue was empty"
    await bench.result()
    headers, result = await bench.long_result()
    assert result == payload
    assert [header.tree for header in headers] == [2, 3, 3, 1]
    for header in headers:
        assert (header.type, header.arguments) == (MessageType.CARD_SEGMENT, (9, 8, 7, 6))
        assert (header.destination, header.handler, header.channel) == (OTHER_CARD, 99, CHANNEL << 8 | 3)
    await bench.quiet()
    check_end(bench)


@cocotb.test(timeout_time=60, timeout_unit="ms")
async def long_results_go_to_trees_and_into_remote_memory(dut: Any) -> None:
    bench = await begin_long(dut, DIGESTS)
    payload = bench.rng.randbytes(2 * SEGMENT + 30)
    arguments = (5, 0x600000, 0x6F0000, 0xC0FFEE)
    await forward(bench, "loopback", Forward.TREE, 0x0701, 7, 3)
    await bench.send_long(handler_of("loopback"), arguments, cut(bench.rng, payload))
    headers = [await bench.result() for _ in range(3)]
    assert b"".join(part for _, part in headers) == payload
    kinds = (MessageType.MULTICAST_SEGMENT, MessageType.MULTICAST_SEGMENT, MessageType.MULTICAST_LAST)
    assert tuple(header.type for header, _ in headers) == kinds
    assert {header.tree for header, _ in headers} == {3}
    assert [header.arguments for header, _ in headers] == [(0, 0, 0, 0), (0, SEGMENT, 0, 0), arguments]

    await forward(bench, "loopback", Forward.WRITE, OTHER_CARD, 4)
    await bench.send_long(handler_of("loopback"), arguments, cut(bench.rng, payload))
    for at, lock in ((0, 0), (SEGMENT, 0), (2 * SEGMENT, 0x6F0000)):
        header, part = await bench.result()
        assert (header.type, header.tree, part) == (MessageType.RM_V, 0, payload[at : at + SEGMENT])
        assert header.arguments == (0x600000 + at, lock, 0xC0FFEE, len(part))

    await forward(bench, "loopback", Forward.FETCH, OTHER_CARD, 4)
    await bench.send_long(handler_of("loopback"), arguments, cut(bench.rng, payload))
    header, part = await bench.result()
    assert (header.type, header.tree, part) == (MessageType.RM_RV, 0, b"")
    assert header.arguments[0] == int.from_bytes(payload[:4], "little")
    await forward(bench, "loopback", Forward.NOWHERE)  # checks that one remote read is all
    await bench.send_long(handler_of("loopback"), arguments, cut(bench.rng, payload))
    await bench.quiet()
    check_end(bench)


@cocotb.test(timeout_time=60, timeout_unit="ms")
async def hosts_that_hold_banks_interrupt_long_messages_without_loss(dut: Any) -> None:
    bench = await begin_long(dut, FILTERS, 13100)
    await forward(bench, "loopback", Forward.ENDPOINT, OTHER_HOST, 3)
    sent = [bench.rng.randbytes(bench.rng.choice((5, 700, 1500, 3000))) for _ in some(range(8))]

    async def give() -> None:
        for number, payload in enumerate(sent):
            await bench.send_long(handler_of("loopback"), (number, 0, 0, 0), cut(bench.rng, payload))

    async def disturb() -> None:
        rng = random.Random(1)
        while True:
            await bench.cpu.load(CARD + rng.randrange(4) * BANK_BYTES + 0x80000, 4)
            await ClockCycles(dut.clk, rng.randrange(1, 200))

    disturbing, giving = cocotb.start_soon(disturb()), cocotb.start_soon(give())
    for number, payload in enumerate(sent):
        headers, result = await bench.long_result()
        assert (headers[-1].arguments[0], result) == (number, payload)
    await giving
    disturbing.cancel()
    check_end(bench)
