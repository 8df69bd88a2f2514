"""Trace of the machine: records of `pymodels.trace`, appended as tuples and returned as a numpy array."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pymodels.kernel import Kernel
from pymodels.trace import RECORD, TraceEvent

WORD = 8
"""Bytes of a word of a card's region in PIO_ACCEPT."""


class TraceLog:
    """Append-only list of (time, unit, event, packet, argument, argument2, message)."""

    __slots__ = ("_begun", "_kernel", "_next", "enabled", "paths", "records", "turns")

    def __init__(self, kernel: Kernel, enabled: bool) -> None:
        self._kernel = kernel
        self.enabled = enabled
        self.records: list[tuple[int, int, int, int, int, int, int]] = []
        self.paths: dict[str, int] = {}
        self._begun: dict[int, tuple[int, int, int]] = {}
        self._next: dict[int, int] = {}
        self.turns: Counter[int] = Counter()
        """Number of entries that each unit has put into its ring buffer, which determines the next position."""

    def add(
        self, unit: int, event: int, packet: int = 0, argument: int = 0, argument2: int = 0, message: int = 0
    ) -> None:
        """Append a record at the present time."""
        if self.enabled:
            self.records.append((self._kernel.now, unit, int(event), packet, argument, argument2, message))

    def begin(self, unit: int, argument: int, message: int) -> None:
        """Store the present time, an argument and a number for a record whose packet key is not known yet."""
        self._begun[unit] = self._kernel.now, argument, message

    def begun(self, unit: int, event: int, packet: int) -> None:
        """Append the record stored by `begin` for a unit, if there is one, with the packet key."""
        if self.enabled and unit in self._begun:
            time, argument, message = self._begun.pop(unit)
            self.records.append((time, unit, int(event), packet, argument, 0, message))

    def stores(self, unit: int, offset: int, size: int, width: int) -> None:
        """Append PIO_ACCEPT for beats of `width` bytes, except for a beat in the 64-bit word after that of the previous
        beat.
        """
        for at in range(offset & -width, offset + size, width):
            word = at & -WORD
            if word != self._next.get(unit):
                self.add(unit, TraceEvent.PIO_ACCEPT, 0, word)
            self._next[unit] = word + WORD

    def span(self, unit: int, number: int, begin: int, end: int) -> None:
        """Append the records of a path executed by a host's CPU from one time to another."""
        if self.enabled:
            for time, event in ((begin, TraceEvent.SPEND_START), (end, TraceEvent.SPEND_END)):
                self.records.append((time, unit, int(event), 0, number, end - begin, 0))

    def path(self, name: str) -> int:
        """Return the number in the trace of a path of `work` or `spend`, in order of first use."""
        return self.paths.setdefault(name, len(self.paths))

    def array(self) -> NDArray[Any]:
        """Return all records as an array of shape (n,) and dtype `pymodels.trace.RECORD`."""
        rows = [
            (time, unit, event, 0, packet, argument & 0xFFFFFFFF, more, message)
            for time, unit, event, packet, argument, more, message in self.records
        ]
        return np.array(rows, dtype=RECORD)

    def of_event(self, event: TraceEvent) -> list[tuple[int, int, int, int, int, int, int]]:
        """Return the records of one event in order of time."""
        return sorted((record for record in self.records if record[2] == event), key=lambda record: record[0])
