"""Bench around sim_pci_host.sv: CPU, host memory, two cards with master and memory, protocol monitor."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

from pymodels.settings import BRIDGE
from pymodels.settings import CARD as CARD_SETTINGS
from tb.agents.host import CpuPort, HostMemory
from tb.agents.pci import PciMonitor
from tb.agents.settings import SettingsPort, drive
from tb.agents.streams import MasterPort, TargetMemory

CARD = (0xE0000000, 0xE1000000)
SIZE = 1 << 16

QUICK = {
    "cfg_wide": 1,
    "cfg_m66": 1,
    "wide_cards": 3,
    "inta": 0,
    "cfg_latency_timer": 0,
    "cfg_start_delay": 0,
    "cfg_extra_num": 0,
    "cfg_extra_den": 0,
    "cfg_post_depth": 4,
    "cfg_wc_bytes": 32,
    "cfg_read_return": 0,
    "cfg_mem_log2": 16,
    "cfg_up_devsel": 1,
    "cfg_up_write_initial": 0,
    "cfg_up_read_initial": 0,
    "cfg_up_subsequent": 0,
    "cfg_up_read_wait": 8,
    "cfg_up_stall_limit": 4,
    "cfg_up_max_phases": 0,
    "cfg_in_buffer": 32,
    "cfg_drain_num": 1,
    "cfg_drain_den": 1,
    "cfg_read_latency": 4,
    "card_latency_timer": 0,
    "card_max_burst": 0,
    "card_start_delay": 0,
    "card_irdy_wait": 4,
    "card_line_bytes": 32,
    "card_devsel": 1,
    "card_write_initial": 0,
    "card_read_initial": 0,
    "card_subsequent": 0,
    "card_read_wait": 10,
    "card_stall_limit": 4,
    "card_max_phases": 0,
    "card_discard": 32768,
    "card_target_abort": 0,
}
"""Settings without avoidable waits."""


def settings_ports(dut: Any) -> tuple[SettingsPort, ...]:
    """Return the settings ports of the bridge and of the cards."""
    return SettingsPort(dut.cfg, BRIDGE), SettingsPort(dut.card, CARD_SETTINGS, "card_")


class HostBench:
    """Agents on every port of sim_pci_host. `far_ns`: clock period of card 1's bus, if card 1 is behind a bridge."""

    def __init__(self, dut: Any, far_ns: int = 0, **settings: int) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self._ports = settings_ports(dut)
        self.set(**{**QUICK, **settings})
        dut.rst.value = 1
        Clock(dut.clk, 10, unit="ns", impl="gpi").start(start_high=False)
        self.cpu = CpuPort(dut, dut.clk)
        self.memory = HostMemory(dut, dut.clk, SIZE)
        clocks = [dut.clk, dut.clk]
        if far_ns:
            clocks[1] = dut.far_clk
            Clock(dut.far_clk, far_ns, unit="ns", impl="gpi").start(start_high=False)
            self.far = PciMonitor(dut, "far", dut.far_clk, dut.rst)
        self.cards = [TargetMemory(dut, f"c{k}_", clock, SIZE) for k, clock in enumerate(clocks)]
        self.masters = [MasterPort(dut, f"c{k}_", clock) for k, clock in enumerate(clocks)]
        self.monitor = PciMonitor(dut, "pci", dut.clk, dut.rst)

    def set(self, **settings: int) -> None:
        """Set run-time inputs."""
        drive(self.dut, settings, self._ports)

    async def start(self) -> None:
        """Apply and release reset."""
        await ClockCycles(self.dut.clk, 12)
        self.dut.rst.value = 0
        await ClockCycles(self.dut.clk, 3)

    async def quiet(self, limit: int = 20000) -> None:
        """Wait until all commands are done and the segment is idle."""
        await self.cpu.all_taken()
        for master in self.masters:
            await master.drain()
        for _ in range(limit):
            await RisingEdge(self.dut.clk)
            if not int(self.dut.busy.value) and self.monitor.rules.idle:
                break
        assert not int(self.dut.busy.value), "still busy with nothing to do"
        assert int(self.dut.idle_out.value) and int(self.dut.idle_in.value)

    def by_cpu(self) -> list[Any]:
        """Return the transactions of the bridge."""
        return [t for t in self.monitor.transactions if t.master == 0]


async def begin(dut: Any, far_ns: int = 0, **settings: int) -> HostBench:
    """Return a bench out of reset."""
    bench = HostBench(dut, far_ns, **settings)
    await bench.start()
    return bench
