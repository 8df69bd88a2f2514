"""PCI bus of a host in cocotb tests: bursts of a DMA, retries, interrupt latency, and a check written as a class.

Strategy: engines move known bytes without firmware, while a class samples the wires at each PCI clock. What it decodes
is compared with the settings that bound bursts, retries and latencies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge, Timer
from cocotb.utils import get_sim_time

from pymodels.pci.pci import Command
from pymodels.registers import Isr, Reg
from tb.sanlab.cocotb import pytest_cases, start
from tb.studies.kit.engines import SCRATCH, engines

PUBLIC = ["paris.pci.*", "paris.pci_clk", "paris.interrupt.intr"]
DATA = bytes(number * 7 & 0xFF for number in range(1024))


@dataclass
class Transfer:
    """Transaction on the bus: command, address, bytes moved, and how it ended."""

    command: Command
    address: int
    decoded_after: int = 0
    """Clocks from the address phase to DEVSEL#; 0 without an answer."""
    moved: int = 0
    """Bytes of its data phases, enabled or not."""
    stopped: bool = False

    @property
    def is_retry(self) -> bool:
        """True if the target ended the transaction before any data."""
        return self.stopped and not self.moved


@dataclass
class BusCheck:
    """Check of a node's PCI bus: decodes its transactions, and collects violations of a DEVSEL# limit.

    Args:
        node: Signals of the node.
        devsel_limit: Clocks after the address phase by which a target must answer.
    """

    node: Any
    devsel_limit: int = 4
    transfers: list[Transfer] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        pci, clock = self.node.pci, RisingEdge(self.node.pci_clk)
        one: Transfer | None = None
        clocks = 0
        while True:
            await clock
            await ReadOnly()
            frame, irdy, trdy, stop, devsel = (
                not int(wire.value) for wire in (pci.frame_n, pci.irdy_n, pci.trdy_n, pci.stop_n, pci.devsel_n)
            )
            if one is None:
                if frame:
                    one, clocks = Transfer(Command(int(pci.cbe.value) & 0xF), int(pci.ad.value) & 0xFFFFFFFF), 0
                continue
            clocks += 1
            if devsel and not one.decoded_after:
                one.decoded_after = clocks
                if clocks > self.devsel_limit:
                    self.violations.append(f"{one.command.name} {one.address:#010x}: DEVSEL# after {clocks} clocks")
            if (trdy or devsel) and trdy > devsel:
                self.violations.append(f"{one.command.name} {one.address:#010x}: TRDY# without DEVSEL#")
            if irdy and trdy:
                one.moved += 4 if int(pci.ack64_n.value) else 8
            one.stopped |= stop
            if not frame and (not irdy or trdy or stop):
                self.transfers.append(one)
                one = None

    def at(self, begin: int, size: int) -> list[Transfer]:
        """Return the transactions whose address is in a region."""
        return [one for one in self.transfers if begin <= one.address < begin + size]


@cocotb.test()
async def a_dma_is_cut_into_bursts_of_the_longest_transaction(dut: Any) -> None:
    cluster = await start(dut, settings={"pci.max_burst": 256})
    check, lab = BusCheck(cluster.node("paris")), cluster.lab
    own = await cluster.call(lambda: [engines(lab)])
    buffer = lab.running.hosts[0].allocate(4096)
    lab.running.nics[0].sram[SCRATCH : SCRATCH + len(DATA)] = DATA
    await cluster.call(own[0].transfer(len(DATA), buffer.address, False))
    assert lab.running.hosts[0].load_bytes(buffer.address, len(DATA)) == DATA
    bursts = [one for one in check.at(buffer.address, 4096) if one.command.writes]
    assert [one.address - buffer.address for one in bursts] == [0, 256, 512, 768]
    assert [one.moved for one in bursts] == [256] * 4
    assert not any(one.stopped for one in bursts)
    await cluster.end()


@cocotb.test()
async def a_read_that_waits_is_retried_until_its_data_are_there(dut: Any) -> None:
    cluster = await start(dut, settings={"pci.read_wait": 0, "pci.read_initial": 0})
    check, host = BusCheck(cluster.node("paris")), cluster.host("paris").verbs
    address = host.nic_base + SCRATCH
    cluster.lab.running.nics[0].sram[SCRATCH : SCRATCH + 4] = bytes.fromhex("c0ffee01")
    assert await host.pio_read(address) == 0xC0FFEE01
    await Timer(1, "us")
    *retries, last = check.at(address, 4)
    assert retries and all(one.is_retry for one in retries), "the card asks its master to come again"
    assert last.moved == 4 and not last.is_retry
    assert len({(one.command, one.address) for one in (*retries, last)}) == 1, "a retry repeats the same request"
    await cluster.end()


@cocotb.test()
async def the_interrupt_routine_starts_after_the_latency_of_the_host(dut: Any) -> None:
    cluster = await start(dut, settings={"host.interrupt_min_ns": 3000, "host.interrupt_max_ns": 5000})
    lab, paris = cluster.lab, cluster.node("paris")
    host = lab.running.hosts[0]
    isr = host.card.register(Reg.ISR)
    own = await cluster.call(lambda: [engines(lab)])
    started, served = list[int](), host.event("an interrupt to be served")

    async def service() -> None:
        started.append(lab.kernel.now)
        await host.pio_write(isr, host.card.signal(1 << Isr.HOST_SIG).to_bytes(4, "big"))
        await host.pio_read(isr)
        served.set()

    host.on_interrupt(service)
    risen = list[int]()
    for _ in range(3):
        rise = RisingEdge(paris.interrupt.intr)
        waiting = cocotb.start_soon(_time_of(rise))
        await cluster.call(own[0].interrupt)
        risen.append(await waiting)
        await cluster.call(served.wait())
        await Timer(1, "us")
        assert int(paris.interrupt.intr.value) == 0, "the routine has cleared the cause"
    latencies = [(start - rise) / 1000 for rise, start in zip(risen, started, strict=True)]
    assert all(3000 <= latency <= 5100 for latency in latencies), latencies
    assert len(set(latencies)) == 3, "each latency is drawn anew"
    await cluster.end()


async def _time_of(trigger: Any) -> int:
    await trigger
    return int(get_sim_time("ps"))


@cocotb.test()
async def a_check_of_ones_own_sees_each_transaction_and_can_fail(dut: Any) -> None:
    cluster = await start(dut)
    paris, host = cluster.node("paris"), cluster.host("paris").verbs
    check, strict = BusCheck(paris), BusCheck(paris, devsel_limit=0)
    address = host.nic_base + SCRATCH
    for number in range(3):
        await host.pio_write(address + 4 * number, number.to_bytes(4, "big"))
    assert await host.pio_read(address + 8) == 2, "the writes have arrived before the read"
    await Timer(1, "us")
    written = [one for one in check.at(address, 12) if one.command.writes]
    assert sum(one.moved for one in written) == 12
    assert check.violations == []
    assert len(strict.violations) == len(strict.transfers) == len(check.transfers), "no target answers at once"
    await cluster.end()


test_cluster = pytest_cases(globals())
