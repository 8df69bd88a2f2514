"""Activity of units in a timeline: instruction paths, host DMA, stalls, and the use of SRAM, PCI and slack buffers."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence

from pymodels.trace import SWITCH_BASE, Part, TraceEvent
from tb.report.functions import Calls, Slice
from tb.report.timeline_places import CHAINS, CPU, DMA, HOST, NIC, PROCESSOR, SWITCH, Places, node_of, port_of
from tb.report.trace_events import Place, TraceEvents
from tb.report.wire import Row

ENDS = {
    TraceEvent.WORK_END: TraceEvent.WORK_START,
    TraceEvent.SPEND_END: TraceEvent.SPEND_START,
    TraceEvent.DMA_DONE: TraceEvent.DMA_START,
    TraceEvent.MOVE_DONE: TraceEvent.MOVE_START,
    TraceEvent.STALL_END: TraceEvent.STALL_START,
    TraceEvent.FRAME_END: TraceEvent.FRAME_START,
    TraceEvent.CALL_END: TraceEvent.CALL_START,
}
STARTS = frozenset(ENDS.values())
WINDOWS = {
    TraceEvent.SRAM_USE: ("SRAM use, %", "nic", 1024, 2),
    TraceEvent.PCI_USE: ("PCI use, %", "pci", 512, 1),
}
"""Name, clock, clocks of a window, and maximum uses a clock."""
COUNTED = frozenset((TraceEvent.SLACK_FILL, TraceEvent.QUEUE_FILL, TraceEvent.CONTROL_QUEUED, *WINDOWS))


class Units:
    """Converter of trace records to spans and counters."""

    def __init__(self, places: Places, events: TraceEvents, calls: Sequence[str] = ()) -> None:
        """Create the converter; `calls` has the names of application calls by number."""
        self._places, self._named = places, calls
        self._legend = places.legend
        self._events = events
        self._open: dict[tuple[int, int, int], Row] = {}
        self._works: dict[int, list[tuple[int, int]]] = defaultdict(list)
        """Begin and end of all instruction paths of NIC processors, by unit."""
        self._calls: dict[int, Calls] = defaultdict(Calls)
        """Call stacks of NIC processors that execute firmware, by unit."""
        self._went: dict[int, int] = {}
        """Times of the last change of function, by unit."""
        self._last = 0
        """Time of the last record."""
        self._until: dict[tuple[int, str], int] = {}
        """End of the last window, by counter."""

    def take(self, row: Row) -> None:
        """Convert the next record."""
        event, self._last = row[2], row[0]
        if event in STARTS:
            self._open[row[1], event, _lane(row)] = row
        elif event in ENDS:
            begun = self._open.pop((row[1], ENDS[TraceEvent(event)], _lane(row)), None)
            if begun is not None:
                self._span(begun, row)
        elif event == TraceEvent.FUNCTION:
            self._go_on(row)
        elif event in COUNTED:
            self._count(row)

    def finish(self) -> None:
        """End windows and functions after the last record; a call that has not returned is shown up to there."""
        for begun in self._open.values():
            if begun[2] == TraceEvent.CALL_START:
                name = f"{name_of(self._named, begun[4])}, not returned"
                self._events.span(self._places.application(node_of(begun[1])), name, begun[0], self._last)
        for unit, calls in self._calls.items():
            self._functions(unit, calls.end(self._last))
        for (process, name), end in self._until.items():
            self._events.counter(process, name, end, 0)

    def work_before(self, node: int, time: int) -> tuple[Place, int] | None:
        """Return the middle of the last instruction path that a NIC processor completed before `time`."""
        works = self._works[node * 16 + Part.NIC_CPU]
        index = bisect_right(works, time, key=lambda work: work[1]) - 1
        return ((NIC + node, PROCESSOR), sum(works[index]) // 2) if index >= 0 else None

    def _go_on(self, row: Row) -> None:
        """Handle the change of a NIC processor to another function."""
        time, unit, _, _, number, begins, _ = row
        if unit in self._went:
            self._works[unit].append((self._went[unit], time))
        self._went[unit] = time
        self._functions(unit, self._calls[unit].go_on(time, self._legend.function(number), bool(begins)))

    def _functions(self, unit: int, ended: Iterable[Slice]) -> None:
        for (name, called), begin, end in ended:
            told = f'"inline at":{json.dumps(called)}' if called else ""
            self._events.span((NIC + node_of(unit), PROCESSOR), name, begin, end, told)

    def _span(self, begun: Row, over: Row) -> None:
        (begin, unit, event, _, argument, more, _), end = begun, over[0]
        if event == TraceEvent.WORK_START:
            self._works[unit].append((begin, end))
            processor = (NIC + node_of(unit), PROCESSOR)
            self._events.span(processor, self._legend.path(argument), begin, end, f'"clocks":{more}')
        elif event == TraceEvent.SPEND_START:
            self._events.span((HOST + node_of(unit), CPU), self._legend.path(argument), begin, end)
        elif event == TraceEvent.CALL_START:
            self._events.span(self._places.application(node_of(unit)), name_of(self._named, argument), begin, end)
        elif event == TraceEvent.DMA_START:
            name = f"{abs(more)} B {'from' if more > 0 else 'to'} the host"
            self._events.span((NIC + node_of(unit), DMA + argument % CHAINS), name, begin, end)
        elif event == TraceEvent.MOVE_START:
            self._events.span(self._places.moves(node_of(unit)), f"{more} B to the FIFO", begin, end)
        elif event == TraceEvent.FRAME_START:
            name = f"{over[5]} B at {over[4]:#x}" if over[5] else f"read at {over[4]:#x}"
            self._events.span(self._places.of_display(node_of(unit)), name, begin, end)
        elif unit < SWITCH_BASE:
            self._events.span(self._places.leaving_host(node_of(unit)), "stopped", begin, end)
        else:
            switch, port = port_of(unit)
            self._events.span((SWITCH + switch, port), f"waits for port {argument}", begin, end)

    def _count(self, row: Row) -> None:
        time, unit, event, _, argument, *_ = row
        if event in WINDOWS:
            self._window(row)
        elif event == TraceEvent.CONTROL_QUEUED:
            self._events.counter(NIC + node_of(unit), "answers waiting", time, argument)
        elif event == TraceEvent.QUEUE_FILL:
            self._events.counter(SWITCH + port_of(unit)[0], "central queue, bytes", time, argument)
        elif unit >= SWITCH_BASE:
            switch, port = port_of(unit)
            self._events.counter(SWITCH + switch, f"slack of port {port}, characters", time, argument)
        else:
            self._events.counter(NIC + node_of(unit), "slack, characters", time, argument)

    def _window(self, row: Row) -> None:
        """Add a window of use that ends at the record; the use before it is 0 since the last window."""
        name, clock, clocks, most = WINDOWS[TraceEvent(row[2])]
        process = (NIC if row[2] == TraceEvent.SRAM_USE else HOST) + node_of(row[1])
        begin = row[0] - clocks * self._legend.clocks_ps[clock]
        last = self._until.get((process, name))
        if last is not None and last < begin:
            self._events.counter(process, name, last, 0)
        self._events.counter(process, name, begin, 100 * row[4] / (clocks * most))
        self._until[process, name] = row[0]


def name_of(calls: Sequence[str], number: int) -> str:
    """Return the name of a call."""
    return calls[number] if number < len(calls) else f"call {number}"


def _lane(row: Row) -> int:
    """Return the number that distinguishes overlapping activities of a unit: the chain of a host DMA."""
    return row[4] if row[2] in (TraceEvent.DMA_START, TraceEvent.DMA_DONE) else 0
