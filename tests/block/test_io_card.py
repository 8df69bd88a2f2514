"""I/O card on its PCI bus: message unit, doorbells, DMA engine and local memory, from both sides.

Strategy: the bench is the host, by PCI transactions under the protocol monitor, and the card's processor. Frames
circulate through all four queues, which wrap, while both sides pause at random; each message must arrive once and in
order. A port read at any phase of a post loses nothing. DMA chains of random places and sizes are compared with images
of both memories. Errors, masks and a full queue each have their test. Gated and free-running clocks give equal times.
"""

from __future__ import annotations

import struct
from collections import deque
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from pymodels.iocard.registers import EMPTY, DmaCause, Inbound, IoReg, Outbound, Queue
from tests.block.cases import cases, some
from tests.block.io_bench import CARD, DATA, DESCRIPTORS, FRAME_BYTES, FRAMES, QUEUES, IoBench, begin
from tests.block.netlists import sleeping_clocks
from tests.block.resets import unreset

REPLIES = 0x1000
"""Address of outbound frames in host memory."""


async def _serve(bench: IoBench, count: int) -> None:
    """Answer requests as the card's processor: reverse each request's words into a frame of the host."""
    frames = [FRAMES + FRAME_BYTES * i for i in range(3)]
    for number, frame in enumerate(frames):
        bench.give(Queue.INBOUND_FREE, number, frame)
    for number in range(count):
        request = await bench.accept(Queue.INBOUND_POST, number)
        words = struct.unpack_from("<4I", bench.local, request)
        reply = await bench.accept(Queue.OUTBOUND_FREE, number)
        await ClockCycles(bench.dut.clk, bench.rng.choice((1, 7, 60)))
        bench.set_words(DATA, *reversed(words))
        assert await bench.transfer((reply, DATA, 16, True)) == 0
        bench.give(Queue.OUTBOUND_POST, number, reply)
        bench.give(Queue.INBOUND_FREE, number + len(frames), request)


