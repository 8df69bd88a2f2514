"""Host DMA of a LANai 4 with a memory; the bench acts as the bus master.

Strategy: random transfers of whole words, in both directions, with any word alignment on both sides, are started by the
four registers. The bytes of both memories, the commands and DMA must match a copy of the bytes. Grants, gaps and stalls
of the PCI side and gated clocks are crossed. A write during a transfer, start-up time, pieces of long transfers, bus
errors and words outside the SRAM have their own tests.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles
from cocotb.utils import get_sim_time

from tb.agents.streams import never, sometimes
from tests.block.dma_bench import PciSide
from tests.block.nic_bench import NIC_PS, SRAM_BYTES, NicBench

HOST_BYTES = 1 << 17
REGISTERS = ("ear", "lar", "dir", "ctr")
STROBES = ("set_done", "error", "misuse", "tr_start", "tr_done")


class Bench(NicBench):
    """Registers, a host memory, and the expected content of both memories."""

    def __init__(self, dut: Any, sleep: bool = True, start_clocks: int = 0) -> None:
        zeros = dict.fromkeys(("hold_reset", "w_data", *(f"w_{name}" for name in REGISTERS)), 0)
        super().__init__(dut, sleep, cfg_start_clocks=start_clocks, **zeros)
        self.host = bytearray(self.rng.randbytes(HOST_BYTES))
        self.expected = bytearray(self.host)
        self.pci = PciSide(self)
        self.counts = dict.fromkeys(STROBES, 0)
        self.log: list[tuple[int, str]] = []
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        handles = [(name, self.dut[name]) for name in STROBES]
        while True:
            await self.edge
            for name, handle in handles:
                if not int(self.dut.rst.value) and int(handle.value):
                    self.counts[name] += 1
                    self.log.append((int(get_sim_time("ps")) - self.origin, name))

    async def transfer(self, to_nic: bool, host: int, sram: int, size: int) -> None:
        """Start a transfer and update both expected images."""
        if to_nic:
            self.image[sram : sram + size] = self.expected[host : host + size]
        else:
            self.expected[host : host + size] = self.image[sram : sram + size]
        for name, value in zip(REGISTERS, (host, sram, int(to_nic), size), strict=True):
            await self.strobe(f"w_{name}", value)

    async def until(self, name: str, count: int) -> None:
        """Wait until a strobe has occurred `count` times."""
        for _ in range(60000):
            if self.counts[name] >= count:
                return
            await self.edge
        raise AssertionError(f"{name}: {self.counts[name]} of {count} after 60000 clocks")

    def check(self) -> None:
        """Check both memories and an idle engine."""
        self.check_sram()
        assert self.host == self.expected
        assert not int(self.dut.busy.value) and not int(self.dut.in_flight.value)


@cocotb.test(timeout_time=10, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.5], grant=[0.0, 0.6], sleep=[False, True])
async def random_transfers_move_their_words(dut: Any, stall: float, grant: float, sleep: bool) -> None:
    """Cross directions, word alignments, and lengths around a beat and long ones."""
    bench = Bench(dut, sleep)
    bench.pci.pace(stall)
    bench.allow = sometimes(grant, bench.rng) if grant else never()
    await bench.start()
    rng, moved = bench.rng, []
    for number in range(1, 25):
        size = 4 * rng.choice([1, 2, 3, 4, rng.randrange(1, 200)])
        host, sram = (4 * rng.randrange((room - size) // 4) for room in (HOST_BYTES, SRAM_BYTES))
        to_nic = rng.random() < 0.5
        await bench.transfer(to_nic, host, sram, size)
        await bench.until("set_done", number)
        moved.append((not to_nic, host, size))
        assert int(dut.ctr.value) == 0
        await bench.pause(5)
    await ClockCycles(dut.clk, 3)
    bench.check()
    assert bench.pci.commands == moved
    assert bench.counts["tr_done"] == 24 and bench.counts["misuse"] == bench.counts["error"] == 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_running_transfer_cannot_be_changed(dut: Any) -> None:
    """Write all four registers during a transfer: flagged and ignored; the next transfer must wait for DMA."""
    bench = Bench(dut)
    await bench.start()
    await bench.transfer(True, 0x104, 0x20, 400)
    for name in REGISTERS:
        await bench.strobe(f"w_{name}", 0x40)
    await bench.until("set_done", 1)
    await ClockCycles(dut.clk, 3)
    bench.check()
    assert bench.counts["misuse"] == 4
    assert (int(dut.ear.value), int(dut.lar.value)) == (0x104, 0x20)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def dma_ctr_counts_down_while_words_move(dut: Any) -> None:
    """Check that words no longer counted by DMA_CTR are in SRAM, so that firmware can send them."""
    bench = Bench(dut)
    bench.pci.pace(0.7)
    before = bytes(bench.image)
    await bench.start()
    await bench.transfer(True, 0x200, 0x400, 800)
    seen = set()
    while bench.counts["set_done"] == 0:
        await bench.edge
        left = int(dut.ctr.value)
        seen.add(left)
        there = 800 - left
        assert bench.sram.load(0x400, there) == bytes(bench.image[0x400 : 0x400 + there])
    assert len(seen) > 150 and before != bytes(bench.image)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def the_start_up_is_counted_from_the_write(dut: Any) -> None:
    """Check that the bus command appears cfg_start_clocks after DMA_CTR, with an idle clock meanwhile."""
    bench = Bench(dut, start_clocks=50)
    await bench.start()
    for name, value in (("ear", 0x80), ("lar", 0x80)):
        await bench.strobe(f"w_{name}", value)
    begun = int(get_sim_time("ps")) - bench.origin
    await bench.strobe("w_ctr", 8)
    edges = int(dut.edges.value)
    await bench.until("tr_start", 1)
    assert (bench.log[0][0] - begun) // NIC_PS in (50, 51)
    assert int(dut.edges.value) - edges < 10


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def a_long_transfer_goes_in_pieces(dut: Any) -> None:
    """Move more than 32 KB: at most 32 KB per command, cut after a beat. The bench's SRAM repeats every 8 KB."""
    bench = Bench(dut)
    await bench.start()
    for name, value in zip(REGISTERS, (0x1004, 0, 0, 70000), strict=True):
        await bench.strobe(f"w_{name}", value)
    await bench.until("set_done", 1)
    assert bench.pci.commands == [(True, 0x1004, 32764), (True, 0x9000, 32768), (True, 0x11000, 4468)]
    copy = (bytes(bench.image) * 9)[:70000]
    assert bench.host[0x1004 : 0x1004 + 70000] == copy


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def nothing_to_move_is_done_at_once(dut: Any) -> None:
    """Move 0 bytes: DMA is set without a command."""
    bench = Bench(dut)
    await bench.start()
    await bench.transfer(True, 0, 0, 0)
    await bench.until("set_done", 1)
    assert bench.pci.commands == []


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def an_error_ends_the_transfer_without_dma(dut: Any) -> None:
    """Check a bus abort and words beyond 1 MB; the next transfer works."""
    bench = Bench(dut)
    await bench.start()
    bench.pci.fail_next = True
    await bench.transfer(True, 0x40, 0x40, 64)
    await bench.until("error", 1)
    for name, value in zip(REGISTERS, (0, 0xFFFFC, 1, 8), strict=True):
        await bench.strobe(f"w_{name}", value)
    await bench.until("error", 2)
    assert bench.counts["set_done"] == 0 and len(bench.pci.commands) == 1
    await bench.transfer(False, 0x44, 0x80, 12)
    await bench.until("set_done", 1)
    await ClockCycles(dut.clk, 3)
    bench.check()
