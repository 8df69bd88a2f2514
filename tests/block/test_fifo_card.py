"""FIFO card with buffers: PCI segment with the host's CPU on one side, the link partner on the other.

Strategy: the bench is a host that does everything by stores and loads, and a link that sends and receives packets.
Model and scoreboard compare every sent and received packet, the whole memory, and the errors. First each direction
alone, then both at once with gaps and STOP; then full and empty FIFOs, an empty pool, errors, and reset under load.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.handle import LogicArrayObject, LogicObject, PackedObject
from cocotb.triggers import ClockCycles, ReadOnly

from pymodels.nics.fifo.registers import Error, Form, Region, Size, State, Status, descriptor
from tests.block.cases import some
from tests.block.fifo_bench import BASE, EDGES, FifoBench, begin
from tests.block.netlists import sleeping_clocks

SENDERS, POOL = range(1, 9), range(9, 16)
"""Buffers that the tests send from, and buffers that they return to the pool."""


async def buffers(dut: Any, pool: int = 0, **settings: int) -> FifoBench:
    """Return a bench with buffers, `pool` of them in the pool."""
    bench = await begin(dut, Form.BUFFERS, **settings)
    for number in POOL[:pool]:
        await bench.free(number)
    return bench


async def drain(bench: FifoBench) -> None:
    """Receive all packets and return each buffer to the pool."""
    while bench.model.ready:
        number = bench.model.ready[0][0] >> 16 & 0x7F
        if await bench.next_packet() is not None:
            await bench.free(number)


@cocotb.test(timeout_time=8, timeout_unit="ms")
@cocotb.parametrize((("wide", "latency"), [(0, 2), (1, 0)]))
async def a_packet_goes_out_of_its_buffer(dut: Any, wide: int, latency: int) -> None:
    """Send any size at any place: the descriptor becomes SENT, with the host's own bits; check trace keys."""
    bench = await buffers(dut, wide=wide, latency=latency)
    for size in some((1, 2041, 8, 5, 9, 2048, *(bench.rng.randrange(4, 300) for _ in range(5)))):
        skip = bench.rng.randrange(min(8, Size.BUFFER + 1 - size))
        number, own = bench.rng.choice(SENDERS), bench.rng.randrange(16)
        packet = bytes([bench.rng.randrange(0x80)]) + bench.rng.randbytes(size - 1)
        bench.log.clear()
        await bench.send(number, packet, skip, own)
        await bench.quiet()
        assert await bench.read(Size.DESCRIPTOR * number) == descriptor(State.SENT, size, skip, own)
        keys = {name: key for _, name, key in bench.log if name.startswith("tr_tx")}
        key = int.from_bytes(packet[:4].ljust(4, b"\0"), "big")
        assert keys == dict.fromkeys(("tr_tx_start", "tr_tx_read", "tr_tx_head", "tr_tx_tail"), key)
        assert bench.sizes[-1] == size
    await bench.check()


@cocotb.test(timeout_time=8, timeout_unit="ms")
@cocotb.parametrize((("wide", "latency"), [(0, 2), (1, 0)]))
async def a_received_packet_fills_the_oldest_buffer_of_the_pool(dut: Any, wide: int, latency: int) -> None:
    """Receive any size: too long packets are cut and flagged, wrong CRC-8s flagged; the host keeps the buffer."""
    bench = await buffers(dut, pool=4, wide=wide, latency=latency)
    short = [bench.rng.randrange(1, 300) for _ in range(6)]
    for size in some((1, 2049, 7, 15, 2048, 6, 8, 2047, 2050, 2500, *short)):
        bench.arrive(bench.rng.randbytes(size), good_crc=bench.rng.random() < 0.7)
        await bench.quiet()
        assert await bench.read(Region.STATUS) >> Status.ARRIVED & 1
        await drain(bench)
        assert not await bench.read(Region.STATUS) >> Status.ARRIVED & 1
    assert await bench.read(Region.RX_FREE) == 4
    await bench.check()


