"""The PCI monitor on hand-written samples: transactions with their times, violations, callbacks.

Strategy: the traces of the protocol checker's tests become samples, each written once for any number of equal clock
edges. The same trace with a violation must report the rule and its time, and the next transaction must be decoded.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from pymodels.pci.pci import Transaction
from pymodels.pci.rules import Sample
from tb.monitors.pci import PciBusMonitor, sample_of
from tests.unit.hardware.test_pci_rules import IDLE, read_one, retry, write_burst
from tests.unit.monitors.wires import Store, pci_wires, shown

PERIOD = 15_000


@pytest.fixture(name="store")
def fixture_store() -> Store:
    return Store()


def monitor(store: Store) -> PciBusMonitor:
    return PciBusMonitor("paris.pci", 9, PERIOD, store, {})  # type: ignore[arg-type]


def feed(store: Store, trace: list[Sample], first: int = 0) -> None:
    store.decode(*shown([pci_wires(sample) for sample in trace], PERIOD, first))


@pytest.mark.parametrize("trace", [write_burst(3, wide=True), read_one(), retry()])
def test_wires_are_packed_and_unpacked(trace: list[Sample]) -> None:
    assert [sample_of(*pci_wires(sample)) for sample in trace] == trace


def test_transactions_have_the_number_of_their_first_clock(store: Store) -> None:
    seen = monitor(store)
    feed(store, [*write_burst(), *read_one()], first=1000)
    write, read = seen.transactions
    assert (write.start, write.clocks, read.start) == (1001, 3, 1000 + len(write_burst()) + 1)
    assert seen.row(read) == {
        "start_ps": read.start * PERIOD,
        "end_ps": (read.start + 3) * PERIOD,
        "command": "memory read",
        "master": 0,
        "address": 0x2000,
        "bytes": 4,
        "data": b"\xfe\xca\x00\x00",
        "phases": 1,
        "wait_clocks": 2,
        "end": "completion",
    }


def test_equal_clock_edges_are_one_sample(store: Store) -> None:
    seen = monitor(store)
    trace = read_one()
    feed(store, [*trace[:4], *[replace(trace[3], par=trace[4].par)] * 4, *trace[4:]])
    (read,) = seen.transactions
    assert (read.clocks, read.wait_clocks) == (8, 6) and not seen.violations


def test_a_violation_has_a_time_and_the_next_transaction_is_decoded(store: Store) -> None:
    seen = monitor(store)
    broken = [replace(sample, cbe=0xF1) if at == 3 else sample for at, sample in enumerate(write_burst(2))]
    feed(store, [*broken, IDLE, *write_burst()])
    assert [each.time for each in seen.violations] == [3 * PERIOD]
    assert "C/BE# changed within a data phase" in seen.violations[0].rule
    assert len(seen.transactions) == 1


def test_a_monitor_that_begins_within_a_transaction_waits_for_the_idle_bus(store: Store) -> None:
    seen = monitor(store)
    feed(store, [*write_burst(4)[3:], *read_one()])
    assert len(seen.transactions) == 1 and not seen.violations


def test_callbacks_make_the_monitor_live(store: Store) -> None:
    seen, got = monitor(store), list[Transaction]()
    assert not store.live_units
    seen.add_callback(got.append)
    feed(store, write_burst())
    assert store.live_units == [9] and got == seen.transactions
