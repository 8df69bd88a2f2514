"""Do a board and a netlist move a message in the same clocks as the RTL?

Strategy: messages of `echo` go back and forth, one at a time, so that the records of each unit belong to the messages
in order. Intervals between records of hardware are counted in clocks. With `beside`, they are compared with those of
an earlier run in another place, and of the places with which that run was compared. Intervals of one clock must be
equal, those of two clocks within a crossing's latency.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pymodels.board.identity import NETLIST
from pymodels.errors import ConfigError
from pymodels.options import SETTING
from pymodels.results import read_results
from pymodels.trace import Part, TraceEvent, switch_port, unit
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.report.recorded import BOARD
from tb.studies.kit.hosts import start_in_turn
from tb.studies.kit.payload import numbered
from tb.studies.kit.rounds import round_trips

LAYER = "echo"
OPTIONS = {
    "repetitions": Option(5, "round trips", 1, 10_000),
    "size": Option(64, "bytes of each message", 1, 64, unit="bytes"),
    "beside": Option("", "folder with the results of a run in another place, to compare with"),
}
TINY = "repetitions=1"
ON_BOARD = ""
RTL = "rtl"
PLACES = RTL, NETLIST, BOARD
CROSSING_EDGES = 3
"""Edges of the reading clock by which a crossing of unrelated clocks may be later: synchroniser and phase."""
METRIC = "clocks_{}_{}"
Trace = NDArray[np.void]
Times = Callable[[int, Part, TraceEvent], NDArray[np.int64]]
"""Function that returns the times of a node's records, given part and event."""


@dataclass(frozen=True)
class Interval:
    """Interval in the life of a message from node 0 to node 1, in clocks of `clock`."""

    clock: str
    crosses: bool
    """True if its ends are records of different clocks."""
    between: tuple[tuple[int, TraceEvent], tuple[int, TraceEvent]]
    """Unit and event of both ends."""
    every: int = 1
    """Number of records a message; the first counts."""


INTERVALS: Mapping[str, Interval] = {
    "send_engine": Interval(
        "link",
        True,
        ((unit(0, Part.NET_SEND), TraceEvent.TX_START), (unit(0, Part.LINK), TraceEvent.TX_HEAD)),
    ),
    "cable": Interval(
        "link", False, ((unit(0, Part.LINK), TraceEvent.TX_HEAD), (switch_port(0, 0), TraceEvent.SWITCH_HEAD))
    ),
    "switch": Interval(
        "link", False, ((switch_port(0, 0), TraceEvent.SWITCH_HEAD), (unit(1, Part.LINK), TraceEvent.RX_HEAD))
    ),
    "reception": Interval(
        "link", True, ((unit(1, Part.LINK), TraceEvent.RX_HEAD), (unit(1, Part.NET_RECV), TraceEvent.RX_TAIL))
    ),
    "dma": Interval(
        "nic",
        False,
        ((unit(1, Part.HOST_DMA), TraceEvent.DMA_START), (unit(1, Part.HOST_DMA), TraceEvent.DMA_DONE)),
        every=2,
    ),
}


async def run(lab: Lab) -> None:
    """Run the study."""
    other = _results(lab.text("beside"))
    near, far, *_ = hosts = lab.start_layer(LAYER)
    await start_in_turn(hosts)
    size = lab.option("size")

    async def ask(number: int) -> None:
        payload = numbered(size, number)
        await near.send(1, payload)
        lab.check("returned messages", await near.receive() == (1, payload), f"message {number} was returned changed")

    await round_trips(lab, lab.option("repetitions"), ask, far.echo)
    place = _place(lab)
    trace = lab.trace()
    for name, interval in INTERVALS.items():
        clocks = _clocks(lab, trace, interval)
        lab.metric(METRIC.format(name, place), statistics.median(clocks))
        if not interval.crosses and lab.plan.profile.nic.one_clock:  # else DMA crosses to the clock of the bus
            lab.check(
                f"clocks of {name}",
                len({*clocks}) == 1,
                f"messages of one size take {sorted({*clocks})} clocks",
            )
        _compare(lab, name, interval, place, other)


def _place(lab: Lab) -> str:
    """Return the place of the hardware of a run, one of `PLACES`."""
    if lab.place != BOARD:
        return RTL
    return NETLIST if lab.plan.request.board["board"] == NETLIST else BOARD


def _results(folder: str) -> Mapping[str, float]:
    """Return the metrics of an earlier run. Raises ConfigError if the folder has none of this study."""
    if not folder:
        return {}
    file = Path(folder) / "results.json"
    found = read_results(file).metrics if file.is_file() else {}
    if not any(METRIC.format(name, place) in found for name in INTERVALS for place in PLACES):
        remedy = "name the folder of an earlier run of board_compare"
        raise ConfigError(SETTING, 0, "nothing to compare with", f"beside is {folder!r}", remedy)
    return found


def _clocks(lab: Lab, trace: Trace, interval: Interval) -> list[float]:
    """Return the duration of an interval for each message, in clocks; whole numbers unless it crosses."""
    begin, end = (_times(trace, owner, event)[:: interval.every] for owner, event in interval.between)
    period = lab.plan.profile.integer(f"clock.{interval.clock}_ps")
    clocks = [(one - other) / period for one, other in zip(end.tolist(), begin.tolist(), strict=False)]
    return clocks if interval.crosses else [float(round(one)) for one in clocks]


def _times(trace: Trace, owner: int, event: TraceEvent) -> NDArray[np.int64]:
    return trace["time"][(trace["unit"] == owner) & (trace["event"] == event)]  # type: ignore[no-any-return]


def _compare(lab: Lab, name: str, interval: Interval, place: str, other: Mapping[str, float]) -> None:
    """Report the clocks of other places beside those of this run, and check the difference."""
    own = lab.findings.metrics[METRIC.format(name, place)]
    for beside in (one for one in PLACES if one != place):
        if (clocks := other.get(METRIC.format(name, beside))) is None:
            continue
        lab.metric(METRIC.format(name, beside), clocks)
        allowed = _latency(lab, interval) if interval.crosses else 0.0
        told = f"{own:g} clocks on the {place}, {clocks:g} on the {beside}; at most {allowed:g} may differ"
        lab.check(f"clocks of {name} on board and RTL", abs(own - clocks) <= allowed, told)


def _latency(lab: Lab, interval: Interval) -> float:
    """Return the difference that crossings of unrelated clocks may cause, in clocks of an interval."""
    nic, link = (lab.plan.profile.integer(f"clock.{name}_ps") for name in ("nic", "link"))
    return CROSSING_EDGES * (nic + link) / lab.plan.profile.integer(f"clock.{interval.clock}_ps")
