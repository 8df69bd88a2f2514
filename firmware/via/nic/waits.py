"""What a NIC lacks, for reports of who waits for whom. It need not be what hinders, so nobody is said to hold it."""

from __future__ import annotations

from collections.abc import Iterator

from firmware.via.nic.ni import Ni
from pymodels.waiting import Wait, Wanted


def owed(ni: Ni) -> Iterator[Wait]:
    """Acknowledgements of peers, by VI, and the end of the packet that is with the port."""
    for endpoint in ni.endpoints:
        if count := len(endpoint.connection.unacknowledged):
            sends = f"{count} messages of VI {endpoint.number}"
            yield Wait(ni.nic.who, Wanted(f"answers of node {endpoint.connection.node} to {sends}"))
    if not ni.port.ready():
        yield Wait(ni.nic.who, Wanted("its outgoing packet to leave"))
