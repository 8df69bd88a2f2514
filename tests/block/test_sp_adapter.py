"""The whole SP adapter: PCI segment with host CPU and host memory on one side, its own link looped back on the other.

Strategy: the bench is host driver and firmware at once and uses only what they have: PIO, host memory, registers.
Random packets make the whole way (host memory, Send FIFO, link, receive buffer, Recv/Cmd FIFO, host memory) one by one
and in streams in which everything overlaps; a byte comparison at the end is the judge. The order of commands, the
hardware's rules, back-pressure, doorbells, misuse and sleeping clocks have tests of their own.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.handle import LogicArrayObject, LogicObject
from cocotb.triggers import ClockCycles, ReadOnly, Timer
from cocotb.utils import get_sim_time

from pymodels.formats.sp import SpPacket
from pymodels.sp_adapter import SpCommand, SpControl, SpError, SpPci, SpReg, SpSize, SpStatus
from tests.block.nic_card import BASE, LINK_TRACE, PCI_PS
from tests.block.sp_card import SpBench

TARGET = 0x8000
"""Host memory above holds what is received, below it what is sent."""
ALL_PS = 75000
"""The three clocks stand at the same phase at multiples of this."""


async def begin(dut: Any, **settings: int) -> SpBench:
    """A bench out of reset."""
    bench = SpBench(dut, **settings)
    await bench.start()
    return bench


async def bring(bench: SpBench, packet: SpPacket, align: int) -> None:
    """Put a packet's user data into host memory at an alignment, sixteen of them apart, and FETCH them."""
    at = bench.fetched % 16 * (TARGET // 16) + align
    bench.host[at : at + len(packet.data)] = bench.memory.bytes[at : at + len(packet.data)] = packet.data
    await bench.fetch(at, len(packet.data))


def pieces(bench: SpBench, data: bytes) -> list[bytes]:
    """A packet's data as the firmware might deliver them: cut anywhere, some of the end not wanted."""
    cuts = sorted(bench.rng.sample(range(len(data) + 1), min(len(data), bench.rng.randrange(4))))
    parts = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    return [part for part in parts if part][: bench.rng.choice([1, 4])]


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(latency=[0, 2])
async def a_packet_travels_from_host_memory_to_host_memory(dut: Any, latency: int) -> None:
    """Any alignment, sizes around words and the greatest; headers, keys of the trace, status word behind the data."""
    bench = await begin(dut, cfg_cdc_latency=latency, cfg_start_clocks=20 * latency)
    for size in (1, 7, 8, 9, 2032, *(bench.rng.randrange(1, 1100) for _ in range(3))):
        packet = bench.a_packet(size)
        await bring(bench, packet, bench.rng.randrange(8))
        await bench.launch(packet)
        await bench.until(SpStatus.ARRIVED)
        assert await bench.headers() == (*packet.header.words(), *packet.via)
        assert await bench.lanai_read(SpReg.RECV_STATUS) == size
        target = TARGET + bench.rng.randrange(0x4000)
        await bench.deliver(target, packet.data)
        await bench.store(TARGET + 0x7000, (size, packet.key))
        await bench.lanai_write(SpReg.RECV_NEXT, 0)
        await bench.done()
        bench.check()
        names = ("tr_tx_start", "tr_tx_read", "tr_rx_done", *LINK_TRACE)
        assert {name: bench.last[name] for name in names} == dict.fromkeys(names, packet.key)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def the_processors_own_bytes_go_without_the_fifo(dut: Any) -> None:
    """None to 64 bytes; the first eight can be read where they arrive."""
    bench = await begin(dut)
    for size in (*range(10), 15, 16, 17, 56, 63, 64):
        packet = bench.a_packet(size)
        await bench.launch(packet, inline=True)
        await bench.until(SpStatus.ARRIVED)
        assert await bench.lanai_read(SpReg.RECV_STATUS) == size
        words = [await bench.lanai_read(SpReg.RECV6 + at) for at in (0, 4)]
        assert b"".join(word.to_bytes(4, "big") for word in words)[:size] == packet.data[:8]
        if size:
            await bench.deliver(TARGET + 100 * size, packet.data)
        await bench.lanai_write(SpReg.RECV_NEXT, 0)
        await bench.until(SpStatus.ARRIVED, 0)
    await bench.done()
    bench.check()


@cocotb.test(timeout_time=12, timeout_unit="ms")
@cocotb.parametrize(accesses=[False, True])
async def a_stream_of_packets_overlaps_in_every_part(dut: Any, accesses: bool) -> None:
    """Packets are fetched, sent, taken in pieces and marked done all at once; order and bytes are right."""
    bench = await begin(dut, cfg_bus_beat=3 if accesses else 1, cfg_start_clocks=30, cfg_cdc_latency=1)
    packets = [bench.a_packet(bench.rng.choice([1, 30, 200, 1024, 2032])) for _ in range(12)]
    dut.lanai_req.value = int(accesses)
    fetching = sending = taken = 0
    while taken < len(packets):
        status = int(dut.isr.value)
        sent = status >> SpStatus.SENT & 0xFF
        room = SpSize.FIFO - sum(-(-len(one.data) // 8) * 8 for one in packets[sent:fetching])
        free = status >> SpStatus.ROOM & 1
        if fetching < len(packets) and free and len(packets[fetching].data) + 7 < room:
            await bring(bench, packets[fetching], bench.rng.randrange(8))
            fetching += 1
        elif status >> SpStatus.SEND_FREE & 1 and sending < status >> SpStatus.FETCHED & 0xFF:
            await bench.launch(packets[sending])
            sending += 1
        elif status >> SpStatus.ARRIVED & 1 and free:
            data = packets[taken].data
            assert (await bench.headers())[4:] == packets[taken].via
            for part in pieces(bench, data):
                await bench.deliver(TARGET + bench.rng.randrange(0x7000), part)
            await bench.lanai_write(SpReg.RECV_NEXT, 0)
            await bench.edge  # STATUS tells of it from the next clock on
            taken += 1
        else:
            await bench.pause(20)
    dut.lanai_req.value = 0
    await bench.done()
    bench.check()


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def a_fetch_waits_behind_the_stores_before_it(dut: Any) -> None:
    """The order of commands is that of the FIFO; ALARM and READ stand in the same order."""
    bench = await begin(dut, cfg_start_clocks=60)
    packet = bench.a_packet(64)
    for number in range(3):
        await bench.store(TARGET + 16 * number, (number, 1, 2))
    await bench.order(1 << SpCommand.ALARM, 0)
    await bring(bench, packet, 0)
    assert (await bench.read_host(TARGET + 32, 3)) == (2, 1, 2), "READ comes last and sees what the STOREs wrote"
    await bench.done()
    assert int(dut.intr.value)
    kinds = [name for _, name, _ in bench.log if name.startswith("tr_dma")]
    assert kinds == ["tr_dma_start", "tr_dma_done"] * 5
    bench.check()
    await bench.host_write(SpPci.CONTROL, 1 << SpControl.INTERRUPT)
    await bench.quiet()
    assert not int(dut.intr.value) and not await bench.lanai_read(SpReg.INTERRUPT)


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(where=["u_send_fifo", "u_receive"])
async def a_bit_flipped_on_the_way_arrives_flipped(dut: Any, where: str) -> None:
    """The bytes that arrive are those of the FIFO (with a CRC-8 that is right) and of the receive buffer."""
    bench = await begin(dut)
    packet = bench.a_packet(64)
    await bring(bench, packet, 0)
    await bench.until_counted(SpStatus.FETCHED, 1)
    engines = dut.gen_sp.u_nic.u_engines
    memory, word = (engines.u_send_fifo.mem, 2) if where == "u_send_fifo" else (engines.u_receive.words, 5)
    if where == "u_send_fifo":
        memory[word].value = int(memory[word].value) ^ 1 << 13
    await bench.launch(packet)
    await bench.until(SpStatus.ARRIVED)
    if where == "u_receive":
        memory[word].value = int(memory[word].value) ^ 1 << 13
    flipped = bytearray(packet.data)
    flipped[16 + 1] ^= 1 << 5
    assert await bench.lanai_read(SpReg.RECV_STATUS) == 64
    await bench.deliver(TARGET + 3, bytes(flipped))
    await bench.lanai_write(SpReg.RECV_NEXT, 0)
    await bench.done()
    bench.check()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def the_right_engine_waits_for_all_user_data(dut: Any) -> None:
    """SEND_START comes first: the packet starts when the FETCH is whole, its head leaves with its first word."""
    bench = await begin(dut, cfg_start_clocks=100)
    packet = bench.a_packet(800)
    await bench.launch(packet)
    await bring(bench, packet, 3)
    await bench.until(SpStatus.ARRIVED)
    begun, started, whole = (bench.latest(name) for name in ("tr_dma_start", "tr_tx_start", "tr_tx_read"))
    assert started - begun >= 800 // 4 * PCI_PS, "so long the bus takes for all of them"
    assert started < bench.latest("tr_tx_head") < whole
    await bench.lanai_write(SpReg.RECV_NEXT, 0)
    await bench.done()
    bench.check()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def left_and_right_engine_overlap_on_receive(dut: Any) -> None:
    """The STORE of a packet is on the PCI bus before the right engine has moved half of it."""
    bench = await begin(dut, cfg_bus_beat=8)
    packet = bench.a_packet(2000)
    await bring(bench, packet, 0)
    await bench.launch(packet)
    await bench.until(SpStatus.ARRIVED)
    await bench.deliver(TARGET, packet.data)
    while not int(dut.tr_move_start.value):
        await bench.edge
    moved = int(get_sim_time("ps"))
    while not bench.memory.writes:
        await bench.edge
    stored = int(get_sim_time("ps"))
    while not int(dut.tr_move_done.value):
        await bench.edge
    assert stored - moved < (int(get_sim_time("ps")) - moved) / 2
    await bench.lanai_write(SpReg.RECV_NEXT, 0)
    await bench.done()
    bench.check()


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def packets_that_nobody_takes_wait_asleep(dut: Any) -> None:
    """Two in the receive buffer, the third in the link with STOP in force; taken later, all are right."""
    bench = await begin(dut)
    packets = [bench.a_packet(1000) for _ in range(4)]
    for packet in packets:
        await bring(bench, packet, 0)
    for packet in packets:
        await bench.launch(packet)
    await bench.until_counted(SpStatus.SENT, 4)
    await bench.quiet()
    assert int(dut.st_link_stopping.value) and int(dut.st_link_stopped.value)
    before = [int(dut[name].value) for name in ("edges", "link_edges", "pci_edges")]
    await ClockCycles(dut.clk, 1000)
    assert [int(dut[name].value) for name in ("edges", "link_edges", "pci_edges")] == before
    for number, packet in enumerate(packets):
        await bench.until(SpStatus.ARRIVED)
        await bench.deliver(TARGET + 0x400 * number, packet.data)
        await bench.lanai_write(SpReg.RECV_NEXT, 0)
    await bench.done()
    bench.check()
    assert not int(dut.st_in_flight.value) and not int(dut.st_link_in_flight.value)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def the_sram_takes_and_gives_what_the_host_stores(dut: Any) -> None:
    """Random stores land in order while the right engine has the bus; loads see them."""
    bench = await begin(dut)
    packet, image = bench.a_packet(2032), bytearray(bench.sram.load(0, 0x400))
    await bring(bench, packet, 0)
    await bench.launch(packet)
    for _ in range(40):
        length = 4 * bench.rng.randrange(1, 9)
        at = 4 * bench.rng.randrange((0x400 - length) // 4)
        data = bench.rng.randbytes(length)
        image[at : at + length] = data
        bench.cpu.store(BASE + at, data)
        if bench.rng.random() < 0.3:
            at = 4 * bench.rng.randrange(0x100)
            assert await bench.cpu.load(BASE + at, 4) == bytes(image[at : at + 4])
    await bench.until(SpStatus.ARRIVED)
    await bench.lanai_write(SpReg.RECV_NEXT, 0)
    await bench.done()
    assert bench.sram.load(0, 0x400) == bytes(image)
    bench.check()


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(present=[0, 1])
async def doorbells_become_entries_where_the_adapter_has_them(dut: Any, present: int) -> None:
    """`sp-future`: entries in SRAM, BELL, producer; without them a store is flagged and does nothing."""
    bench = await begin(dut, cfg_doorbell=present)
    await bench.lanai_write(SpReg.BELL_BASE, 0x1000)
    for number in range(3):
        bench.cpu.store(BASE + SpPci.DOORBELL + 4 * number, (7 + number).to_bytes(4, "big"))
    await bench.cpu.all_taken()
    await bench.quiet()
    assert await bench.lanai_read(SpReg.BELL_PRODUCER) == 3 * present
    assert int(dut.isr.value) >> SpStatus.BELL & 1 == present
    if present:
        entries = [(SpPci.DOORBELL + 4 * k).to_bytes(4, "big") + (7 + k).to_bytes(4, "big") for k in range(3)]
        assert bench.sram.load(0x1000, 24) == b"".join(entries)
        await bench.lanai_write(SpReg.BELL_CONSUMER, 2)
        await bench.edge
        assert int(dut.isr.value) >> SpStatus.BELL & 1
        await bench.lanai_write(SpReg.BELL_CONSUMER, 3)
        await bench.edge
        assert not int(dut.isr.value) >> SpStatus.BELL & 1
    else:
        assert await bench.lanai_read(SpReg.ERRORS) == 1 << SpError.PIO_MISUSE


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def misuse_is_flagged_and_cleared(dut: Any) -> None:
    """A packet of impossible size, commands for a packet that is not there, a queue that overflows."""
    bench = await begin(dut, cfg_start_clocks=2000)
    for value in (SpSize.USER + 1, (SpSize.INLINE + 1) << 16, 1 << 16 | 8):
        await bench.lanai_write(SpReg.SEND_START, value)
        assert await bench.lanai_read(SpReg.ERRORS) == 1 << SpError.SEND_MISUSE
        await bench.lanai_write(SpReg.ERRORS, 1 << SpError.SEND_MISUSE)
    await bench.lanai_write(SpReg.RECV_NEXT, 0)
    assert await bench.lanai_read(SpReg.ERRORS) == 1 << SpError.PACKET_MISUSE
    await bench.lanai_write(SpReg.ERRORS, 1 << SpError.PACKET_MISUSE)
    assert await bench.lanai_read(SpReg.ERRORS) == 0
    for _ in range(SpSize.FIFO // 16 + SpSize.QUEUE):
        await bench.store(TARGET, (1, 2))
    assert await bench.lanai_read(SpReg.ERRORS) == 1 << SpError.QUEUE_OVERFLOW
    assert not int(dut.isr.value) >> SpStatus.ROOM & 1


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def the_timer_rings_when_it_was_set_to(dut: Any) -> None:
    """TIME after so many clocks, asleep meanwhile; 0 stops it."""
    bench = await begin(dut)
    await bench.lanai_write(SpReg.TIMER, 500)
    begun, edges = int(dut.cycle.value), int(dut.edges.value)
    await bench.until(SpStatus.TIME)
    assert abs(int(dut.cycle.value) - begun - 500) <= 2
    assert int(dut.edges.value) - edges < 10
    await bench.lanai_write(SpReg.ACK, 1 << SpStatus.TIME)
    await bench.lanai_write(SpReg.TIMER, 50)
    await bench.lanai_write(SpReg.TIMER, 0)
    await ClockCycles(dut.clk, 100)
    assert not int(dut.isr.value) >> SpStatus.TIME & 1


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def the_processor_takes_turns_with_the_right_engine(dut: Any) -> None:
    """Alone it is never refused; while a packet moves it is, but gets the bus after each beat at the latest."""
    bench = await begin(dut, cfg_bus_beat=3, cfg_bus_access=6)
    dut.lanai_req.value = 1
    dut.sleep.value = 0
    await bench.edge
    assert await bench.refusals(100) == 0
    packet = bench.a_packet(2000)
    await bring(bench, packet, 0)
    await bench.until_counted(SpStatus.FETCHED, 1)
    await bench.launch(packet)
    await ClockCycles(dut.clk, 20)
    refused = await bench.refusals(900)
    assert 780 <= refused <= 820, "one clock of nine: a beat of 3 clocks, then its own access of 6"


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def sleeping_clocks_change_no_time(dut: Any) -> None:
    """The whole way of four packets: each trace record at the same picosecond, asleep and always on."""
    logs, edges = [], []
    bench = SpBench(dut, cfg_start_clocks=80, cfg_cdc_latency=0)
    for sleep in (0, 1):
        dut.rst.value = 1
        dut.sleep.value = sleep
        bench.rng.seed(11)
        await bench.start()
        await Timer(ALL_PS - (int(get_sim_time("ps")) - bench.origin) % ALL_PS + 1, "ps")
        await bench.edge
        begin_at = int(get_sim_time("ps")) - bench.origin
        bench.log.clear()
        for _ in range(4):
            packet = bench.a_packet(bench.rng.randrange(20, 300))
            await bring(bench, packet, 1)
            bench.cpu.store(BASE + 0x100, bench.rng.randbytes(16))
            await bench.launch(packet)
            await bench.until(SpStatus.ARRIVED)
            await bench.deliver(TARGET + 5, packet.data)
            await bench.store(TARGET + 0x1000, (1, 2, 3))
            await bench.lanai_write(SpReg.RECV_NEXT, 0)
            await ClockCycles(dut.clk, 1500)
        logs.append([(time - begin_at, *rest) for time, *rest in bench.log])
        edges.append(sum(int(dut[name].value) for name in ("edges", "link_edges", "pci_edges")))
    assert logs[0] == logs[1] and len(logs[0]) > 40
    assert edges[1] < edges[0] * 0.7


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def no_output_is_unknown_after_reset(dut: Any) -> None:
    """Every wire of the bench's top level has a value (Icarus keeps X)."""
    bench = SpBench(dut)
    await bench.start()
    await ClockCycles(dut.clk, 20)
    await ReadOnly()
    names = [handle._name for handle in dut if isinstance(handle, (LogicObject, LogicArrayObject))]
    names = [name for name in names if not name.startswith(("mem_", "unused"))]
    assert len(names) > 70
    assert [name for name in names if not dut[name].value.is_resolvable] == []
