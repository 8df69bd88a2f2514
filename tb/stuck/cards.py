"""What FPGA cards and frame buffers wait for, read from the trace: what has begun there and not ended.

An FPGA card gives one message after another to its circuit and writes the result; its NIC brings the next one. A frame
buffer answers transactions of the bus. Only cards that have done something are told.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pymodels.trace import SWITCH_BASE, Part, TraceEvent, unit, unit_name
from pymodels.waiting import Wait, Wanted


def waits(trace: NDArray[np.void]) -> list[Wait]:
    """What each card waits for, cards by number. `trace`: in time order, shape (n,)."""
    of_hosts = trace[trace["unit"] < SWITCH_BASE]
    found = []
    for number in np.unique(of_hosts["unit"]):
        wanted = WANTED.get(int(number) % unit(1, Part.HOST_CPU))
        records = of_hosts[(of_hosts["unit"] == number) & np.isin(of_hosts["event"], EVENTS)]
        if wanted is not None and len(records):
            found.append(Wait(unit_name(int(number)), wanted(records)))
    return found


def _circuit(records: NDArray[np.void]) -> Wanted:
    """What an FPGA card waits for. Not every message has a result; one that has gives it before the next is taken."""
    last = records[-1]
    message = f"message {int(last['packet']):#010x}"
    if last["event"] == TraceEvent.CARD_TAKE:
        return Wanted(
            f"the result of {message}, given to its circuit at {_us(last)}, or the next message if it has none"
        )
    return Wanted(f"the next message; the result of {message} was written at {_us(last)}")


def _display(records: NDArray[np.void]) -> Wanted:
    """What a frame buffer waits for."""
    last = records[-1]
    if last["event"] == TraceEvent.FRAME_START:
        return Wanted(f"the rest of a transaction, begun at {_us(last)}")
    return Wanted(f"the next transaction; the last one ended at {_us(last)}")


def _us(record: np.void) -> str:
    return f"{int(record['time']) / 1e6:.6f} us"


WANTED = {int(Part.FPGA): _circuit, int(Part.FRAME): _display}
"""Who tells what a kind of card waits for, from its records."""
EVENTS = (TraceEvent.CARD_TAKE, TraceEvent.CARD_GIVE, TraceEvent.FRAME_START, TraceEvent.FRAME_END)
