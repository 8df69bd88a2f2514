"""Waits of FPGA cards and frame buffers, derived from operations in the trace that have begun and not ended.

An FPGA card passes one message after another to its circuit and writes the result; its NIC brings the next message. A
frame buffer responds to bus transactions. Cards without any activity are not listed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pymodels.trace import SWITCH_BASE, Part, TraceEvent, unit, unit_name
from pymodels.waiting import Wait, Wanted


def waits(trace: NDArray[np.void]) -> list[Wait]:
    """Return the wait of each card, by card number; `trace` is in time order, shape (n,)."""
    of_hosts = trace[trace["unit"] < SWITCH_BASE]
    found = []
    for number in np.unique(of_hosts["unit"]):
        wanted = WANTED.get(int(number) % unit(1, Part.HOST_CPU))
        records = of_hosts[(of_hosts["unit"] == number) & np.isin(of_hosts["event"], EVENTS)]
        if wanted is not None and len(records):
            found.append(Wait(unit_name(int(number)), wanted(records)))
    return found


def _circuit(records: NDArray[np.void]) -> Wanted:
    """Return the wait of an FPGA card. A message with a result gives it before the next message is taken."""
    last = records[-1]
    message = f"message {int(last['packet']):#010x}"
    if last["event"] == TraceEvent.CARD_TAKE:
        return Wanted(
            f"the result of {message}, passed to its circuit at {_us(last)}, or the next message if it has no result"
        )
    return Wanted(f"the next message; the result of {message} was written at {_us(last)}")


def _display(records: NDArray[np.void]) -> Wanted:
    """Return the wait of a frame buffer."""
    last = records[-1]
    if last["event"] == TraceEvent.FRAME_START:
        return Wanted(f"the rest of a transaction, begun at {_us(last)}")
    return Wanted(f"the next transaction; the last one ended at {_us(last)}")


def _us(record: np.void) -> str:
    return f"{int(record['time']) / 1e6:.6f} us"


WANTED = {int(Part.FPGA): _circuit, int(Part.FRAME): _display}
"""Functions that return the wait of a card kind from its records."""
EVENTS = (TraceEvent.CARD_TAKE, TraceEvent.CARD_GIVE, TraceEvent.FRAME_START, TraceEvent.FRAME_END)
