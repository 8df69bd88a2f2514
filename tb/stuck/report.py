"""Report of a hang: cycles of waits, all waits, and the last events of each unit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pymodels.results import write_atomically
from pymodels.topology import Topology
from pymodels.trace import event_name, unit_name
from pymodels.waiting import Wait, cycles, unit_of
from tb.stuck import cards
from tb.stuck.network import Network

TEXT, WINDOW = "stuck.txt", "stuck.json"
LAST = 4
"""Number of last events listed for each unit."""
BEFORE_US, AFTER_US = 20.0, 5.0
"""Wave window around the last event (our choice)."""


@dataclass(frozen=True)
class HangReport:
    """Waits at one time, and the last events before it."""

    cause: str
    at_ps: int
    """Time of the last event."""
    cycles: tuple[tuple[Wait, ...], ...]
    network: tuple[Wait, ...]
    cards: tuple[Wait, ...]
    software: tuple[str, ...]
    last: tuple[tuple[str, tuple[str, ...]], ...]
    """Last events by unit."""

    def waits(self, waiter: str, holder: str) -> bool:
        """Return True if a cycle has `waiter` wait for a resource of `holder`. Both are unit names, such as `NIC 0`."""
        pairs = {(unit_of(w.waiter), unit_of(w.wanted.holder)) for cycle in self.cycles for w in cycle}
        return (waiter, holder) in pairs

    @property
    def units(self) -> set[str]:
        """Names of all units in cycles."""
        return {unit_of(wait.waiter) for cycle in self.cycles for wait in cycle}

    def headlines(self) -> list[str]:
        """Return one line a cycle."""
        return [f"deadlock: {', '.join(map(str, cycle))}" for cycle in self.cycles]

    def lines(self) -> Iterator[str]:
        """Yield the lines of the report."""
        yield f"{self.cause}; the last event before was at {self.at_ps / 1e6:.6f} us"
        for cycle in self.cycles:
            yield f"\nA cycle of {len(cycle)}:"
            yield from (f"  {wait}" for wait in cycle)
        if not self.cycles:
            yield "\nNo cycle of waits: a unit waits for a resource without a known holder."
        yield from _section("Packets in the network", map(str, self.network))
        yield from _section("Cards", map(str, self.cards))
        yield from _section("Waiting software", self.software)
        for unit, events in self.last:
            yield from _section(f"Last events of {unit}", events)

    def leave(self, folder: Path) -> None:
        """Write the report, and the wave window for a second run. Raises ResultsError if writing fails."""
        write_atomically(folder / TEXT, "\n".join(self.lines()) + "\n")
        window = {
            "cause": self.cause,
            "from_us": max(self.at_ps / 1e6 - BEFORE_US, 0),
            "to_us": self.at_ps / 1e6 + AFTER_US,
        }
        write_atomically(folder / WINDOW, json.dumps(window) + "\n")


def _section(title: str, lines: Sequence[str] | Iterator[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield f"\n{title}:"
        yield from (f"  {line}" for line in found)


def hang_report(
    cause: str, trace: NDArray[np.void], topology: Topology | None, held: Sequence[Wait], software: Sequence[str]
) -> HangReport:
    """Analyse a run that has stopped.

    Args:
        cause: Cause for the report's first line.
        trace: Trace in time order, shape (n,).
        topology: Topology of the cluster; None without a cluster.
        held: Waits that software has declared.
        software: Descriptions of waiting tasks.
    """
    network = tuple(Network.from_trace(trace, topology).waits()) if topology else ()
    at = int(trace["time"][-1]) if len(trace) else 0
    found = tuple(cycles((*held, *network)))
    of_cards, last = tuple(cards.waits(trace)), tuple(_last_events(trace))
    return HangReport(cause, at, found, network, of_cards, tuple(software), last)


def _last_events(trace: NDArray[np.void]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the last events of each unit by unit number; `trace` is in time order, shape (n,)."""
    ordered = trace[np.argsort(trace["unit"], kind="stable")]
    units, first = np.unique(ordered["unit"], return_index=True)
    ends = [*first, len(ordered)][1:]
    for number, begin, end in zip(units, first, ends, strict=True):
        yield unit_name(int(number)), tuple(_event(record) for record in ordered[max(begin, end - LAST) : end])


def _event(record: NDArray[np.void]) -> str:
    key = f", packet {int(record['packet']):#010x}" if record["packet"] else ""
    return f"{int(record['time']) / 1e6:.6f} us  {event_name(int(record['event']))} {int(record['argument'])}{key}"
