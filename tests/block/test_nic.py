"""Whole LANai 9 NIC: PCI segment with host CPU and host memory on one side, its own link looped back on the other.

Strategy: the bench is host driver and firmware at once and uses only their interfaces: PIO, host memory, special
registers, SRAM. Random packets take the whole path (host memory, DMA, SRAM, link, SRAM, DMA, host memory), with and
without cut-through. They are compared byte by byte at the end. PIO, registers, doorbells, interrupt, reset,
back-pressure and the trace have their own tests, 32 and 64 bits wide. A PCI protocol monitor watches. The same run with
gated and free-running clocks must give the same times.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from pymodels.nic.net import packet_key
from pymodels.registers import MYRINET_AFTER_RESET, Block, Control, Flag, Isr, Myrinet, Pci, Reg, isr_mask
from tests.block.cases import some
from tests.block.netlists import sleeping_clocks
from tests.block.nic_card import BASE, CLK_TRACE, LINK_TRACE, CardBench
from tests.block.nic_shared_tests import (
    RECEIVE,
    SEND,
    all_known,
    blocked,
    contended,
    interrupts,
    out_of_reset,
    random_pio,
    sleeping_changes_nothing,
    swallowed,
)

FIFO = 0x8000
"""SRAM address of the doorbell FIFO."""


async def begin(dut: Any, **settings: int) -> CardBench:
    """Return a bench out of reset, with the LANai out of reset, too."""
    bench = CardBench(dut, **settings)
    await out_of_reset(bench)
    return bench


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(wide=[0, 1], latency=[0, 3])
async def the_sram_window_stores_and_returns_bytes(dut: Any, wide: int, latency: int) -> None:
    """Check that random stores, write-combined or not, arrive in order, and that loads see them."""
    await random_pio(await begin(dut, cfg_wide=wide, cfg_cdc_latency=latency))


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def the_host_sees_registers_big_endian(dut: Any) -> None:
    """Check addresses of special registers, control register, pointers and identity; a partial write is flagged."""
    bench = await begin(dut)
    for register in (Reg.DEBUG, Reg.EIMR, Reg.SMH):
        value = bench.rng.getrandbits(32)
        await bench.host_write(Pci.REGISTERS + register, value)
        assert await bench.host_read(Pci.REGISTERS + register) == value == await bench.lanai_read(register)
    await bench.lanai_write(Reg.LED, 0xCAFE)
    assert await bench.host_read(Pci.REGISTERS + Reg.LED) == 0xCAFE
    for word in range(8):
        await bench.host_write(Pci.POINTERS + 4 * word, 0x1000 * word + 0x800)
    assert [await bench.host_read(Pci.POINTERS + 4 * word) for word in range(9)] == [
        *(0x1000 * word + 0x800 for word in range(8)), 0,
    ]  # fmt: skip
    assert await bench.lanai_read(Reg.DMA_LIST2) == 0x2800
    await bench.control(1 << Control.IRQ_ENABLE | 5)
    state = await bench.host_read(Pci.CONTROL)
    assert state & 7 == 5 and state >> Control.IRQ_ENABLE & 1 and state >> Control.LANAI_RESET_OFF & 1
    assert await bench.cpu.load(BASE + Pci.CONFIG, 8) == bytes.fromhex("c1144380") + bytes(4)
    assert await bench.cpu.load(BASE + Pci.CONTROL + 4, 4) == bytes(4)
    bench.cpu.store(BASE + Pci.REGISTERS + Reg.DEBUG, b"\1\2")
    await bench.quiet()
    assert await bench.lanai_read(Reg.ERRORS) == 8


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def doorbells_follow_the_stores_before_them(dut: Any) -> None:
    """Combine stores of payload, then ring: at WAKE0 both are in SRAM. Full FIFO: flagged, counted."""
    bench = await begin(dut)
    await bench.host_write(Pci.POINTERS + 16, FIFO)
    for number in range(20):
        payload = bench.rng.randbytes(64)
        address = Pci.DOORBELL + 4 * bench.rng.randrange(0x1000)
        bench.cpu.store(BASE + 0x400, payload, wc=True)
        bench.cpu.fence()
        bench.cpu.store(BASE + address, number.to_bytes(4, "big"))
        await bench.isr(Isr.WAKE0)
        assert bench.sram.load(FIFO + 8 * number, 8) == address.to_bytes(4, "big") + number.to_bytes(4, "big")
        assert bench.sram.load(0x400, 64) == payload
        assert await bench.lanai_read(Reg.DOORBELL_PRODUCER0) == number + 1
        await bench.lanai_write(Reg.ISR, isr_mask(Isr.WAKE0))
    await bench.lanai_write(Reg.DOORBELL_CONSUMER0, 20 - 512)
    bench.cpu.store(BASE + Pci.DOORBELL, bytes(12))
    await bench.isr(Isr.DOORBELL_OVERFLOW)
    await bench.quiet()
    assert await bench.lanai_read(Reg.DOORBELL_OVERFLOWS) == 3
    assert await bench.lanai_read(Reg.DOORBELL_PRODUCER0) == 20


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def the_lanai_interrupts_the_host(dut: Any) -> None:
    """Check the path from HOST_SIG through EIMR and the enable to INTA#; the host clears it, and signals back."""
    bench = await begin(dut)
    await interrupts(bench, Pci.REGISTERS + Reg.ISR, isr_mask(Isr.HOST_SIG, Isr.LANAI_SIG))
    assert int(dut.isr.value) == isr_mask(Isr.LANAI_SIG)


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(delay=[0, 25])
async def a_packet_returns_over_the_looped_link(dut: Any, delay: int) -> None:
    """Send from SRAM and receive into SRAM: check bytes, syndrome, registers, ISR, trace keys."""
    bench = await begin(dut, cfg_delay=delay)
    for _ in some(range(8)):
        packet = bench.packet(bench.rng.randrange(5, 300))
        align = -len(packet) % 8
        bench.sram.store(SEND, bytes(align) + packet)
        await bench.arm(RECEIVE, RECEIVE + 0x1000)
        await bench.lanai_write(Reg.SMP, SEND)
        await bench.lanai_write(Reg.SA, align)
        await bench.lanai_write(Reg.SMLT, SEND + align + len(packet))
        await bench.isr(Isr.SEND)
        await bench.isr(Isr.RECV)
        await ClockCycles(dut.clk, 3)
        assert bench.sram.load(RECEIVE, len(packet) + 1) == packet + b"\0"
        assert await bench.lanai_read(Reg.RECV_LENGTH) == len(packet) + 1
        rmp, orun = await bench.lanai_read(Reg.RMP), (await bench.lanai_read(Reg.ISR)) >> Isr.ORUN1 & 7
        assert rmp - RECEIVE - orun == len(packet) + 1
        await bench.quiet()
        key = packet_key(packet)
        assert bench.last == dict.fromkeys((*CLK_TRACE, *LINK_TRACE), key)
    assert int(dut.isr.value) >> Isr.DATA_SENT & 1


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def an_enabled_flag_reports_only_its_own_event(dut: Any) -> None:
    """Receive a good packet while reports of illegal characters are enabled: none may be reported."""
    bench = await begin(dut)
    await bench.lanai_write(Reg.MYRINET, MYRINET_AFTER_RESET | 1 << Myrinet.ILLEGAL_EN)
    packet = bench.packet(40)
    bench.sram.store(SEND, packet)
    await bench.arm(RECEIVE, RECEIVE + 0x1000)
    await bench.send(SEND, len(packet))
    await bench.isr(Isr.RECV)
    await bench.quiet()
    assert bench.flags >> Isr.DATA_RECEIVED & 1 and not bench.flags >> Isr.ILLEGAL_RECEIVED & 1


