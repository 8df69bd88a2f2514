"""Records of a board's trace ring, and their conversion to the trace format of `pymodels.trace`.

The ring holds what only hardware knows: the cycle of a clock, unit, event, packet key and arguments. The host completes
a record. `time` is the cycle times the clock's period in picoseconds, and `argument2` is sign-extended. `message` is 0,
because hardware does not know the numbers of messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from pymodels.board.map import RING_WORDS, Clock
from pymodels.trace import RECORD, in_time_order

WORD_CYCLE_LOW, WORD_EVENT, WORD_UNIT, WORD_PACKET, WORD_ARGUMENT, WORD_ARGUMENT2 = range(6)
"""Words of a ring record.

WORD_EVENT has the event code in bits 31:16 and bits 47:32 of the cycle in bits 15:0. WORD_UNIT has the `Clock` in bits
21:20 and the unit in bits 19:0. Its bits 31:24 are the number of records of the same source that were lost just before
this one, at most 255. The cycle is the index of the clock edge of the event, counted from the end of reset.
"""


def records(
    words: npt.NDArray[np.uint32],
    periods: Mapping[Clock, float],
    offsets: Mapping[Clock, float] = MappingProxyType({}),
) -> npt.NDArray[np.void]:
    """Return ring records in the trace format, sorted by time; records of one time keep their order in the ring.

    Args:
        words: Words of whole records, `RING_WORDS` each, oldest record first.
        periods: Period of each clock in picoseconds.
        offsets: Time of the edge with index 0 of each clock in picoseconds; 0 where not given.
    """
    ring = words.reshape(-1, RING_WORDS)
    made: npt.NDArray[np.void] = np.zeros(len(ring), RECORD)
    cycle = ring[:, WORD_CYCLE_LOW].astype(np.int64) | (ring[:, WORD_EVENT] & 0xFFFF).astype(np.int64) << 32
    period, offset, clocks = np.zeros(4), np.zeros(4), ring[:, WORD_UNIT] >> 20 & 3
    for clock, one in periods.items():
        period[clock], offset[clock] = one, offsets.get(clock, 0.0)
    made["time"] = np.rint(cycle * period[clocks] + offset[clocks]).astype(np.int64)
    made["unit"] = ring[:, WORD_UNIT] & 0xFFFFF
    made["event"] = ring[:, WORD_EVENT] >> 16
    made["packet"] = ring[:, WORD_PACKET]
    made["argument"] = ring[:, WORD_ARGUMENT]
    made["argument2"] = ring[:, WORD_ARGUMENT2].astype(np.int32)
    return in_time_order(made)


def lost(words: npt.NDArray[np.uint32]) -> int:
    """Return the number of records that were lost before they reached the ring, at least."""
    return int((words.reshape(-1, RING_WORDS)[:, WORD_UNIT] >> 24).sum())
