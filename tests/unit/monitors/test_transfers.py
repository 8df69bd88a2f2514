"""Host DMA and doorbells, derived from hand-written transactions of a bus.

Strategy: a bus passes transactions to its listeners. A transfer that is cut by Retry, Disconnect, the latency timer or
the longest burst is one transfer; two transfers to adjacent addresses are two.
"""

from __future__ import annotations

import pytest

from pymodels.cards import DOORBELLS
from pymodels.pci.pci import Command, Phase, Termination, Transaction
from tb.monitors.pci import PciBusMonitor
from tb.monitors.transfers import BRIDGE, NIC, Doorbell, DoorbellMonitor, HostDma, HostDmaMonitor
from tests.unit.monitors.wires import Store

TO, FROM = Command.MEMORY_WRITE, Command.MEMORY_READ_LINE


class Bus(PciBusMonitor):
    """Bus whose transactions are written by hand."""

    def __init__(self) -> None:
        super().__init__("paris.pci", 9, 15_000, Store(), {})  # type: ignore[arg-type]
        self.clock = 100

    def add(
        self,
        address: int,
        data: bytes,
        command: Command = TO,
        end: Termination = Termination.COMPLETION,
        master: int = NIC,
        waits: int = 1,
    ) -> None:
        """Finish a 32-bit transaction of `data`, whose first byte is at `address`, and leave two clocks idle."""
        phases = []
        for at in range(address & ~3, address + len(data), 4):
            lanes = [lane for lane in range(4) if address <= at + lane < address + len(data)]
            word = sum(data[at + lane - address] << 8 * lane for lane in lanes)
            phases.append(Phase(at, word, sum(1 << lane for lane in lanes)))
        clocks = 1 + waits + len(phases)
        self._finished(Transaction(command, address & ~3, False, master, tuple(phases), end, self.clock, clocks))
        self.clock += clocks + 2


def transfers(bus: Bus, timer: int = 0, burst: int = 0) -> HostDmaMonitor:
    return HostDmaMonitor("paris.dma", bus, timer, burst)


def test_a_transfer_continues_after_retry_and_disconnect() -> None:
    bus = Bus()
    dma = transfers(bus)
    bus.add(0x1002, b"", FROM, Termination.RETRY)
    bus.add(0x5000, b"x" * 4, master=BRIDGE)
    bus.add(0x1002, b"abcdef", FROM, Termination.DISCONNECT)
    bus.add(0x1008, b"ghi", FROM)
    assert dma.transactions == []
    dma.finish(10**9, complete=True)
    (one,) = dma.transactions
    assert one == HostDma(False, 0x1002, b"abcdefghi", transactions=3, retries=1) and one.start == 100
    assert dma.row(one)["end_ps"] == (bus.clock - 3) * 15_000 and dma.row(one)["command"] == "from host"


def test_adjacent_transfers_are_separate() -> None:
    bus = Bus()
    dma = transfers(bus)
    bus.add(0x1000, bytes(8))
    bus.add(0x1008, bytes(4))
    assert [(one.address, len(one.data)) for one in dma.transactions] == [(0x1000, 8)]
    dma.finish(10**9, complete=True)
    assert len(dma.transactions) == 2


def test_a_retry_of_another_transfer_begins_a_transfer() -> None:
    bus = Bus()
    dma = transfers(bus)
    bus.add(0x1000, bytes(8), end=Termination.DISCONNECT)
    bus.add(0x2000, bytes(8))
    bus.add(0x2008, bytes(8), FROM)
    dma.finish(10**9, complete=True)
    assert [one.address for one in dma.transactions] == [0x1000, 0x2000, 0x2008]


@pytest.mark.parametrize(("timer", "burst", "count"), [(0, 0, 2), (16, 0, 1), (0, 64, 1), (40, 128, 2)])
def test_the_latency_timer_and_the_longest_burst_cut_a_transfer(timer: int, burst: int, count: int) -> None:
    bus = Bus()
    dma = transfers(bus, timer, burst)
    bus.add(0x1000, bytes(64))
    bus.add(0x1040, bytes(16))
    dma.finish(10**9, complete=True)
    assert len(dma.transactions) == count


def test_stores_to_the_region_are_doorbells() -> None:
    bus = Bus()
    bells = DoorbellMonitor("paris.doorbell", bus, DOORBELLS)
    bus.add(DOORBELLS.start - 4, b"abcd", master=BRIDGE)
    bus.add(DOORBELLS.start + 0x40, b"abcd", FROM, master=BRIDGE)
    bus.add(DOORBELLS.start + 0x40, b"", TO, Termination.RETRY, master=BRIDGE)
    start = bus.clock
    bus.add(DOORBELLS.start + 0x40, b"abcd", TO, master=BRIDGE)
    assert bells.transactions == [Doorbell(0x40, b"abcd")]
    assert (bells.transactions[0].start, bells.transactions[0].end) == (start, start + 2)
    assert bells.row(bells.transactions[0])["command"] == "doorbell"
