"""AM-II polling of endpoints in the NIC's memory over the bus. Strategy: reads of the trace are counted and timed."""

from __future__ import annotations

import pytest

from firmware.am2.nic.layout import ARRIVED, FRAMES
from pymodels.trace import Part, TraceEvent, unit
from tests.unit.am2.am2_bench import Bench


@pytest.mark.parametrize("each", [1, 3])
def test_a_poll_reads_one_word_of_each_endpoint_over_the_bus(each: int) -> None:
    bench = Bench(each=each)
    before = len(bench.machine.trace.records)
    assert bench.run(bench.bundles[0].poll()) == [0]
    cpu = unit(0, Part.HOST_CPU)
    records = [record for record in bench.machine.trace.records[before:] if record[1] == cpu]
    read = [record[4] for record in records if record[2] == TraceEvent.PIO_READ]
    base = bench.machine.host(0).nic_base
    assert read == [base + FRAMES + 8192 * number + ARRIVED for number in range(each)]
    assert not any(record[2] == TraceEvent.PIO_WRITE for record in records)


def test_a_poll_takes_at_least_the_time_of_a_bus_read() -> None:
    bench = Bench()
    kernel = bench.machine.kernel
    begun = kernel.now
    bench.run(bench.bundles[0].poll())
    assert kernel.now - begun >= bench.machine.timing.pio_read
