"""Base class of the monitors that decode samples of wires, clock edge by clock edge."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tb.monitors.monitor import Monitor, Violation
from tb.monitors.samples import SampleStore

T = TypeVar("T")


Times = NDArray[np.int64]
Words = NDArray[np.uint64]
Lanes = NDArray[np.int32]


class SampledMonitor(Monitor[T]):
    """Monitor of 128 wires, or of several lanes of them.

    Args:
        name: Name of the place, such as `paris.pci`.
        unit: Unit number of its samples.
        period: Period of its clock in ps.
        store: Store of the samples.
    """

    def __init__(self, name: str, unit: int, period: int, store: SampleStore) -> None:
        super().__init__(name, period)
        self.unit = unit
        self._store = store
        self._wires: tuple[int, int] | None = None  # of the last sample
        self._ended = False
        self._edge = 0  # first one that is not decoded
        store.add(unit, self._decode)

    def update(self) -> None:
        """Decode the samples up to now."""
        self._store.drain()

    def be_live(self) -> None:
        """Decode each transaction when it ends, from now on."""
        self._store.live(self.unit)

    def finish(self, time: int, complete: bool) -> None:
        """Decode everything up to the end of the run."""
        super().finish(time, complete)
        self._until(time // self.period + 1)
        if complete and not self._ended:
            self._ended = True
            self.end(self._edge)

    def end(self, edge: int) -> None:
        """Report whatever is unfinished at the end of the run, a violation; by default nothing."""

    def _decode(self, times: Times, low: Words, high: Words, lanes: Lanes) -> None:
        clock = self._clock
        for edge, *wires in zip((times // self.period).tolist(), low.tolist(), high.tolist(), strict=True):
            self._until(edge)
            clock(wires[0], wires[1], edge, 1)
            self._wires, self._edge = (wires[0], wires[1]), edge + 1

    def _until(self, edge: int) -> None:
        """Decode the clock edges with the wires of the last sample before an edge."""
        if self._wires is not None and edge > self._edge:
            self._clock(*self._wires, self._edge, edge - self._edge)
            self._edge = edge

    @abstractmethod
    def _clock(self, low: int, high: int, edge: int, count: int) -> None:
        """Decode `count` clock edges with the same wires, from the edge of this number on.

        Args:
            low: Wires 0 to 63 of the sample.
            high: Wires 64 to 127.
            edge: Number of the first clock edge since time 0.
            count: Number of clock edges.
        """

    def _violated(self, edge: int, rule: str) -> None:
        self._violations.append(Violation(edge * self.period, rule))
