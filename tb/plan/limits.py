"""Limits of a cluster, checked before any build: tables of the simulator, slack buffers of links."""

from __future__ import annotations

from pymodels.config import Cluster
from pymodels.errors import ConfigError
from pymodels.profiles import Profile
from pymodels.topology import Link, TopologyError

MOST_HOSTS = 1024
"""Maximum number of hosts in the doorway's tables: two memories each, and two for further cards."""
MOST_CLOCKS = 4096
"""Maximum number of clocks: three a host, a fourth with an FPGA card, a fifth behind a bridge, one a switch."""
MOST_SWITCHES = 1024
"""Maximum number of switches with numbers in the trace and units in the doorway."""
STOP_SLOTS = 4
"""Characters that arrive after a slack buffer has reached its stop mark, in addition to two flights: one for each
register that STOP and they pass, and one because a BEAT may take the slot of STOP (hdl/link/README.md).
"""


def check_size(hosts: int, fpga_cards: int, switches: int, file: str) -> None:
    """Raise ConfigError for a cluster that exceeds the simulator's tables.

    Args:
        hosts: Number of hosts.
        fpga_cards: Number of FPGA cards.
        switches: Number of switches.
        file: Configuration file for the error.
    """
    if hosts > MOST_HOSTS:
        cause = f"the simulator's tables hold {MOST_HOSTS} (DW_MEMORIES of hdl/sim/doorway/doorway.h, two a host)"
        raise ConfigError(file, 0, f"{hosts} hosts", cause, "select some of them with NUM_NODES, or enlarge the table")
    clocks = MOST_CLOCKS - 3 * hosts - fpga_cards
    room = min(clocks, MOST_SWITCHES)
    if switches > room:
        what = f"{switches} switches with {hosts} hosts"
        table = "DW_UNITS" if room < clocks else "DW_CLOCKS, of which a host has three or four"
        cause = f"the simulator's tables hold {room} (hdl/sim/doorway/doorway.h: {table})"
        raise ConfigError(file, 0, what, cause, "use fewer switches with more ports, or enlarge the table")


def check_network(cluster: Cluster, profile: Profile) -> None:
    """Raise ConfigError for switches, routes or cables that the profile does not support."""
    check_switches(cluster, profile)
    check_cables(cluster, profile)


def check_switches(cluster: Cluster, profile: Profile) -> None:
    """Raise ConfigError for a topology that the network of the profile's NICs does not support."""
    network = profile.nic.network
    for switch in cluster.topology.switches:
        if network.ports and switch.ports != network.ports:
            what = f"switch {switch.name!r} has {switch.ports} ports"
            cause = f"profile {profile.name!r} has {profile.nic.title}, and {network.switch} has {network.ports}"
            remedy = f"write SWITCH {switch.name} {network.ports}, cascade two, or choose another PROFILE"
            raise ConfigError(cluster.file, 0, what, cause, remedy)
    (source, target), longest = max(cluster.routes.each(), key=lambda item: len(item[1]), default=(("", ""), b""))
    if network.route_bytes and len(longest) > network.route_bytes:
        what = f"the route from {source} to {target} leads through {len(longest)} switches"
        cause = f"the header of a packet has room for {network.route_bytes}"
        raise ConfigError(cluster.file, 0, what, cause, "cable the switches closer together")


def check_late(cluster: Cluster, port: str, delay_given: bool) -> None:
    """Raise ConfigError for an unknown port of `fault.late_port`, or for a delay without a port."""
    if delay_given and not port:
        raise ConfigError(
            "SET", 0, "fault.late_us alone", "no port is named", "set fault.late_port=<switch>.<port> too"
        )
    try:
        if port:
            cluster.topology.port(port)
    except TopologyError as error:
        raise ConfigError("SET", 0, f"fault.late_port: {error.what}", error.cause, error.remedy) from None


def longest_cable(profile: Profile) -> float:
    """Return the length in metres of the longest cable whose characters fit a slack buffer after STOP;
    negative if none.

    After the stop mark arrive the characters of two flights (at least one each) and `STOP_SLOTS` more.
    """
    flight = (profile.integer("link.slack") - profile.integer("link.stop_mark") - STOP_SLOTS) // 2
    if flight < 1:
        return -1.0
    per_metre = profile.number("cable.ns_per_metre")
    return flight * profile.integer("clock.link_ps") / 1000 / per_metre if per_metre else float("inf")


def check_cables(cluster: Cluster, profile: Profile) -> None:
    """Raise ConfigError for a cable that holds more characters than the slack buffer at its end."""
    longest = longest_cable(profile)
    for link in cluster.topology.links:
        metres = profile.number("cable.metres") if link.metres is None else link.metres
        if metres > longest:
            raise ConfigError(cluster.file, 0, *_too_long(link, metres, longest, profile))


def _too_long(link: Link, metres: float, longest: float, profile: Profile) -> tuple[str, str, str]:
    """Return subject, cause and remedy of the error for a cable that is too long."""
    slack, mark = profile.integer("link.slack"), profile.integer("link.stop_mark")
    under_way = 2 * profile.cable_characters(metres) + STOP_SLOTS
    what = f"the cable between {link.a.node} and {link.b.node} is too long: {metres:g} m"
    cause = (
        f"{under_way} characters may still arrive after a slack buffer has sent STOP, but it has room for "
        f"{max(slack - mark, 0)} (link.slack {slack}, link.stop_mark {mark})"
    )
    shorter = f"use at most {int(longest * 100) / 100:g} m (LINK, or SET cable.metres=...), or " if longest >= 0 else ""
    return what, cause, f"{shorter}lower link.stop_mark"
