"""Machine and RTL record the same: arguments and message of every event, order in each unit, number of records.

Strategy: a layer of each NIC kind starts, and sends messages one by one (`tests/system/scenarios/trace_tour.py`), on
the RTL and on the machine. The records of each unit and event are compared in order, without their times, which the
machine only approximates. Three tables name the differences, each with its reason: events that only the RTL records,
events that no tour reaches, and events whose number or order depends on time. A reason that no longer applies fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from pymodels.machine import Machine
from pymodels.profiles import load_profile
from pymodels.trace import PARTS_PER_NODE, SWITCH_BASE, Part, TraceEvent, unit_name
from tb.report.recorded import LEGEND, read_legend
from tests.system.runs import must
from tests.system.scenarios.trace_tour import tour
from tests.unit.layers.mail_bench import MailBench

Row = tuple[int, int | str, int, int]
"""Packet, argument, argument2, message."""
Rows = dict[tuple[int, TraceEvent], list[Row]]
"""Records of each unit and event, in order of time."""


@dataclass(frozen=True)
class Case:
    """A layer on a kind of NIC."""

    layer: str
    profile: str = "lanai9"
    cluster: str = "two_hosts"
    nodes: int = 2
    largest: int = 3000
    """Size of the longest message in bytes."""

    def __str__(self) -> str:
        return f"{self.layer}-{self.profile}"


WHOLE = 700
"""Longest message that GRIM delivers only after all of it has arrived."""
CASES = (
    Case("echo"),
    Case("grim", largest=WHOLE),
    Case("hal"),
    Case("am"),
    Case("am2"),
    Case("epos"),
    Case("lapi"),
    Case("via"),
    Case("am", "lanai4"),
    Case("via", "sp"),
    Case("hpam", "fifo", "fifo_cards", 4),
)
RELEASED = ("lanai9", "lanai4")
"""Kinds whose cards the cluster releases from reset before the layer starts; the machine begins after that store."""

NO_CHARACTERS = "the machine moves packets in chunks and has no characters"
NO_CLOCKS = "the machine has no clocks, so no clocks in which something was used"
RTL_ONLY: dict[tuple[TraceEvent, Part | None], str] = {
    (TraceEvent.TX_HEAD, Part.LINK): NO_CHARACTERS,
    (TraceEvent.TX_TAIL, Part.LINK): NO_CHARACTERS,
    (TraceEvent.RX_HEAD, Part.LINK): NO_CHARACTERS,
    (TraceEvent.RX_TAIL, Part.LINK): NO_CHARACTERS,
    (TraceEvent.STALL_START, None): "a head requests its output for some edges even if it is free",
    (TraceEvent.STALL_END, None): "a head requests its output for some edges even if it is free",
    (TraceEvent.SLACK_FILL, None): NO_CHARACTERS,
    (TraceEvent.SRAM_USE, Part.SRAM): NO_CLOCKS,
    (TraceEvent.PCI_USE, Part.PCI): NO_CLOCKS,
}
"""Events that only the RTL records, at one part of a node or at switches (None)."""

NO_KERNEL = "no tour has a layer that records calls or a kernel (`tests/system/test_udp.py`)"
NO_CODE = "only a NIC that executes machine code records it (`tests/system/executed/test_executed.py`)"
NO_LOSS = "no packet is lost or rejected: the machine and the RTL draw losses differently"
NO_REMOTE = "mail has no remote memory and no multicast (`tests/system/grim/test_remote_memory.py`)"
NO_QUEUE = "no tour has an SP switch with a central queue; the machine has none (`tests/system/sp/test_sp_network.py`)"
NO_CARD = "no tour has another card; the machine has none (`tests/system/cards/test_cards.py`)"
NO_FAULT = "no fault is injected (`tests/system/test_faults.py`)"
NOT_REACHED = {
    TraceEvent.TRAPPED: NO_KERNEL,
    TraceEvent.IN_KERNEL: NO_KERNEL,
    TraceEvent.IN_PROCESS: NO_KERNEL,
    TraceEvent.CALL_START: NO_KERNEL,
    TraceEvent.CALL_END: NO_KERNEL,
    TraceEvent.FUNCTION: NO_CODE,
    TraceEvent.INSTRUCTION: NO_CODE,
    TraceEvent.NIC_DROPPED: NO_LOSS,
    TraceEvent.NACK_SENT: NO_LOSS,
    TraceEvent.NACK_SEEN: NO_LOSS,
    TraceEvent.ROLLBACK: NO_LOSS,
    TraceEvent.RESEND: NO_LOSS,
    TraceEvent.CONTROL_QUEUED: NO_LOSS,
    TraceEvent.TIMEOUT: NO_LOSS,
    TraceEvent.PARTED: NO_LOSS,
    TraceEvent.JOINED: NO_LOSS,
    TraceEvent.TRANSLATION_MISS: NO_REMOTE,
    TraceEvent.TRANSLATION_DONE: NO_REMOTE,
    TraceEvent.NIC_REPLY: NO_REMOTE,
    TraceEvent.NIC_COPY: NO_REMOTE,
    TraceEvent.SWITCH_QUEUE: NO_QUEUE,
    TraceEvent.QUEUE_FILL: NO_QUEUE,
    TraceEvent.CARD_TAKE: NO_CARD,
    TraceEvent.CARD_GIVE: NO_CARD,
    TraceEvent.FRAME_START: NO_CARD,
    TraceEvent.FRAME_END: NO_CARD,
    TraceEvent.FAULT: NO_FAULT,
    TraceEvent.BEAT_MISSED: NO_FAULT,
    TraceEvent.BEAT_BACK: NO_FAULT,
    TraceEvent.LINK_DOWN: NO_FAULT,
    TraceEvent.LINK_UP: NO_FAULT,
}
"""Events that no tour reaches."""


def once(rows: list[Row]) -> object:
    """Return each distinct record once."""
    return sorted(set(rows))


def arguments(rows: list[Row]) -> object:
    """Return each distinct first argument once."""
    return sorted({argument for _, argument, *_ in rows}, key=str)


def in_page(rows: list[Row]) -> object:
    """Return the records in order, with addresses reduced to offsets within their pages."""
    return [(packet, int(argument) & 0xFFF, more, message) for packet, argument, more, message in rows]


def moved(rows: list[Row]) -> object:
    """Return the arguments in any order, without the packet."""
    return sorted((int(argument), more) for _, argument, more, _ in rows)


def pieces(rows: list[Row]) -> object:
    """Return packets and sizes in order, without the first argument."""
    return [(packet, more) for packet, _, more, _ in rows]


LOOPS = "how often a loop turns, and what it finds first, depends on time"
Reduction = tuple[Callable[[list[Row]], object], str]
"""Reduction of records before the comparison, and its reason."""
TURNS: dict[TraceEvent, Reduction] = {
    TraceEvent.WORK_START: (arguments, LOOPS),
    TraceEvent.WORK_END: (arguments, LOOPS),
}
"""Reductions for every layer."""
POLLS: dict[TraceEvent, Reduction] = {
    TraceEvent.SPEND_START: (arguments, LOOPS),
    TraceEvent.SPEND_END: (arguments, LOOPS),
    TraceEvent.PIO_READ: (arguments, LOOPS),
}
DRAWN = "the pages of a process are drawn with a seed of the host"
WAKES = "the number of messages that an interrupt reports depends on time"
ORDER = "which of two transfers begins first depends on time"
TIMED: dict[str, dict[TraceEvent, Reduction]] = {
    "am2": POLLS,
    "epos": POLLS,
    "hpam": POLLS,
    "via": {
        **POLLS,
        TraceEvent.POSTED: (in_page, DRAWN),
        TraceEvent.NIC_DESCRIPTOR: (in_page, DRAWN),
        TraceEvent.INTERRUPT: (once, WAKES),
        TraceEvent.PIO_WRITE: (once, WAKES),
        TraceEvent.PIO_ACCEPT: (once, WAKES),
        TraceEvent.DMA_START: (moved, ORDER),
        TraceEvent.DMA_DONE: (moved, ORDER),
        TraceEvent.MOVE_START: (pieces, ORDER),
        TraceEvent.MOVE_DONE: (pieces, ORDER),
    },
}
"""Further reductions of single layers."""
PATHS = (TraceEvent.WORK_START, TraceEvent.WORK_END, TraceEvent.SPEND_START, TraceEvent.SPEND_END)
"""Events whose first argument is the number of a path, and whose second is its duration."""


@dataclass(frozen=True)
class Tours:
    """Records of one tour on the RTL and on the machine."""

    rtl: Rows
    machine: Rows
    control: int
    """Address of the control register of each host's card."""