@cocotb.test(timeout_time=40, timeout_unit="ms")
@cocotb.parametrize((("stalls", "pool"), [(False, 7), (True, 2)]))
async def random_traffic_both_ways_at_once(dut: Any, stalls: bool, pool: int) -> None:
    """Check that every packet passes once, in order, intact; with `stalls` the link stops, the pool runs dry."""
    bench = await buffers(dut, pool=pool)
    rng, idle, busy = bench.rng, list(SENDERS), list[int]()
    for _ in some(range(50)):
        act = rng.choice(["send", "send", "arrive", "arrive", "take", "look", "pause", "stop"])
        if act == "send" and idle:
            number = idle.pop(rng.randrange(len(idle)))
            await bench.send(number, rng.randbytes(rng.choice([4, 20, 200, rng.randrange(1, 700)])))
            busy.append(number)
        elif act == "arrive":
            bench.arrive(rng.randbytes(rng.choice([4, 20, 200, rng.randrange(1, 700)])), rng.random() < 0.9)
        elif act == "take" and bench.model.ready:
            number = bench.model.ready[0][0] >> 16 & 0x7F
            if await bench.next_packet() is not None:
                await bench.free(number)
        elif act == "look" and busy and await bench.read(Size.DESCRIPTOR * busy[0]) >> 28 == State.SENT:
            idle.append(busy.pop(0))
        elif act == "pause":
            await ClockCycles(dut.clk, rng.randrange(300))
        elif act == "stop" and stalls:
            bench.hold(not bench.model.held)
            bench.gaps(rng.choice([0, 0.5, 0.9]))
    bench.hold(False)
    await drain(bench)
    await bench.check()


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def tx_ready_accepts_32_buffers_and_rejects_more(dut: Any) -> None:
    """Fill the FIFO while the link is stopped: accepted buffers are sent later, one queued twice is sent once."""
    bench = await buffers(dut)
    bench.hold(True)
    for number in range(1, 16):
        await bench.send(number, bench.rng.randbytes(400 if number == 1 else 12))
    for number in range(20):
        await bench.transmit(1 + number % 15)
    await ClockCycles(dut.clk, 300)
    assert bench.model.errors == {Error.TX_FULL}
    assert await bench.read(Region.STATUS) >> Status.SEND_LEVEL & 0xFF == Size.TX_READY
    bench.hold(False)
    await bench.check()
    assert bench.model.errors == {Error.TX_FULL, Error.DESCRIPTOR}
    assert await bench.read(Region.STATUS) == 1 << Status.IDLE | 1 << Status.ERROR
    await bench.write(Region.ERRORS, 1 << Error.TX_FULL | 1 << Error.DESCRIPTOR)
    assert await bench.read(Region.STATUS) == 1 << Status.IDLE


