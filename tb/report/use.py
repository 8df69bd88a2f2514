"""Utilisation of shared resources: host CPU, NIC processor, SRAM, PCI bus, both directions of each host's link.

Shares refer to the time from the first `send` to the end of the last message or, without messages, to the whole trace.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from pymodels.trace import PARTS_PER_NODE, SWITCH_BASE, TraceEvent
from tb.report.lives import Lives
from tb.report.recorded import Legend
from tb.report.timeline_units import WINDOWS
from tb.report.wire import Row

CPU, PROCESSOR, SRAM, PCI, LINK_OUT, LINK_IN = "host CPU", "NIC processor", "SRAM", "PCI bus", "link out", "link in"
RESOURCES = (CPU, PROCESSOR, SRAM, PCI, LINK_OUT, LINK_IN)
BUSY = {TraceEvent.WORK_END: (TraceEvent.WORK_START, PROCESSOR), TraceEvent.SPEND_END: (TraceEvent.SPEND_START, CPU)}


@dataclass
class Use:
    """Utilisation of one host by resource, 0 to 1."""

    shares: dict[str, float] = field(default_factory=dict)


def window_of(lives: Lives, records: list[Row]) -> tuple[int, int]:
    """Return the time from the first `send` to the end of the last message, in ps."""
    ends = [life.arrived for life in lives.lives if life.arrived is not None]
    if ends:
        return lives.lives[0].sent, max(ends)
    return (records[0][0], records[-1][0]) if records else (0, 0)


def uses(legend: Legend, lives: Lives, records: list[Row]) -> list[Use]:
    """Return the utilisation of each host's resources by node; empty if no time passed."""
    begin, end = window_of(lives, records)
    if end <= begin:
        return []
    busy: dict[tuple[int, str], float] = defaultdict(float)
    _software(busy, records, begin, end)
    _windows(busy, records, legend, begin, end)
    _links(busy, lives, begin, end)
    span = end - begin
    nodes = range(len(legend.hosts))
    return [Use({name: min(1.0, busy[node, name] / span) for name in RESOURCES}) for node in nodes]


def _software(busy: dict[tuple[int, str], float], records: list[Row], begin: int, end: int) -> None:
    """Add the time of instruction paths."""
    open_at: dict[tuple[int, int], int] = {}
    for time, unit, event, *_ in records:
        if event in STARTS:
            open_at[unit, event] = time
        elif event in BUSY:
            start, name = BUSY[TraceEvent(event)]
            begun = open_at.pop((unit, start), None)
            if begun is not None:
                busy[unit // PARTS_PER_NODE, name] += max(0, min(time, end) - max(begun, begin))


def _windows(busy: dict[tuple[int, str], float], records: list[Row], legend: Legend, begin: int, end: int) -> None:
    """Add the use of SRAM and PCI from windows of their clock."""
    for time, unit, event, _, argument, *_ in records:
        if event in WINDOWS and unit < SWITCH_BASE:
            _, clock, clocks, most = WINDOWS[TraceEvent(event)]
            length = clocks * legend.clocks_ps[clock]
            within = max(0, min(time, end) - max(time - length, begin))
            name = SRAM if event == TraceEvent.SRAM_USE else PCI
            busy[unit // PARTS_PER_NODE, name] += within * argument / (clocks * most)


def _links(busy: dict[tuple[int, str], float], lives: Lives, begin: int, end: int) -> None:
    """Add the time on cables from a packet's first character to its GAP."""
    for packet in lives.wire.packets:
        if packet.tx_head is not None and packet.tx_tail is not None:
            busy[packet.source, LINK_OUT] += max(0, min(packet.tx_tail, end) - max(packet.tx_head, begin))
        if packet.rx_head is not None and packet.rx_tail is not None and packet.target is not None:
            busy[packet.target, LINK_IN] += max(0, min(packet.rx_tail, end) - max(packet.rx_head, begin))


STARTS = frozenset(start for start, _ in BUSY.values())
