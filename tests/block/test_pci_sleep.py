"""PCI segment with a gated clock against one with a free-running clock.

Strategy: the clock is driven directly, edge index by edge index. A script issues CPU accesses and DMA commands at
random indices; memories answer after a fixed number of clocks. One run has every edge, the other only those before
which `busy` is 1. Every output is compared at every index, including skipped edges.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.triggers import Timer

from tb.agents.settings import drive
from tests.block.pci_host_bench import CARD, QUICK, settings_ports

CLOCKS = 1500
OUTPUTS = (
    "cpu_ready",
    "cpu_rvalid",
    "mem_valid",
    "c0_tw_valid",
    "c0_tread_valid",
    "c0_mc_ready",
    "c0_mw_ready",
    "c0_mr_valid",
    "c0_m_done",
    "pci_ad",
    "pci_cbe",
    "pci_par",
    "pci_frame_n",
    "pci_irdy_n",
    "pci_trdy_n",
    "pci_devsel_n",
    "pci_stop_n",
    "pci_gnt_n",
    "pci_req_n",
    "intr",
    "idle_out",
    "idle_in",
    "tr_pio_start",
    "tr_pio_done",
    "tr_dma_first",
    "tr_dma_last",
    "count_data",
    "count_busy",
)
READIES = ("c0_mw_valid", *(f"c{k}_{wire}_ready" for k in (0, 1) for wire in ("tw", "tread", "mr")))
"""Inputs that are always 1: backends never stall."""
INPUTS = (
    *(f"cpu_{wire}" for wire in ("valid", "write", "addr", "data", "be", "wc", "fence", "config")),
    *(
        f"c{k}_{wire}"
        for k in (0, 1)
        for wire in ("td_valid", "td_data", "mc_valid", "mc_write", "mc_addr", "mc_bytes", "mw_data")
    ),
    "mem_rdata",
    "c1_mw_valid",
)
CPU_WIRES = ("write", "addr", "data", "be", "wc", "fence")


@dataclass
class Script:
    """Accesses by the edge index at which they are first offered."""

    cpu: deque[tuple[int, dict[str, int]]] = field(default_factory=deque)
    dma: deque[tuple[int, dict[str, int]]] = field(default_factory=deque)


def script(rng: random.Random) -> Script:
    made = Script()
    at = 20
    while at < CLOCKS - 300:
        address = CARD[0] + 8 * rng.randrange(16)
        kind = rng.random()
        access = {
            "write": int(kind < 0.8),
            "addr": address,
            "data": rng.getrandbits(64),
            "be": 0x0F,
            "wc": int(kind < 0.4),
            "fence": 0,
        }
        if 0.75 < kind < 0.8:
            access = {"write": 0, "addr": 0, "data": 0, "be": 0, "wc": 0, "fence": 1}
        made.cpu.append((at, access))
        if rng.random() < 0.4:
            made.dma.append(
                (
                    at + rng.randrange(9),
                    {"write": rng.randrange(2), "addr": 8 * rng.randrange(99), "bytes": rng.randrange(1, 90)},
                )
            )
        at += rng.choice([1, 3, 40, 90])
    return made


class Hand:
    """Clock and all ports, driven by one coroutine."""

    def __init__(self, dut: Any, todo: Script, sleeps: bool) -> None:
        self.dut, self.todo, self.sleeps = dut, todo, sleeps
        self.seen: list[tuple[str, ...]] = []
        self.skipped = 0
        self.read_due: deque[int] = deque()
        self.memory_read = False
        self.outputs = [dut[name] for name in OUTPUTS]

    def offer(self, index: int) -> None:
        """Apply the inputs of this edge."""
        dut = self.dut
        cpu = bool(self.todo.cpu) and self.todo.cpu[0][0] <= index
        dma = bool(self.todo.dma) and self.todo.dma[0][0] <= index
        dut.cpu_valid.value, dut.c0_mc_valid.value = int(cpu), int(dma)
        if cpu:
            for name in CPU_WIRES:
                dut[f"cpu_{name}"].value = self.todo.cpu[0][1][name]
        if dma:
            for name, value in self.todo.dma[0][1].items():
                dut[f"c0_mc_{name}"].value = value
        due = bool(self.read_due) and self.read_due[0] <= index
        dut.c0_td_valid.value = int(due)
        dut.c0_td_data.value = index if due else 0
        if due:
            self.read_due.popleft()
        if self.memory_read:
            dut.mem_rdata.value = index

    def take(self, index: int) -> None:
        """Process the handshakes of an edge."""
        dut = self.dut
        if int(dut.cpu_valid.value) and int(dut.cpu_ready.value):
            self.todo.cpu.popleft()
        if int(dut.c0_mc_valid.value) and int(dut.c0_mc_ready.value):
            self.todo.dma.popleft()
        if int(dut.c0_tread_valid.value):
            self.read_due.append(index + 5)
        self.memory_read = bool(int(dut.mem_valid.value)) and not int(dut.mem_write.value)

    async def run(self) -> list[tuple[str, ...]]:
        """Reset, then step through every edge index; return all outputs before each."""
        dut = self.dut
        for index in range(-6, CLOCKS):
            dut.rst.value = int(index < -2)
            if index >= 0:
                self.offer(index)
            await Timer(5, "ns")
            awake = index < 0 or not self.sleeps or bool(int(dut.busy.value))
            if index >= 0:
                self.seen.append(tuple(str(wire.value) for wire in self.outputs))
                if awake:
                    self.take(index)
                elif int(dut.cpu_valid.value) or int(dut.c0_mc_valid.value) or int(dut.c0_td_valid.value):
                    raise AssertionError(f"asleep at {index} with something offered")
            self.skipped += not awake
            dut.clk.value = int(awake)
            await Timer(5, "ns")
            dut.clk.value = 0
        return self.seen


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(seed=[1, 2, 3])
async def skipped_edges_change_nothing(dut: Any, seed: int) -> None:
    records = []
    skipped = 0
    for sleeps in (False, True):
        dut.clk.value = 0
        for name in INPUTS:
            dut[name].value = 0
        for name in READIES:
            dut[name].value = 1
        drive(dut, QUICK, settings_ports(dut))
        dut.c0_mw_data.value = 0x1122334455667788
        hand = Hand(dut, script(random.Random(seed)), sleeps)
        records.append(await hand.run())
        skipped = hand.skipped
        assert not hand.todo.cpu and not hand.todo.dma
    for index, (always, slept) in enumerate(zip(*records, strict=True)):
        different = [name for name, a, b in zip(OUTPUTS, always, slept, strict=True) if a != b]
        assert not different, f"edge {index}: {different} differ"
    assert skipped > CLOCKS // 4, f"only {skipped} edges skipped"
