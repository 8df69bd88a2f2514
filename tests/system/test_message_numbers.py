"""Numbers of messages on the RTL, on a network that loses and damages packets.

Strategy: the conformance scenario of a layer that repairs losses runs with random faults. Hardware has no numbers, so
that they follow from the trace (`tb.report.numbers`). The keys of packets are an independent witness: except damaged
ones, a packet arrives under the number and key under which it was sent. Each message that a host takes must be one that
another host has sent, and its life must be whole.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pymodels.trace import PARTS_PER_NODE, SWITCH_BASE, Part, TraceEvent
from tb.report.lives import lives_of
from tb.report.recorded import read_recorded
from tests.system.runs import Run, must

FAULTS = "fault.loss=0.05 fault.damage=0.02"
DAMAGED = 2
"""Kind of the FAULT that flips a bit of a packet, which may be one of its key (hdl/sim/doorway/faults.c)."""


def keys(done: Run, part: Part, event: TraceEvent) -> list[tuple[int, int]]:
    """Return key and number of the packets at a part of all nodes."""
    records = done.trace
    here = (records["unit"] < SWITCH_BASE) & (records["unit"] % PARTS_PER_NODE == part) & (records["event"] == event)
    return [(int(row["packet"]), int(row["message"])) for row in records[here]]


@pytest.mark.parametrize(("layer", "options"), [("grim", "grim.timeout_us=200 ordered=1"), ("am2", "ordered=0")])
def test_loss_and_retransmission_keep_the_number_of_a_message(layer: str, options: str, tmp_path: Path) -> None:
    done = must("conformance", "verilator", tmp_path, f"layer={layer} {options} {FAULTS}")
    records, lives = done.trace, lives_of(read_recorded(done.folder)).lives
    faults = records[records["event"] == TraceEvent.FAULT]
    assert set(faults["argument"].tolist()) == {1, DAMAGED}
    sent, arrived = keys(done, Part.NET_SEND, TraceEvent.TX_START), keys(done, Part.NET_RECV, TraceEvent.RX_HEAD)
    wrong = [packet for packet in arrived if packet not in set(sent)]
    assert len(wrong) <= np.count_nonzero(faults["argument"] == DAMAGED)
    assert any(len(piece.packets) > 1 for life in lives for piece in life.pieces), "nothing was sent again"
    called = set(records["message"][records["event"] == TraceEvent.SEND_CALL].tolist())
    taken = records[np.isin(records["event"], (TraceEvent.POLL_HIT, TraceEvent.HANDLER_START))]
    assert len(taken)
    assert set(taken["message"].tolist()) <= called
    assert all(life.arrived is not None for life in lives)
