"""Computations of VIA studies: conditions, buffers, and the utilization of a NIC.

Strategy: small cases by hand; traces are made of a few records whose overlaps are known. Checks of the studies are fed
with values that violate them, in requests as users make them.
"""

from __future__ import annotations

import numpy as np
import pytest

from pymodels.kernel import Kernel
from pymodels.trace import RECORD, Part, TraceEvent, unit
from tb.lab.lab import Findings, Lab
from tb.plan import studies
from tb.plan.request import plan, resolve
from tb.studies.via import firmvia_packet_size
from tb.studies.via._via_busy import busy_percent
from tb.studies.via._via_case import Case
from tb.studies.via._via_ends import NETFINITY, stock
from tb.tools.paths import SIMULATORS


@pytest.fixture(autouse=True)
def without_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give labs a kernel, whose time is that of checks."""
    monkeypatch.setattr(Lab, "kernel", Kernel())


def lab_of(study: str, profile: str, settings: str = "") -> Lab:
    """Return a lab with a plan, without a simulation."""
    info = studies.load(study)
    lab = Lab.__new__(Lab)
    lab.plan = plan(resolve(study, "verilator", "1", False, "two_hosts", profile, settings, SIMULATORS), info)
    lab.findings = Findings()
    return lab


def test_a_long_message_is_cut_by_the_maximum_transfer_size() -> None:
    assert Case(10, most=4).pieces == [4, 4, 2]
    assert Case(8, most=4).pieces == [4, 4]
    assert Case(0).pieces == [0]


@pytest.mark.parametrize(("reuse", "fresh"), [(100, 0), (75, 25), (50, 50), (25, 75), (0, 100)])
def test_the_given_share_of_messages_uses_the_first_buffer(reuse: int, fresh: int) -> None:
    places = [Case(4, reuse=reuse).place(number) for number in range(100)]
    others = [place for place in places if place]
    assert len(others) == fresh and len(set(others)) == fresh, "a fresh buffer is used once"
    assert max(others, default=0) <= fresh


def test_overlapping_transfers_count_once_and_only_inside_the_interval() -> None:
    dma = unit(1, Part.HOST_DMA)
    rows = [
        (10, dma, TraceEvent.DMA_START),
        (30, dma, TraceEvent.DMA_START),
        (40, dma, TraceEvent.DMA_DONE),
        (60, dma, TraceEvent.DMA_DONE),
        (90, dma, TraceEvent.DMA_START),
        (120, dma, TraceEvent.DMA_DONE),
        (50, unit(0, Part.HOST_DMA), TraceEvent.DMA_START),
        (95, unit(1, Part.NIC_CPU), TraceEvent.WORK_START),
        (99, unit(1, Part.NIC_CPU), TraceEvent.WORK_END),
    ]
    trace = np.zeros(len(rows), dtype=RECORD)
    for row, (time, where, event) in zip(trace, rows, strict=True):
        row["time"], row["unit"], row["event"] = time, where, event
    # 20 to 60 and 90 to 100 of 80; 95 to 99 of 80
    assert busy_percent(trace, 1, 20, 100) == {"dma": 100 * 50 / 80, "processor": 100 * 4 / 80}


@pytest.mark.parametrize(
    ("profile", "settings", "as_it_is"),
    [
        ("sp", "", True),
        ("sp+p3-450", "messages=5", True),
        ("sp", "clock.nic_ps=8000", False),
        ("sp", "via.inline=16", False),
        ("sp+p2-300", "", False),
        ("sp-future", "", False),
        ("lanai9", "", False),
    ],
)
def test_claims_of_a_paper_are_checked_on_its_own_system_only(profile: str, settings: str, as_it_is: bool) -> None:
    assert stock(lab_of("firmvia_packet_size", profile, settings), NETFINITY) == as_it_is


@pytest.mark.parametrize(
    ("profile", "changed", "failures"),
    [
        ("sp", {}, 0),
        ("sp", {"rate 2032": 103.0}, 1),
        ("sp", {"rate 1000": 103.0}, 1),
        ("lanai9", {"rate 1000": 103.0}, 0),
        ("lanai9", {"packets 1024": 6}, 1),
    ],
)
def test_packet_sizes_out_of_order_fail_the_study(profile: str, changed: dict[str, float], failures: int) -> None:
    lab = lab_of("firmvia_packet_size", profile)
    counts = {512: 10, 1000: 6, 1024: 5, 2032: 4}
    usual = {512: 80.0, 1000: 98.0, 1024: 102.0, 2032: 98.0}
    rates = {payload: changed.get(f"rate {payload}", rate) for payload, rate in usual.items()}
    for payload, count in counts.items():
        lab.metric(f"packets_of_5000B_payload_{payload}", changed.get(f"packets {payload}", count))
    firmvia_packet_size._check(lab, rates)
    assert len(lab.findings.failures) == failures
