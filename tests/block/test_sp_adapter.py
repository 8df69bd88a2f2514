"""Packet path through the whole SP adapter, with its own link looped back.

Strategy: the bench is host driver and firmware at once and uses only their interfaces: PIO, host memory, registers.
Random packets take the whole path: host memory, Send FIFO, link, receive buffer, Recv/Cmd FIFO, host memory. They are
sent one by one and in overlapping streams, and compared byte by byte at the end. The hardware's own rules (waiting for
data, overlap, back-pressure) and gated clocks have their own tests.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles
from cocotb.utils import get_sim_time

from pymodels.nics.sp.registers import SpReg, SpSize, SpStatus
from tests.block.cases import some
from tests.block.netlists import inside_hardware, sleeping_clocks
from tests.block.nic_card import BASE, LINK_TRACE, PCI_PS
from tests.block.nic_shared_tests import sleeping_changes_nothing, sleeps
from tests.block.sp_card import TARGET, SpBench, begin, bring


def pieces(bench: SpBench, data: bytes) -> list[bytes]:
    """Return a packet's data as firmware might deliver them: cut anywhere, possibly without the end."""
    cuts = sorted(bench.rng.sample(range(len(data) + 1), min(len(data), bench.rng.randrange(4))))
    parts = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    return [part for part in parts if part][: bench.rng.choice([1, 4])]


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(latency=[0, 2])
async def a_packet_travels_from_host_memory_to_host_memory(dut: Any, latency: int) -> None:
    """Cross alignments and sizes around words and the maximum; check headers, trace keys, and the status word."""
    bench = await begin(dut, cfg_cdc_latency=latency, cfg_start_clocks=20 * latency)
    for size in some((7, 2032, 1, 8, 9, *(bench.rng.randrange(1, 1100) for _ in range(3)))):
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
    """Send 0 to 64 bytes; the first eight can be read on arrival."""
    bench = await begin(dut)
    for size in some((0, 1, 7, 8, 64, *range(2, 7), 9, 15, 16, 17, 56, 63)):
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
@cocotb.parametrize(accesses=some([True, False]))
async def a_stream_of_packets_overlaps_in_every_part(dut: Any, accesses: bool) -> None:
    """Fetch, send, deliver in pieces and release packets concurrently; order and bytes must be right."""
    bench = await begin(dut, cfg_bus_beat=3 if accesses else 1, cfg_start_clocks=30, cfg_cdc_latency=1)
    packets = [bench.a_packet(bench.rng.choice([1, 30, 200, 1024, 2032])) for _ in some(range(12))]
    dut.cpu_req.value = int(accesses)
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
            await bench.edge  # STATUS shows it from the next clock on
            taken += 1
        else:
            await bench.pause(20)
    dut.cpu_req.value = 0
    await bench.done()
    bench.check()


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(where=["u_send_fifo", "u_receive"])
@inside_hardware
async def a_bit_flipped_on_the_way_arrives_flipped(dut: Any, where: str) -> None:
    """Check that the received bytes are those of the FIFO (with a good CRC-8) and of the receive buffer."""
    bench = await begin(dut)
    packet = bench.a_packet(64)
    await bring(bench, packet, 0)
    await bench.until_counted(SpStatus.FETCHED, 1)
    engines = dut.gen_sp.u_nic.u_engines
    memory, word = (
        (engines.u_send_fifo.gen_deep.u_ram.mem, 2) if where == "u_send_fifo" else (engines.u_receive.u_words.mem, 5)
    )
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
    """Write SEND_START first: the packet starts after the whole FETCH, and its head leaves with its first word."""
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
    """Check that a packet's STORE is on the PCI bus before the right engine has moved half of it."""
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
async def packets_without_a_reader_wait_with_idle_clocks(dut: Any) -> None:
    """Check two packets in the receive buffer, the third in the link with STOP in force; all arrive later."""
    bench = await begin(dut)
    packets = [bench.a_packet(1000) for _ in range(4)]
    for packet in packets:
        await bring(bench, packet, 0)
    for packet in packets:
        await bench.launch(packet)
    await bench.until_counted(SpStatus.SENT, 4)
    await bench.quiet()
    assert int(dut.st_link_stopping.value) and int(dut.st_link_stopped.value)
    await sleeps(bench, 1000)
    for number, packet in enumerate(packets):
        await bench.until(SpStatus.ARRIVED)
        await bench.deliver(TARGET + 0x400 * number, packet.data)
        await bench.lanai_write(SpReg.RECV_NEXT, 0)
    await bench.done()
    bench.check()
    assert not int(dut.st_in_flight.value) and not int(dut.st_link_in_flight.value)


@cocotb.test(timeout_time=8, timeout_unit="ms")
@sleeping_clocks()
async def sleeping_clocks_change_no_time(dut: Any) -> None:
    """Move four packets on the whole path: equal times of all trace records, gated or not."""
    bench = SpBench(dut, cfg_start_clocks=80, cfg_cdc_latency=0)

    async def step() -> None:
        packet = bench.a_packet(bench.rng.randrange(20, 300))
        await bring(bench, packet, 1)
        bench.cpu.store(BASE + 0x100, bench.rng.randbytes(16))
        await bench.launch(packet)
        await bench.until(SpStatus.ARRIVED)
        await bench.deliver(TARGET + 5, packet.data)
        await bench.store(TARGET + 0x1000, (1, 2, 3))
        await bench.lanai_write(SpReg.RECV_NEXT, 0)
        await ClockCycles(dut.clk, 1500)

    await sleeping_changes_nothing(bench, bench.aligned, step)
