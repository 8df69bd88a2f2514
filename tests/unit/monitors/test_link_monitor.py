"""The link monitor on hand-written samples: repeated characters, times in ps, unfinished packets.

Strategy: a packet with equal bytes in a row, of which a sample exists only for the first, must be complete.
"""

from __future__ import annotations

import pytest

from pymodels.link.characters import Symbol, packet_characters
from pymodels.link.packet import Packet
from tb.monitors.link import CHARACTER, LinkPortMonitor
from tests.unit.monitors.wires import Store, shown

PERIOD = 6250
WIRE = Packet(b"\x81", 7, bytes(40)).to_wire()


@pytest.mark.parametrize("stop_at", [None, 10])
def test_equal_characters_in_a_row_are_one_sample(stop_at: int | None) -> None:
    store = Store()
    seen = LinkPortMonitor("paris.link", 7, PERIOD, store, 80)  # type: ignore[arg-type]
    rx = [0, *packet_characters(WIRE), 0]
    tx = [int(Symbol.STOP) if n == stop_at else 0 for n in range(len(rx))]
    samples = shown([(a | b << CHARACTER, 0) for a, b in zip(rx, tx, strict=True)], PERIOD, first=500)
    assert len(samples[0]) < 20
    store.decode(*samples)
    (packet,) = seen.transactions
    row = seen.row(packet)
    assert row["data"] == WIRE and row["crc_good"] and row["route"] == b"\x81" and row["type"] == 7
    assert (row["start_ps"], row["end_ps"]) == (501 * PERIOD, (501 + len(WIRE)) * PERIOD)
    assert row["stop_clocks"] == (0 if stop_at is None else len(WIRE) + 1 - stop_at)


def test_an_unfinished_packet_is_a_violation_at_the_end_of_a_complete_run() -> None:
    for complete in (False, True):
        store = Store()
        seen = LinkPortMonitor("paris.link", 7, PERIOD, store, 80)  # type: ignore[arg-type]
        store.decode(*shown([(character, 0) for character in [*packet_characters(WIRE)[:-1], 0]], PERIOD))
        seen.finish(1000 * PERIOD, complete)
        assert [each.rule for each in seen.violations] == [f"packet of {len(WIRE)} bytes without GAP"] * complete
