"""Waits of a NIC, for hang reports. A wait need not be the cause of a hang, so no holder is named."""

from __future__ import annotations

from collections.abc import Iterator

from firmware.via.nic.ni import Ni
from pymodels.waiting import Wait, Wanted


def acknowledgement_waits(ni: Ni) -> Iterator[Wait]:
    """Return the acknowledgements that VIs wait for, and the wait for the packet in the port."""
    for endpoint in ni.endpoints:
        if count := len(endpoint.connection.unacknowledged):
            sends = f"{count} messages of VI {endpoint.number}"
            yield Wait(ni.nic.who, Wanted(f"acknowledgements of node {endpoint.connection.node} for {sends}"))
    if not ni.port.ready():
        yield Wait(ni.nic.who, Wanted("the end of its outgoing packet"))