@cocotb.test(timeout_time=8, timeout_unit="ms")
@sleeping_clocks()
async def packets_without_a_free_buffer_wait_in_the_link_with_idle_clocks(dut: Any) -> None:
    """Check STOP to the sender, idle clocks and no loss; each returned buffer admits one packet."""
    bench = await buffers(dut, pool=2)
    for _ in range(5):
        bench.arrive(bench.rng.randbytes(300))
    while not bench.peer.lanes[0].stopped or not int(dut.asleep.value):
        await bench.edge
    await ClockCycles(dut.clk, 200)
    edges = [int(dut[name].value) for name in EDGES]
    await ClockCycles(dut.clk, 2000)
    assert [int(dut[name].value) for name in EDGES] == edges
    assert await bench.read(Region.STATUS) >> Status.RECEIVE_LEVEL == 2
    await drain(bench)
    await bench.check()


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def a_buffer_with_an_invalid_descriptor_is_skipped(dut: Any) -> None:
    """Check not READY, empty, and too long: flagged, not sent, descriptor unchanged; the next one is sent."""
    bench = await buffers(dut)
    wrong = (
        (State.FREE, 20, 0),
        (State.SENT, 20, 0),
        (State.READY, 0, 0),
        (State.READY, 2048, 1),
        (State.READY, 4000, 0),
    )
    for state, size, skip in wrong:
        bench.describe(1, state, size, skip)
        await bench.transmit(1)
        await bench.send(2, bench.rng.randbytes(50))
        await bench.check()
        assert bench.model.errors == {Error.DESCRIPTOR}
        assert await bench.read(Size.DESCRIPTOR) == descriptor(state, size, skip)
        await bench.write(Region.ERRORS, 1 << Error.DESCRIPTOR)
        bench.model.errors.clear()


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def the_pool_rejects_invalid_and_pooled_buffers(dut: Any) -> None:
    """Check buffer 0 (the descriptor table), a buffer being filled (still pooled), and RX_NEXT without a packet."""
    bench = await buffers(dut, pool=1)
    for number, error in ((0, Error.NUMBER), (128, Error.NUMBER), (1 << 31, Error.NUMBER), (POOL[0], Error.POOLED)):
        await bench.free(number)
        assert bench.model.errors == {error}
        await bench.check()
        await bench.write(Region.ERRORS, 1 << error)
        bench.model.errors.clear()
    for number in (0, 128, 1 << 31):
        await bench.transmit(number)
    await bench.write(Region.RX_NEXT, 0)
    bench.model.next_packet()
    bench.gaps(0.95)
    bench.arrive(bench.rng.randbytes(100))
    while not int(dut.st_in_flight.value):
        await bench.edge
    bench.cpu.store(BASE + Region.RX_FREE, POOL[0].to_bytes(4, "big"))
    bench.model.errors.add(Error.POOLED)
    await bench.quiet()
    await drain(bench)
    await bench.check()


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def accesses_to_unmapped_addresses_are_flagged(dut: Any) -> None:
    """Store to unmapped addresses, read-only registers, parts of a register, and cells."""
    bench = await buffers(dut)
    for place, size in ((0x800050, 4), (0x900000, 8), (Region.STATUS, 4), (Region.RX_READY, 4), (Region.ERRORS, 2),
                        (Region.CELL_OUT + 4, 4), (Region.MODE + 4, 4)):  # fmt: skip
        bench.cpu.store(BASE + place, bytes(size))
        bench.model.errors = {Error.PIO}
        await bench.check()
        await bench.write(Region.ERRORS, 1 << Error.PIO)
    assert await bench.read(0x800050) == await bench.read(0x900004) == 0


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def the_form_changes_only_while_the_card_is_empty(dut: Any) -> None:
    """Check that the form cannot change with a packet stored, and that the pool is empty and usable afterwards."""
    bench = await buffers(dut, pool=2)
    bench.arrive(bench.rng.randbytes(40))
    await bench.quiet()
    await bench.change(Form.CELLS)
    assert await bench.read(Region.MODE) == Form.BUFFERS and bench.model.errors == {Error.MODE}
    await bench.next_packet()
    for form in (Form.CELLS, Form.BUFFERS):
        await bench.change(form)
        assert await bench.read(Region.MODE) == form
    assert await bench.read(Region.RX_FREE) == 0
    bench.arrive(bench.rng.randbytes(50))
    await bench.free(POOL[1])
    await bench.quiet()
    await drain(bench)
    await bench.check()


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def an_arrival_interrupts_the_host_if_enabled(dut: Any) -> None:
    """Check that INTA# is asserted with a packet and INTERRUPT set, and released by RX_NEXT of the last one."""
    bench = await buffers(dut, pool=2)
    for asks in (0, 1):
        await bench.write(Region.INTERRUPT, asks)
        bench.arrive(bench.rng.randbytes(30))
        await bench.quiet()
        assert int(dut.intr.value) == asks
        await drain(bench)
        await bench.quiet()
        assert not int(dut.intr.value)
    await bench.check()


