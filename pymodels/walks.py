"""Vectorized tracing of all routes of a cluster, hop by hop, and the channel dependencies that they create.

Ports have running numbers: those of the switches first, then one for each host. A channel has the number of the port
where it begins.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pymodels.topology import Channel, End, Topology

Array = NDArray[np.int64]
NOWHERE = -1


class Ports:
    """Running numbers of the ports of a topology."""

    def __init__(self, topology: Topology) -> None:
        self.ends = [End(s.name, port) for s in topology.switches for port in range(s.ports)]
        self.switch_ports = len(self.ends)
        self.ends += [End(host, 0) for host in topology.hosts]
        self.hosts = {host: self.switch_ports + vnn for vnn, host in enumerate(topology.hosts)}
        number = {end: n for n, end in enumerate(self.ends)}
        self._topology = topology
        peers = [number[topology.peers[end]] if end in topology.peers else NOWHERE for end in self.ends]
        self.peer = np.array(peers, np.int64)
        sizes = [s.ports for s in topology.switches for _ in range(s.ports)]
        self.first = np.array([n - end.port for n, end in enumerate(self.ends)], np.int64)
        self.behind = self.first + np.array([*sizes, *[0] * len(topology.hosts)], np.int64)
        """First port number after the switch of each port; for the port of a host, its own number."""

    def channel(self, number: int) -> Channel:
        """Return the channel that begins at a port."""
        end = self.ends[number]
        return Channel(end, self._topology.peers[end])


def walk(ports: Ports, sources: Array, targets: Array, routes: Sequence[bytes]) -> Array | None:
    """Return the channels of each route, one row for each route padded with NOWHERE; None if a route does not deliver.

    Args:
        ports: Numbers of the ports.
        sources: Port numbers of the source hosts.
        targets: Port numbers of the destination hosts.
        routes: Bytes of the routes.
    """
    longest = max(map(len, routes), default=0)
    text = b"".join(route.ljust(longest, b"\0") for route in routes)
    deltas = _DELTAS[np.frombuffer(text, np.uint8).reshape(len(routes), longest)]
    lengths = np.fromiter(map(len, routes), np.int64, len(routes))
    taken = np.full((len(routes), longest + 1), NOWHERE, np.int64)
    taken[:, 0] = sources
    here = ports.peer[sources]
    for hop in range(longest):
        goes = lengths > hop
        out = here + deltas[:, hop]
        fine = (out >= ports.first[here]) & (out < ports.behind[here])
        there = ports.peer[np.where(fine, out, 0)]
        if not (fine & (there != NOWHERE))[goes].all():
            return None
        taken[:, hop + 1][goes] = out[goes]
        here = np.where(goes, there, here)
    return taken if (here == targets).all() else None


def dependencies(taken: Array, into: Array | None) -> tuple[Array, Array, Array]:
    """Return the distinct channel dependencies of routes: held channels, wanted channels, and the first route with
    each.

    Args:
        taken: Channels of each route, as from `walk`.
        into: Channel into the source NIC of each route, if NICs hold it while they wait for their own link; else None.
    """
    held, wanted = taken[:, :-1], taken[:, 1:]
    if into is not None:
        held, wanted = np.column_stack([held, into]), np.column_stack([wanted, taken[:, 0]])
    codes = np.where(wanted == NOWHERE, NOWHERE, held << 32 | wanted).ravel()
    found, first = np.unique(codes, return_index=True)
    order = np.argsort(first)
    found, first = found[order], first[order]
    found, first = found[found != NOWHERE], first[found != NOWHERE]
    return found >> 32, found & 0xFFFFFFFF, first // held.shape[1]


def _delta(byte: int) -> int:
    """Return the port distance of a route byte; a distance out of every switch for an invalid byte."""
    delta = (byte & 0x3F) - ((byte & 0x20) << 1)
    return delta if byte & 0xC0 == 0x80 else 1 << 20


_DELTAS = np.array([_delta(byte) for byte in range(256)], np.int64)
