"""PCI monitor of sanlab.agents on resolved wires, beside the monitor of the block benches.

Strategy: both monitors follow the random traffic of two cores on the resolved wires of a bench. They must report equal
transactions. Agents that drive are rejected there.
"""

from __future__ import annotations

from typing import Any

import cocotb
import pytest

from tb.sanlab.agents import pci
from tests.block.test_pci_master_target import Bench, random_traffic


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def both_monitors_report_the_transactions_of_resolved_wires(dut: Any) -> None:
    bench = Bench(dut)
    bench.set(cfg_max_phases=3)
    bus = pci.PciBus.from_prefix(dut, "pci")
    monitor = pci.PciMonitor(bus, dut.clk, dut.rst)
    with pytest.raises(
        pci.PciError, match="PCI bus: resolved wires cannot be driven; use inputs <wire>_i with <wire>_o"
    ):
        pci.PciMaster(bus, dut.clk, dut.rst)
    await bench.start()
    await random_traffic(bench, 30)
    assert monitor.transactions == bench.monitor.transactions
    assert [done.start for done in monitor.transactions] == [done.start for done in bench.monitor.transactions]
    assert pci.Termination.DISCONNECT in {done.end for done in monitor.transactions}