async def _take(bench: IoBench, port: IoReg) -> int:
    while (frame := await bench.read(port)) == EMPTY:
        await ClockCycles(bench.dut.clk, bench.rng.choice((1, 2, 3, 30)))
    return frame


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cases(wide=[0, 1], log2=[2, 3])
async def frames_circulate_and_each_request_is_answered_once_and_in_order(dut: Any, wide: int, log2: int) -> None:
    bench, sent = await begin(dut, wide, log2=log2), deque[tuple[int, ...]]()
    count = len(some(range(24)))
    for number in range(3):
        bench.write(IoReg.OUTBOUND_PORT, REPLIES + FRAME_BYTES * number)
    serving = cocotb.start_soon(_serve(bench, count))

    for turn in range(count + 2):
        if turn < count:
            frame = await _take(bench, IoReg.INBOUND_PORT)
            words = tuple(bench.rng.getrandbits(32) for _ in range(4))
            bench.cpu.store(CARD + frame, struct.pack("<4I", *words))
            bench.write(IoReg.INBOUND_PORT, frame)
            sent.append(words)
        if turn >= 2:
            reply = await _take(bench, IoReg.OUTBOUND_PORT)
            assert struct.unpack_from("<4I", bench.memory.bytes, reply) == tuple(reversed(sent.popleft()))
            bench.write(IoReg.OUTBOUND_PORT, reply)
    await serving
    assert await bench.read(IoReg.OUTBOUND_PORT) == EMPTY
    await bench.quiet()


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cases(wide=[0, 1])
async def a_read_of_a_port_at_any_phase_of_a_post_loses_no_frame(dut: Any, wide: int) -> None:
    bench = await begin(dut, wide)
    for number in range(len(some(range(60)))):
        reading = cocotb.start_soon(bench.read(IoReg.INBOUND_PORT))
        await ClockCycles(dut.clk, number % 20)
        bench.give(Queue.INBOUND_FREE, 2 * number, FRAMES + number)
        bench.give(Queue.INBOUND_FREE, 2 * number + 1, DATA + number)
        seen = [await reading]
        while len(seen) < 20 and DATA + number not in seen:
            seen.append(await bench.read(IoReg.INBOUND_PORT))
        assert [frame for frame in seen if frame != EMPTY] == [FRAMES + number, DATA + number]
    await bench.quiet()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_prefetched_port_that_was_not_read_keeps_its_frame(dut: Any) -> None:
    bench = await begin(dut)
    bench.give(Queue.INBOUND_FREE, 0, FRAMES)
    bench.set_words(bench.entry(Queue.OUTBOUND_POST, 0), REPLIES)
    bench.put(IoReg.OUTBOUND_POST_HEAD, 1)
    await ClockCycles(dut.clk, 20)
    for _ in range(3):
        await bench.cpu.load(CARD + 0x38, 8)  # the target fetches the lane group behind it, too
    assert await bench.read(IoReg.OUTBOUND_PORT) == REPLIES
    assert await bench.read(IoReg.INBOUND_PORT) == FRAMES
    assert await bench.read(IoReg.OUTBOUND_PORT) == await bench.read(IoReg.INBOUND_PORT) == EMPTY
    bench.give(Queue.INBOUND_FREE, 1, FRAMES)
    bench.set_words(bench.entry(Queue.OUTBOUND_POST, 1), REPLIES)
    bench.put(IoReg.OUTBOUND_POST_HEAD, 2)
    await ClockCycles(dut.clk, 20)
    both = await bench.cpu.load(CARD + IoReg.INBOUND_PORT, 8)
    assert struct.unpack("<2I", both) == (FRAMES, REPLIES)
    assert await bench.read(IoReg.OUTBOUND_PORT) == await bench.read(IoReg.INBOUND_PORT) == EMPTY


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_post_to_a_full_or_disabled_queue_is_dropped_and_reported(dut: Any) -> None:
    bench = await begin(dut)
    for port, head in ((IoReg.INBOUND_PORT, IoReg.INBOUND_POST_HEAD), (IoReg.OUTBOUND_PORT, IoReg.OUTBOUND_FREE_HEAD)):
        for number in range(3):
            bench.write(port, number)
        await bench.read(IoReg.OUTBOUND_STATUS)
        assert not await bench.get(IoReg.INBOUND_STATUS) >> Inbound.OVERRUN & 1
        bench.write(port, 99)
        await bench.read(IoReg.OUTBOUND_STATUS)
        assert await bench.get(IoReg.INBOUND_STATUS) >> Inbound.OVERRUN & 1
        assert await bench.get(head) == 3
        bench.put(IoReg.INBOUND_STATUS, 1 << Inbound.OVERRUN)
    assert [bench.word(bench.entry(Queue.INBOUND_POST, index)) for index in range(4)] == [0, 1, 2, 0]
    assert [bench.word(bench.entry(Queue.OUTBOUND_FREE, index)) for index in range(4)] == [0, 1, 2, 0]
    bench.give(Queue.INBOUND_FREE, 0, FRAMES)
    bench.put(IoReg.CONTROL, bench.log2 << 8)
    assert await bench.get(IoReg.INBOUND_STATUS) == 0, "the queues are empty, and OVERRUN was cleared"
    assert await bench.read(IoReg.INBOUND_PORT) == EMPTY
    bench.write(IoReg.INBOUND_PORT, FRAMES)
    await bench.read(IoReg.OUTBOUND_STATUS)
    assert await bench.get(IoReg.INBOUND_STATUS) == 1 << Inbound.OVERRUN
    bench.put(IoReg.INBOUND_FREE_HEAD, 1)
    assert await bench.get(IoReg.INBOUND_FREE_HEAD) == 1
    bench.put(IoReg.CONTROL, 3 << 8 | 1)
    assert await bench.get(IoReg.INBOUND_FREE_HEAD) == 0
    assert await bench.get(IoReg.CONTROL) == 3 << 8 | 1 and await bench.get(IoReg.QUEUES) == QUEUES


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def doorbells_and_posts_interrupt_the_other_side_unless_masked(dut: Any) -> None:
    bench = await begin(dut)

    async def lines() -> tuple[int, int]:
        await bench.read(IoReg.OUTBOUND_STATUS)
        await bench.get(IoReg.INBOUND_STATUS)
        await ClockCycles(dut.clk, 3)
        return int(dut.intr.value), int(dut.io_irq.value)

    bench.write(IoReg.INBOUND_DOORBELL, 0x80000001)
    bench.write(IoReg.INBOUND_DOORBELL, 0x10)
    bench.put(IoReg.OUTBOUND_DOORBELL, 0x41)
    assert await lines() == (0, 0), "all are masked after reset"
    assert await bench.get(IoReg.INBOUND_MASK) == 0xFF
    assert await bench.read(IoReg.OUTBOUND_MASK) == 0xF
    bench.write(IoReg.OUTBOUND_MASK, 0xF & ~(1 << Outbound.DOORBELL))
    bench.put(IoReg.INBOUND_MASK, 0xFF & ~(1 << Inbound.DOORBELL))
    assert await lines() == (1, 1)
    assert await bench.read(IoReg.INBOUND_DOORBELL) == await bench.get(IoReg.INBOUND_DOORBELL) == 0x80000011
    assert await bench.read(IoReg.OUTBOUND_DOORBELL) == await bench.get(IoReg.OUTBOUND_DOORBELL) == 0x41
    bench.write(IoReg.OUTBOUND_DOORBELL, 0x40)
    bench.put(IoReg.INBOUND_DOORBELL, 0x80000010)
    assert await lines() == (1, 1)
    bench.write(IoReg.OUTBOUND_DOORBELL, 1)
    bench.put(IoReg.INBOUND_DOORBELL, 1)
    assert await lines() == (0, 0)
    bench.write(IoReg.OUTBOUND_MASK, 0xF & ~(1 << Outbound.POST))
    bench.put(IoReg.INBOUND_MASK, 0xFF & ~(1 << Inbound.POST))
    bench.write(IoReg.INBOUND_PORT, FRAMES)
    bench.give(Queue.OUTBOUND_POST, 0, REPLIES)
    assert await lines() == (1, 1)
    assert await bench.read(IoReg.OUTBOUND_STATUS) == 1 << Outbound.POST
    assert await bench.get(IoReg.OUTBOUND_STATUS) == 1 << Outbound.POST
    assert await bench.get(IoReg.INBOUND_STATUS) == 1 << Inbound.POST
    assert await bench.accept(Queue.INBOUND_POST, 0) == FRAMES
    assert await bench.read(IoReg.OUTBOUND_PORT) == REPLIES
    assert await lines() == (0, 0)