@cocotb.test(timeout_time=8, timeout_unit="ms")
@cocotb.parametrize(
    (("wide", "cut", "latency"), [(0, False, 0), (0, True, 2), (1, False, 2), (1, True, 0)])  # each pair of values once
)
async def bytes_travel_from_host_memory_to_host_memory(dut: Any, wide: int, cut: bool, latency: int) -> None:
    """Move by E2L, link and L2E with any alignment; with `cut` the send follows the DMA's progress by SML."""
    bench = await begin(dut, cfg_wide=wide, cfg_cdc_latency=latency, cfg_start_clocks=50)
    rng = bench.rng
    memory = bytearray(bench.memory.bytes)
    await bench.host_write(Pci.POINTERS, 0)
    await bench.host_write(Pci.POINTERS + 8, 0x40)
    for number in some(range(6)):
        packet = bench.packet(rng.randrange(8, 700))
        source, target = rng.randrange(0x1000), 0x8000 + 0x400 * number + rng.randrange(64)
        bench.memory.bytes[source : source + len(packet)] = packet
        memory[source : source + len(packet)] = packet
        memory[target : target + len(packet) + 1] = packet + b"\0"
        await bench.arm(RECEIVE, RECEIVE + 0x1000)
        await bench.dma(2, 0x40, Flag.E2L, SEND, source, len(packet))
        if cut:
            await bench.send_behind_dma(SEND, len(packet))
        else:
            await bench.isr(Isr.WAKE2)
            await bench.send(SEND, len(packet))
        await bench.isr(Isr.RECV)
        await bench.lanai_write(Reg.ISR, isr_mask(Isr.WAKE2))
        await bench.dma(0, 0, Flag(0), RECEIVE, target, len(packet) + 1)
        await bench.isr(Isr.WAKE1)
        await bench.lanai_write(Reg.ISR, isr_mask(Isr.WAKE1))
        await bench.quiet()
        assert bench.memory.bytes == memory
        assert int.from_bytes(bench.sram.load(Block.NEXT, 4), "big") & Flag.TERMINAL
        if len(packet) > 300:
            head, filled = bench.latest("tr_tx_head"), bench.latest("tr_dma_done", nth=2)
            assert (head < filled) == cut, "cut-through: the head leaves while the DMA still fills"
    assert bench.bad == []


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def a_blocked_packet_sleeps_in_the_link(dut: Any) -> None:
    """Check that an unarmed NIC sends STOP, with idle clocks and no loss; once armed, all arrives."""
    await blocked(await begin(dut))


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def a_nic_in_reset_swallows_packets(dut: Any) -> None:
    """Check that LANai reset clears armed buffers and firmware state, and that packets are dropped and counted."""
    await swallowed(await begin(dut))