def rows_of(records: NDArray[np.void], paths: Iterable[str]) -> Rows:
    """Return the records by unit and event, paths by name and without their durations."""
    names = [path.rpartition(":")[2] for path in paths]
    found: Rows = {}
    for _, unit, code, _, packet, argument, more, message in np.sort(records, order="time", kind="stable").tolist():
        event = TraceEvent(code)
        row = (packet, names[argument], 0, 0) if event in PATHS else (packet, argument, more, message)
        found.setdefault((unit, event), []).append(row)
    return found


def on_machine(case: Case) -> tuple[Rows, Machine]:
    """Return the records of a tour on the machine."""
    bench = MailBench(case.layer, case.nodes, nic=load_profile(case.profile).kind, trace=True)
    bench.run(tour(bench.machine.kernel, bench.mails, case.largest))
    return rows_of(bench.machine.trace.array(), bench.machine.trace.paths), bench.machine


@pytest.fixture(name="tours", scope="module")
def fixture_tours(tmp_path_factory: pytest.TempPathFactory) -> dict[Case, Tours]:
    """Return every tour, made once."""
    made = {}
    for case in CASES:
        settings = f"layer={case.layer} largest={case.largest}"
        folder = tmp_path_factory.mktemp(str(case))
        done = must("trace_tour", "verilator", folder, settings, case.cluster, profile=case.profile)
        rtl = rows_of(np.load(done.folder / "trace.npy"), read_legend(done.folder / LEGEND).paths)
        machine, model = on_machine(case)
        made[case] = Tours(rtl, machine, model.host(0).card.control)
    return made