@cocotb.test(timeout_time=60, timeout_unit="ms")
@cases(wide=[0, 1])
async def dma_chains_move_exactly_their_bytes(dut: Any, wide: int) -> None:
    bench = await begin(dut, wide)
    rng, size = bench.rng, 0x4000
    host = bytearray(rng.randbytes(size))
    local = bytearray(rng.randbytes(size))
    bench.memory.bytes[:size] = host
    bench.local[DATA : DATA + size] = bytes(local)
    bench.put(IoReg.INBOUND_MASK, 0xFF & ~(1 << Inbound.DMA_DONE))
    for number in range(len(some(range(15)))):
        chain = []
        for _ in range(rng.choice((1, 2, 4))):
            length = rng.choice((1, 3, 8, 9, 64, 1000, rng.randrange(1, 3000)))
            pci = rng.randrange(size - 3008)
            at = rng.randrange((size - 3008) // 8) * 8 + pci % 8
            to_pci = rng.random() < 0.5
            chain.append((pci, DATA + at, length, to_pci))
            if to_pci:
                host[pci : pci + length] = local[at : at + length]
            else:
                local[at : at + length] = host[pci : pci + length]
        assert await bench.transfer(*chain) == 0, number
        assert int(dut.io_irq.value), "a finished chain interrupts the processor"
        bench.put(IoReg.INBOUND_STATUS, 1 << Inbound.DMA_DONE)
        assert not await bench.get(IoReg.INBOUND_STATUS)
        assert not int(dut.io_irq.value) and not int(dut.in_flight.value)
        await bench.quiet()  # the bridge's buffer is in host memory
        assert bytes(bench.memory.bytes[:size]) == host, number
        assert bytes(bench.local[DATA : DATA + size]) == local, number


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def an_invalid_descriptor_or_an_abort_ends_the_chain_and_the_next_one_succeeds(dut: Any) -> None:
    bench = await begin(dut)
    bench.memory.bytes[0x100:0x200] = bytes(range(256))
    good = (0x100, DATA, 256, 0)
    nowhere = 0x70000000
    for (pci, local, word), cause in (
        ((0x100, DATA + 4, 8), DmaCause.DESCRIPTOR),
        ((0x100, DATA, 0), DmaCause.DESCRIPTOR),
        ((0x100, DATA, 1 << 31), DmaCause.DESCRIPTOR),
        ((nowhere, DATA, 100), DmaCause.ABORT),
        ((nowhere + 5, DATA + 5, 1 << 31 | 1000), DmaCause.ABORT),
    ):
        bench.set_words(DESCRIPTORS, DESCRIPTORS + 16, pci, local, word, 0, *good[:3])
        assert await bench.run_chain() == cause << 8
        assert await bench.get(IoReg.INBOUND_STATUS) == 1 << Inbound.DMA_ERROR
        bench.put(IoReg.INBOUND_STATUS, 1 << Inbound.DMA_ERROR)
        bench.local[DATA : DATA + 256] = bytes(256)
        assert await bench.transfer((0x100, DATA, 256, False)) == 0
        assert bytes(bench.local[DATA : DATA + 256]) == bytes(range(256))
        bench.put(IoReg.INBOUND_STATUS, 1 << Inbound.DMA_DONE)


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cases(wide=[0, 1])
async def host_and_processor_read_what_the_other_wrote_into_local_memory_during_dma(dut: Any, wide: int) -> None:
    bench = await begin(dut, wide)
    chain = cocotb.start_soon(bench.transfer(*[(0x1000, DATA + 0x8000, 4000, bool(i & 1)) for i in range(6)]))
    for number in range(len(some(range(30)))):
        at, data = DATA + 8 * bench.rng.randrange(200), bench.rng.randbytes(20)
        bench.cpu.store(CARD + at, data, wc=bench.rng.random() < 0.5)
        first = await bench.cpu.load(CARD + at + 4, 4)
        assert first == data[4:8] and bytes(bench.local[at : at + 20]) == data
        bench.set_words(at + 8, number)
        assert await bench.read(at + 8) == number
    assert await chain == 0
    for number in range(len(some(range(30)))):
        at = DATA + 4 * number
        bench.put(at, number << 20)
        assert await bench.get(at) == number << 20 == bench.word(at)
        assert await bench.read(at) == number << 20


@cocotb.test(timeout_time=1, timeout_unit="ms", skip="Icarus" not in getattr(cocotb, "SIM_NAME", ""))
async def reset_reaches_all_control_state(dut: Any) -> None:
    IoBench(dut)
    await ClockCycles(dut.clk, 6)
    assert not unreset(dut.u_card)


SIGNALS = ("pci_frame_n", "pci_irdy_n", "pci_trdy_n", "pci_stop_n", "intr", "io_irq", "io_rvalid", "in_flight")


async def _watch(dut: Any, log: list[tuple[int, ...]]) -> None:
    index = 0
    before: tuple[int, ...] = ()
    while True:
        await RisingEdge(dut.clk)
        index += 1
        if int(dut.rst.value):
            index = 0
            continue
        now = tuple(int(dut[name].value) for name in SIGNALS)
        if now != before:
            log.append((index, *now))
        before = now


@cocotb.test(timeout_time=60, timeout_unit="ms")
@sleeping_clocks()
async def gated_clocks_change_no_time(dut: Any) -> None:
    bench = IoBench(dut)
    logs: list[list[tuple[int, ...]]] = []
    edges = []
    for sleep in (0, 1):
        await bench.start(sleep)
        log: list[tuple[int, ...]] = []
        watching = cocotb.start_soon(_watch(dut, log))
        bench.put(IoReg.INBOUND_MASK, 0)
        bench.write(IoReg.OUTBOUND_MASK, 0)
        for number in range(6):
            bench.write(IoReg.OUTBOUND_PORT, REPLIES)
            bench.give(Queue.INBOUND_FREE, number, FRAMES)
            frame = await _take(bench, IoReg.INBOUND_PORT)
            await ClockCycles(dut.clk, bench.rng.choice((0, 1, 5, 100)))
            bench.write(IoReg.INBOUND_PORT, frame)
            bench.write(IoReg.INBOUND_DOORBELL, 1 << number)
            assert await bench.accept(Queue.INBOUND_POST, number) == FRAMES
            assert await bench.accept(Queue.OUTBOUND_FREE, number) == REPLIES
            assert await bench.transfer((REPLIES, DATA, 200, True), (REPLIES + 3, DATA + 3, 99, False)) == 0
            await ClockCycles(dut.clk, bench.rng.choice((1, 2, 3, 90)))
            bench.give(Queue.OUTBOUND_POST, number, REPLIES)
            assert await _take(bench, IoReg.OUTBOUND_PORT) == REPLIES
            bench.put(IoReg.INBOUND_DOORBELL, 1 << number)
        await bench.quiet()
        await ClockCycles(dut.clk, 50)
        watching.cancel()
        logs.append(log)
        edges.append(int(dut.edges.value))
    for free, gated in zip(*logs, strict=True):
        assert free == gated
    assert edges[1] < edges[0]
