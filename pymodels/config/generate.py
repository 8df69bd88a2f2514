"""Generated clusters: for a given network, or for a number of hosts."""

from __future__ import annotations

from pymodels.builders import clos, host_names, single_switch, smallest_switch
from pymodels.config.model import NETWORK_CARD, Cluster, Host
from pymodels.routes import Routes
from pymodels.topology import SWITCH_SIZES, Topology
from pymodels.updown import up_down


def cluster_on(name: str, topology: Topology, routes: Routes | None = None) -> Cluster:
    """Return a cluster on a network, in which every host has a network card; routes are up*/down* unless given."""
    hosts = tuple(
        Host(host, vnn, topology.running_port(topology.attachment(host)), (NETWORK_CARD,))
        for vnn, host in enumerate(topology.hosts)
    )
    return Cluster(name, "", hosts, topology, routes or Routes(up_down(topology).table, True))


def cluster_of_size(count: int) -> Cluster:
    """Return a cluster of `count` hosts on the smallest sufficient switch, or on a Clos network above the largest
    switch.

    Raises TopologyError if `count` exceeds the largest Clos network.
    """
    names = host_names(count)
    if count <= SWITCH_SIZES[-1]:
        return cluster_on(f"hosts{count}", single_switch(names, smallest_switch(count)))
    ports = next((size for size in SWITCH_SIZES if size * size // 2 >= count), SWITCH_SIZES[-1])
    return cluster_on(f"hosts{count}", clos(names, ports))
