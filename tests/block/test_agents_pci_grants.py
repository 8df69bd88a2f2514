"""PCI masters of sanlab.agents under an arbiter of the design.

Strategy: two masters use bits of the design's `req_n` and `gnt_n`. They write different ranges of one target at once.
The memory must hold both, the masters must take turns, and the bus rules are checked in each clock.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles

from tb.sanlab.agents import pci


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def masters_take_turns_under_the_arbiter_of_the_design(dut: Any) -> None:
    dut.rst.value = 1
    dut.pci_req_n.value = 3
    Clock(dut.clk, 30, unit="ns", impl="gpi").start(start_high=False)
    bus = pci.PciBus.from_prefix(dut, "pci")
    given = (bus, dut.clk, dut.rst)
    masters = [pci.PciMaster(*given, port=port) for port in range(2)]
    memory = bytearray(512)
    pci.PciTarget(*given, memory, 0x1000)
    monitor = pci.PciMonitor(*given)
    await ClockCycles(dut.clk, 4)
    dut.rst.value = 0

    async def several(number: int) -> None:
        for at in range(0, 256, 16):
            await masters[number].write(0x1000 + 256 * number + at, bytes([number + 1] * 16))

    for task in [cocotb.start_soon(several(number)) for number in range(2)]:
        await task
    assert memory == b"\x01" * 256 + b"\x02" * 256
    turns = [done.master for done in monitor.transactions]
    assert all(set(turns[at : at + 2]) == {0, 1} for at in range(0, 28, 2)), turns