def _released(case: Case, tours: Tours) -> Rows:
    """Return the records of the RTL without the store that releases each card from reset."""
    rows = {key: list(found) for key, found in tours.rtl.items()}
    for node in range(case.nodes if case.profile in RELEASED else 0):
        first = rows[node * PARTS_PER_NODE + Part.HOST_CPU, TraceEvent.PIO_WRITE].pop(0)
        assert first == (0, tours.control, 4, 0)
        rows[node * PARTS_PER_NODE + Part.BRIDGE, TraceEvent.PIO_ACCEPT].pop(0)
    return rows


def _rtl_only(unit: int, event: TraceEvent) -> bool:
    part = Part(unit % PARTS_PER_NODE) if unit < SWITCH_BASE else None
    return (event, part) in RTL_ONLY


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_argument_is_the_same_on_the_machine_and_the_rtl(case: Case, tours: dict[Case, Tours]) -> None:
    rtl, machine = _released(case, tours[case]), tours[case].machine
    reductions = {**TURNS, **TIMED.get(case.layer, {})}
    differ = []
    for key in sorted(rtl.keys() | machine.keys()):
        unit, event = key
        if _rtl_only(unit, event):
            assert key not in machine, f"{unit_name(unit)}: the machine records {event.name}: take it out of RTL_ONLY"
            continue
        reduced, _ = reductions.get(event, (list, ""))
        if reduced(rtl.get(key, [])) != reduced(machine.get(key, [])):
            differ.append(f"{unit_name(unit)}: {event.name}: RTL {rtl.get(key)}, machine {machine.get(key)}")
    assert not differ, "\n".join(differ)


def test_every_event_is_reached_or_has_a_reason(tours: dict[Case, Tours]) -> None:
    reached = {event for one in tours.values() for rows in (one.rtl, one.machine) for _, event in rows}
    assert {event.name for event in NOT_REACHED} == {event.name for event in TraceEvent if event not in reached}


def test_every_exception_is_needed(tours: dict[Case, Tours]) -> None:
    """Check that an event of the RTL only is recorded there, and that a layer's tours need each reduction."""
    recorded = {
        (event, Part(unit % PARTS_PER_NODE) if unit < SWITCH_BASE else None)
        for one in tours.values()
        for unit, event in one.rtl
    }
    assert RTL_ONLY.keys() <= recorded
    needed = {
        (case.layer, event)
        for case, one in tours.items()
        for (unit, event), rows in _released(case, one).items()
        if rows != one.machine.get((unit, event)) and not _rtl_only(unit, event)
    }
    listed = {(layer, event) for layer, timed in TIMED.items() for event in timed}
    assert listed <= needed
    assert {event for _, event in needed} >= TURNS.keys()
