"""Codes of trace events.

Strategy: the codes are a file format, so its fixed properties are tested: size, ranges, uniqueness, unit numbers. The
generated SystemVerilog must equal the committed file, and trace points must use existing fields. Names for people are
sampled. The machine's log is read back through the same dtype.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.kernel import Kernel
from pymodels.machine.log import TraceLog
from pymodels.trace import (
    HARDWARE_EVENTS,
    RECORD,
    SOFTWARE_EVENTS,
    Part,
    TraceEvent,
    cable,
    event_name,
    switch_port,
    unit,
    unit_name,
)
from pymodels.trace_points import BUNDLES, DERIVED, GENERATED, Bundle

ROOT = Path(__file__).parents[3]


def test_a_record_has_40_bytes_in_the_order_of_the_ring() -> None:
    assert RECORD.itemsize == 40
    assert [RECORD.fields[name][1] for name in RECORD.names or ()] == [0, 8, 12, 14, 16, 20, 24, 32]  # type: ignore[index]


def test_every_code_is_used_once_and_hardware_begins_at_0x100() -> None:
    assert len({event.value for event in TraceEvent}) == len(TraceEvent.__members__)
    assert set(SOFTWARE_EVENTS) | set(HARDWARE_EVENTS) == set(TraceEvent)
    assert max(SOFTWARE_EVENTS) < 0x100 <= min(HARDWARE_EVENTS)


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_file_equals_the_output_of_the_module(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == GENERATED[name](), "run: python -m pymodels.trace_points"


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_a_trace_point_uses_existing_fields(bundle: Bundle) -> None:
    there = {field.name for field in bundle.fields} | {one.name for one in DERIVED} | {""}
    for point in bundle.points:
        assert {point.strobe, point.packet, point.argument, point.argument2, point.ago} <= there


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (unit(0, Part.HOST_CPU), "node 0 host CPU"),
        (unit(3, Part.NET_RECV), "node 3 net recv"),
        (unit(1, Part.HOST_DMA), "node 1 host DMA"),
        (switch_port(2, 5), "switch 2 port 5"),
        (cable(7), "cable 7"),
        (unit(2, Part.IO_CPU), "node 2 IO CPU"),
        (unit(0, Part.IO_CPU) + 1, "node 0 part 14"),
    ],
)
def test_units_have_names(number: int, name: str) -> None:
    assert unit_name(number) == name


def test_events_have_names() -> None:
    assert event_name(TraceEvent.SEND_CALL) == "send call"
    assert event_name(0xFFF) == "event 0xfff"


def test_the_log_returns_records() -> None:
    log = TraceLog(Kernel(), enabled=True)
    log.add(unit(1, Part.NIC_CPU), TraceEvent.NIC_ACCEPT, 0x06360102, 5, -7)
    row = log.array()[0]
    assert (row["time"], row["unit"], row["event"], row["packet"]) == (1, 18, 0x44, 0x06360102)
    assert (row["argument"], row["argument2"]) == (5, -7)