@cocotb.test(timeout_time=8, timeout_unit="ms")
@cocotb.parametrize(wide=[0, 1])
async def the_memory_stores_and_returns_bytes(dut: Any, wide: int) -> None:
    """Store and load any size while packets are sent and received."""
    bench = await buffers(dut, pool=4, wide=wide)
    rng, first = bench.rng, Size.BUFFER * SENDERS[3]
    for step in some(range(40)):
        at, size = first + rng.randrange(2000), rng.choice([1, 2, 4, 8, rng.randrange(1, 90)])
        bench.store(at, rng.randbytes(size))
        if step % 8 == 0:
            await bench.send(SENDERS[0], rng.randbytes(100))
            bench.arrive(rng.randbytes(200))
        at = first + rng.randrange(2000)
        assert await bench.load(at, 9) == bytes(bench.model.memory[at : at + 9])
        await drain(bench)
    await bench.check()


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def a_bit_flipped_in_the_memory_leaves_and_is_read_flipped(dut: Any) -> None:
    """Check that the sent bytes are those of the memory, with a good CRC-8."""
    bench = await buffers(dut, pool=1)
    bench.hold(True)
    await bench.send(1, bench.rng.randbytes(600))
    word = (Size.BUFFER + 400) // 8
    dut.u_sram.mem[word].value = int(dut.u_sram.mem[word].value) ^ 1 << 9
    bench.model.memory[Size.BUFFER + 401] ^= 1 << 1
    bench.hold(False)
    bench.arrive(bench.rng.randbytes(64))
    await bench.quiet()
    word = (Size.BUFFER * POOL[0] + 16) // 8
    dut.u_sram.mem[word].value = int(dut.u_sram.mem[word].value) ^ 1 << 63
    ready, body = bench.model.ready[0]
    bench.model.ready[0] = ready, body[:23] + bytes([body[23] ^ 0x80]) + body[24:]
    await drain(bench)
    await bench.check()


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def reset_under_load_leaves_a_card_as_new(dut: Any) -> None:
    """Reset during packets in both directions, with FIFOs and pool half full: all is empty and usable afterwards."""
    bench = await buffers(dut, pool=7)
    for _ in some(range(2)):
        for number in SENDERS:
            await bench.send(number, bench.rng.randbytes(500))
        for _ in range(5):
            bench.arrive(bench.rng.randbytes(500))
        await ClockCycles(dut.clk, 100 + bench.rng.randrange(600))
        await bench.start()
        assert await bench.read(Region.STATUS) == 1 << Status.IDLE
        assert await bench.read(Region.RX_FREE) == await bench.read(Region.ERRORS) == 0
        for number in POOL:
            await bench.free(number)
        bench.arrive(bench.rng.randbytes(77))
        await bench.send(2, bench.rng.randbytes(99))
        await bench.quiet()
        await drain(bench)
        await bench.check()


@cocotb.test(timeout_time=16, timeout_unit="ms")
@cocotb.parametrize(latency=some([0, 1]))
@sleeping_clocks()
async def sleeping_clocks_change_no_time(dut: Any, latency: int) -> None:
    """Send packets in both directions, with a stopped link and an empty pool: equal trace times, gated or not."""
    bench = FifoBench(dut, Form.BUFFERS, latency=latency)
    logs, ran, steps = [], [], some(range(4))
    for sleep in (0, 1):
        dut.sleep.value = sleep
        bench.rng.seed(5)
        await bench.start()
        await bench.aligned()
        begun = bench.now
        bench.log.clear()
        for step in steps:
            bench.hold(step == len(steps) // 2)
            bench.arrive(bench.rng.randbytes(150))
            await bench.send(1, bench.rng.randbytes(100))
            await ClockCycles(dut.clk, 700)
            await bench.free(POOL[step])
            await ClockCycles(dut.clk, 700)
        bench.hold(False)
        await ClockCycles(dut.clk, 500)
        await drain(bench)
        logs.append([(time - begun, *rest) for time, *rest in bench.log])
        ran.append(sum(int(dut[name].value) for name in EDGES))
        await bench.check()
    assert logs[0] == logs[1] and len(logs[0]) > 15 * len(steps)
    assert ran[1] < ran[0] * 0.7


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def no_output_is_unknown_after_reset(dut: Any) -> None:
    """Check that every wire of the bench's top level has a value (Icarus keeps X)."""
    await buffers(dut)
    await ClockCycles(dut.clk, 20)
    await ReadOnly()
    names = [handle._name for handle in dut if isinstance(handle, (LogicObject, LogicArrayObject, PackedObject))]
    names = [name for name in names if not name.startswith(("mem_", "unused"))]
    assert len(names) > 50
    assert [name for name in names if not dut[name].value.is_resolvable] == []
