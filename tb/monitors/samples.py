"""Samples of monitored wires in the doorway (hdl/sim/doorway/samples.c), passed to the monitors that decode them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pymodels.errors import SanlabError
from tb.sim.doorway import Doorway
from tb.sim.exchange import UNITS

SAMPLES, SAMPLES_UNIT = 1 << 19, UNITS + 1
"""Capacity of the store, and the unit of its events, above the units of the cluster."""
ON, LIVE = 1, 2
"""Modes of a monitor: samples are stored; in addition, an event is raised at the end of each transaction."""
RECORD = np.dtype([("time", "<i8"), ("low", "<u8"), ("high", "<u8"), ("unit", "<i4"), ("lane", "<i4")])
"""Sample of 32 bytes: time in ps, 128 wires, unit number of the monitor, and which 128 of its wires these are."""
Decoder = Callable[[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int32]], None]
"""Function that decodes n samples, given as four arrays of shape (n,): their times in ps, the wires 0 to 63 and 64 to
127 of a lane from then on, and the lane. Lanes of one time have any order.
"""


class SampleStore:
    """Store of the samples of all monitors of a run."""

    def __init__(self, doorway: Doorway) -> None:
        self._doorway = doorway
        self._memory = doorway.words("dw_samples", SAMPLES * RECORD.itemsize, "B")
        self._count = doorway.words("dw_sample_count", 1, "Q")
        self._lost = doorway.words("dw_sample_lost", 1, "Q")
        self._decoders: dict[int, Decoder] = {}
        self._draining = False
        doorway.on_event(SAMPLES_UNIT, lambda time, code, a, b: self.drain())

    def add(self, unit: int, decode: Decoder) -> None:
        """Store the samples of a unit from now on, and pass them to `decode` in the order of their times."""
        self._decoders[unit] = decode
        self._doorway.lib.dw_monitor(unit, ON)

    def live(self, unit: int) -> None:
        """Decode each transaction of a unit when it ends, not when its transactions are read."""
        self._doorway.lib.dw_monitor(unit, LIVE)

    def drain(self) -> None:
        """Decode all samples so far. Raises SanlabError if samples were lost."""
        if self._draining or not self._count[0]:
            return
        records = np.frombuffer(self._memory, RECORD, self._count[0]).copy()
        self._count[0] = 0
        self._draining = True  # a callback of a monitor may read transactions
        try:
            for unit in np.unique(records["unit"]).tolist():
                own = records[records["unit"] == unit]
                self._decoders[unit](own["time"], own["low"], own["high"], own["lane"])
        finally:
            self._draining = False
        if self._lost[0]:
            cause, remedy = f"{self._lost[0]} samples were lost", "report this with the seed: they are decoded too late"
            raise SanlabError("store of the monitors is full", cause, remedy)
