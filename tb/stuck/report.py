"""The report of a standstill: the cycles of waiting, who waits for what, the last events of each unit."""

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
"""Events told of each unit."""
BEFORE_US, AFTER_US = 20.0, 5.0
"""The window of waves around the last thing that happened (ours)."""


@dataclass(frozen=True)
class Standstill:
    """Who waits for whom at one time, and what happened last."""

    cause: str
    at_ps: int
    """The last thing that happened before."""
    cycles: tuple[tuple[Wait, ...], ...]
    network: tuple[Wait, ...]
    cards: tuple[Wait, ...]
    software: tuple[str, ...]
    last: tuple[tuple[str, tuple[str, ...]], ...]
    """By unit: its last events."""

    def waits(self, waiter: str, holder: str) -> bool:
        """Whether a cycle has `waiter` wait for something that `holder` has. Units by name, such as `NIC 0`."""
        pairs = {(unit_of(w.waiter), unit_of(w.wanted.holder)) for cycle in self.cycles for w in cycle}
        return (waiter, holder) in pairs

    @property
    def units(self) -> set[str]:
        """Every unit in a cycle of waiting."""
        return {unit_of(wait.waiter) for cycle in self.cycles for wait in cycle}

    def headlines(self) -> list[str]:
        """A line for each cycle."""
        return [f"deadlock: {', '.join(map(str, cycle))}" for cycle in self.cycles]

    def lines(self) -> Iterator[str]:
        """The whole report."""
        yield f"{self.cause}; the last thing before happened at {self.at_ps / 1e6:.6f} us"
        for cycle in self.cycles:
            yield f"\nA cycle of {len(cycle)}:"
            yield from (f"  {wait}" for wait in cycle)
        if not self.cycles:
            yield "\nNo cycle of waiting: somebody waits for what nobody is known to hold."
        yield from _section("Packets that stand in the network", map(str, self.network))
        yield from _section("Cards", map(str, self.cards))
        yield from _section("Software that waits", self.software)
        for unit, events in self.last:
            yield from _section(f"Last events of {unit}", events)

    def leave(self, folder: Path) -> None:
        """Write the report, and the window around it for a run with waves. ResultsError when the disk refuses."""
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


def standstill(
    cause: str, trace: NDArray[np.void], topology: Topology | None, held: Sequence[Wait], software: Sequence[str]
) -> Standstill:
    """Examine a run that has stopped: its trace in time order, its network, and the waits that its software
    declares.
    """
    network = tuple(Network.of(trace, topology).waits()) if topology else ()
    at = int(trace["time"][-1]) if len(trace) else 0
    found = tuple(cycles((*held, *network)))
    of_cards, last = tuple(cards.waits(trace)), tuple(_last_events(trace))
    return Standstill(cause, at, found, network, of_cards, tuple(software), last)


def _last_events(trace: NDArray[np.void]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The last events of each unit, units by number. `trace`: in time order, shape (n,)."""
    ordered = trace[np.argsort(trace["unit"], kind="stable")]
    units, first = np.unique(ordered["unit"], return_index=True)
    ends = [*first, len(ordered)][1:]
    for number, begin, end in zip(units, first, ends, strict=True):
        yield unit_name(int(number)), tuple(_event(record) for record in ordered[max(begin, end - LAST) : end])


def _event(record: NDArray[np.void]) -> str:
    key = f", packet {int(record['packet']):#010x}" if record["packet"] else ""
    return f"{int(record['time']) / 1e6:.6f} us  {event_name(int(record['event']))} {int(record['argument'])}{key}"
