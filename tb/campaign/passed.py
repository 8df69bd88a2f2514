"""Whether CRC-8 let a changed message through: it promises to see every burst of up to 8 bits, no longer one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pymodels.link.crc8 import crc8
from pymodels.topology import End
from tb.lab.cluster import RunningCluster
from tb.plan.faults import KINDS, Fault
from tb.report.packets import Captured, captured

AROUND = 8
"""Bytes before and behind what has changed that the packet must have, too."""


def passed(running: RunningCluster, fault: Fault) -> list[str]:
    """The packets that came out of a disturbed cable while the fault acted, and whose CRC-8 is right, in hex."""
    if KINDS[fault.kind].layer != "link" or fault.kind == "late":
        return []
    parts, _ = running.doorway.captured()
    into: End = running.plan.cluster.topology.port(fault.place)
    came = meanwhile(captured(parts), running.numbers.cable_into(into), fault.at_ps, fault.at_ps + fault.for_ps)
    return [one.data.hex() for one in came if crc8(one.data) == 0]


def meanwhile(packets: Iterable[Captured], cable: int, first_ps: int, last_ps: int) -> list[Captured]:
    """Those of a cable direction of which a character came between two times."""
    return [one for one in packets if one.cable == cable and one.began <= last_ps and one.ended >= first_ps]


def let_through(message: str, sent: Sequence[str], packets: Sequence[str]) -> bool:
    """One of the packets has, with a right CRC-8, what is changed of a message, and what stands around it.

    All in hexadecimal. `sent`: the messages of which it is one, changed.
    """
    got = bytes.fromhex(message)
    alike = [bytes.fromhex(one) for one in sent if len(one) == len(message)]
    if not alike:
        return False
    places = min(([at for at, byte in enumerate(one) if byte != got[at]] for one in alike), key=len)
    part = got[max(places[0] - AROUND, 0) : places[-1] + 1 + AROUND]
    return any(part in bytes.fromhex(packet) for packet in packets)
