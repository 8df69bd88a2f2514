"""Check for messages damaged undetected by CRC-8, which detects every burst of up to 8 bits but not every
longer one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pymodels.link.crc8 import crc8
from pymodels.topology import End
from tb.lab.cluster import RunningCluster
from tb.plan.faults import KINDS, Fault
from tb.report.packets import Captured, captured

AROUND = 8
"""Bytes before and after a change that must also occur in the packet."""


def passed(running: RunningCluster, fault: Fault) -> list[str]:
    """Return the packets with a correct CRC-8 that left a faulty cable during the fault, in hexadecimal."""
    if KINDS[fault.kind].layer != "link" or fault.kind == "late":
        return []
    parts, _ = running.doorway.captured()
    into: End = running.plan.cluster.topology.port(fault.place)
    came = meanwhile(captured(parts), running.numbers.cable_into(into), fault.at_ps, fault.at_ps + fault.for_ps)
    return [one.data.hex() for one in came if crc8(one.data) == 0]


def meanwhile(packets: Iterable[Captured], cable: int, first_ps: int, last_ps: int) -> list[Captured]:
    """Return the packets of a cable direction that had a character between two times."""
    return [one for one in packets if one.cable == cable and one.began <= last_ps and one.ended >= first_ps]


def let_through(message: str, sent: Sequence[str], packets: Sequence[str]) -> bool:
    """Return True if a packet with a correct CRC-8 contains the changed part of a message with its surroundings.

    Args:
        message: Changed message in hexadecimal.
        sent: Original messages, one of which was changed.
        packets: Packets with a correct CRC-8.
    """
    got = bytes.fromhex(message)
    alike = [bytes.fromhex(one) for one in sent if len(one) == len(message)]
    if not alike:
        return False
    places = min(([at for at, byte in enumerate(one) if byte != got[at]] for one in alike), key=len)
    part = got[max(places[0] - AROUND, 0) : places[-1] + 1 + AROUND]
    return any(part in bytes.fromhex(packet) for packet in packets)