@cocotb.test(timeout_time=8, timeout_unit="ms")
@sleeping_clocks()
async def sleeping_clocks_change_no_time(dut: Any) -> None:
    """Move four packets on the whole path: equal times of all trace records, gated or not."""
    bench = CardBench(dut, cfg_start_clocks=80, cfg_cdc_latency=1)

    async def out() -> None:
        await bench.control(1 << Control.LANAI_RESET_OFF)
        await ClockCycles(dut.clk, 100)
        await bench.host_write(Pci.POINTERS + 8, 0x40)

    async def step() -> None:
        packet = bench.packet(bench.rng.randrange(20, 200))
        bench.memory.bytes[: len(packet)] = packet
        await bench.dma(2, 0x40, Flag.E2L, SEND, 0, len(packet))
        await bench.isr(Isr.WAKE2)
        await bench.send(SEND, len(packet))
        await ClockCycles(dut.clk, 500)
        await bench.arm(RECEIVE, RECEIVE + 0x1000)
        await bench.isr(Isr.RECV)
        await bench.lanai_write(Reg.ISR, 0xFFFFFFFF & ~isr_mask(Isr.HOST_SIG))
        await ClockCycles(dut.clk, 300)

    await sleeping_changes_nothing(bench, out, step)


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(accesses=[1, 2])
async def the_processor_loses_to_dma(dut: Any, accesses: int) -> None:
    """Check that a processor requesting in every clock always gets a grant, except during a DMA with one port."""
    bench = await begin(dut, cfg_accesses=accesses)
    await bench.host_write(Pci.POINTERS, 0)
    await contended(bench, bench.dma(0, 0, Flag(0), SEND, 0x100, 2000), accesses)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def no_output_is_unknown_after_reset(dut: Any) -> None:
    """Check that every wire of the bench's top level has a value (Icarus keeps X)."""
    await all_known(CardBench(dut))
