"""Error texts for mistakes in the network and the routes of a configuration.

Strategy: a valid cluster of two hosts is changed in one place for each mistake, and the whole message is compared:
file, line, subject, cause and remedy. The table below lists the mistakes; a new check needs a row. Routes are checked
hop by hop, and a cycle that can deadlock is listed link by link.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.config.configfiles import (
    AS_PRINTED,
    COMPUTED,
    CONFIG,
    NO_ROUTES,
    RESOURCE,
    ROUTES,
    error_text,
    many,
)


def ring(routes: str) -> dict[str, str]:
    config = "CLUSTER ring\nROUTING_MYRI ring_routes\nSWITCH s0 4\nSWITCH s1 4\nSWITCH s2 4\n"
    config += "LINK s0 3 s1 2\nLINK s1 3 s2 2\nLINK s2 3 s0 2\n"
    config += "".join(f"HOST h{i}\nUSE MYRI\nLINK h{i} 0 s{i} 0\n" for i in range(3))
    return {CONFIG: config, "ring_routes": routes}


MISTAKES: dict[str, tuple[dict[str, str], str]] = {
    # The network
    "more hosts than ports": (
        {CONFIG: many(5) + "SWITCH s0 4\n"},
        "grim_config:10: more hosts than ports: 5 hosts, but the switches have 4 ports, 0 of them between switches; "
        "declare larger or further switches, or lower NUM_NODES",
    ),
    "more hosts than the largest switch": (
        {CONFIG: many(17)},
        "grim_config:34: more hosts than ports: 17 hosts, but the switches have 16 ports, 0 of them between switches; "
        "declare larger or further switches, or lower NUM_NODES",
    ),
    "more hosts than ports are left": (
        {CONFIG: many(7) + "SWITCH s0 4\nSWITCH s1 4\nLINK s0 3 s1 3\n"},
        "grim_config:14: more hosts than ports: 7 hosts, but the switches have 8 ports, 2 of them between switches; "
        "declare larger or further switches, or lower NUM_NODES",
    ),
    "port used twice": (
        NO_ROUTES | {RESOURCE: "SWITCH s0 4\nLINK paris 0 s0 0\nLINK metz 0 s0 0\n"},
        "French_cluster_config.txt:3: port used twice: port 0 of 's0' already leads to paris.0 "
        "(French_cluster_config.txt:2); use a free port",
    ),
    "port used by cable and map": (
        NO_ROUTES | {RESOURCE: "HOST_MAP_MYRI hosts\nSWITCH s0 4\nSWITCH s1 4\nLINK s0 1 s1 0\n"},
        "hosts:2: port used twice: port 1 of 's0' already leads to s1.0 (French_cluster_config.txt:4); use a free port",
    ),
    "physical ID used twice": (
        {"hosts": "paris 1\nmetz 1\n"},
        "hosts:2: port used twice: physical ID 1 already belongs to 'paris' at hosts:1; "
        "give each host its own switch port",
    ),
    "map and cable disagree": (
        NO_ROUTES | {RESOURCE: "HOST_MAP_MYRI hosts\nSWITCH s0 4\nLINK metz 0 s0 3\n"},
        "hosts:2: physical ID disagrees: physical ID 1 of 'metz' is port s0.1, "
        "but French_cluster_config.txt:3 cables it to s0.3; write 3",
    ),
    "unknown end of a cable": (
        NO_ROUTES | {RESOURCE: "SWITCH s0 4\nLINK pariss 0 s0 0\n"},
        "French_cluster_config.txt:2: unknown host or switch: LINK names 'pariss', which is neither a HOST nor "
        "a SWITCH; did you mean 'paris'?",
    ),
    "no such port": (
        NO_ROUTES | {RESOURCE: "SWITCH s0 4\nLINK paris 0 s0 4\n"},
        "French_cluster_config.txt:2: value out of range: switch 's0' has no port 4; its ports are 0 to 3",
    ),
    "cable between hosts": (
        NO_ROUTES | {RESOURCE: "LINK paris 0 metz 0\n"},
        "French_cluster_config.txt:1: cable without a switch: it joins the hosts 'paris' and 'metz'; "
        "put a SWITCH between them",
    ),
    "cable to itself": (
        NO_ROUTES | {RESOURCE: "SWITCH s0 4\nLINK s0 0 s0 1\n"},
        "French_cluster_config.txt:2: cable loops back: both ends are on 's0'; lead one end to another switch or host",
    ),
    "unconnected host": (
        NO_ROUTES | {RESOURCE: "HOST_MAP_MYRI hosts\n", "hosts": "paris 0\nmets 1\n"},
        "grim_config:9: unconnected host 'metz': it has no LINK and no line in the host map; "
        "add LINK metz 0 <switch> <port> or a line to the host map; in the host map, did you mean 'mets'?",
    ),
    "unconnected host without a map": (
        NO_ROUTES | {RESOURCE: "SWITCH s0 4\nLINK paris 0 s0 0\n"},
        "grim_config:9: unconnected host 'metz': it has no LINK and no line in the host map; "
        "add LINK metz 0 <switch> <port> or a line to the host map",
    ),
    "host without a network card": (
        {CONFIG: COMPUTED + "HOST lyon\nUSE CELOXICA\n"},
        "grim_config:12: unconnected host 'lyon': it does not use MYRI; add USE MYRI",
    ),
    "network in two parts": (
        NO_ROUTES | {RESOURCE: "SWITCH s0 4\nSWITCH s1 4\nLINK paris 0 s0 0\nLINK metz 0 s1 0\n"},
        "grim_config:9: unconnected host 'metz': no cables lead from 'paris' to it; "
        "add a LINK between the two parts of the network",
    ),
    # Routes
    "routes given twice": (
        {CONFIG: AS_PRINTED + "ROUTES COMPUTED\n"},
        "grim_config:13: routes given twice: ROUTING_MYRI names a file at grim_config:4; keep one of the two lines",
    ),
    "routes neither given nor computed": (
        {CONFIG: AS_PRINTED + "ROUTES SHORTEST\n"},
        "grim_config:13: unknown word after ROUTES: 'SHORTEST'; write ROUTES COMPUTED",
    ),
    "unknown host in routes": (
        {ROUTES: "0 1:81\n1 parsi:BF\n"},
        "grim_routes_myri.txt:2: unknown host: 'parsi' is not in the cluster; did you mean 'paris'?",
    ),
    "unknown physical ID in routes": (
        {ROUTES: "0 1:81 2:82\n1 0:BF\n"},
        "grim_routes_myri.txt:1: unknown host: no host has the physical ID 2; known: 0, 1",
    ),
    "path without bytes": (
        {ROUTES: "0 1\n"},
        "grim_routes_myri.txt:1: wrong type: path '1'; write <destination>:<byte>.<byte>..., bytes in hexadecimal",
    ),
    "path with bad digits": (
        {ROUTES: "0 1:8G\n"},
        "grim_routes_myri.txt:1: wrong type: path '1:8G'; write <destination>:<byte>.<byte>..., bytes in hexadecimal",
    ),
    "byte too large": (
        {ROUTES: "0 1:181\n"},
        "grim_routes_myri.txt:1: wrong type: path '1:181'; write <destination>:<byte>.<byte>..., bytes in hexadecimal",
    ),
    "route to itself": (
        {ROUTES: "0 0:80 1:81\n"},
        "grim_routes_myri.txt:1: route to itself: 'paris' has a path to 'paris'; list the other hosts only",
    ),
    "route missing": (
        {ROUTES: "0 1:81\n1\n"},
        "grim_routes_myri.txt:2: route missing: no route leads from 'metz' to 'paris'; "
        "add it to the line of its source",
    ),
    "source missing": (
        {ROUTES: "0 1:81\n"},
        "grim_config:4: route missing: no route leads from 'metz' to 'paris'; add it to the line of its source",
    ),
    "route to nowhere": (
        {ROUTES: "0 1:82\n1 0:BF\n"},
        "grim_routes_myri.txt:1: route to nowhere, 'paris' to 'metz': byte 1 (0x82) leads to port 2 of 's0', "
        "where no cable is; cabled ports: 0, 1",
    ),
    "route beyond the switch": (
        {ROUTES: "0 1:81\n1 0:BE\n"},
        "grim_routes_myri.txt:2: route to nowhere, 'metz' to 'paris': byte 1 (0xBE) leads from port 1 of 's0' "
        "to port -1; that switch has ports 0 to 3",
    ),
    "route with a type byte": (
        {ROUTES: "0 1:06\n1 0:BF\n"},
        "grim_routes_myri.txt:1: route to nowhere, 'paris' to 'metz': byte 1 is 0x06; "
        "a route byte is 80 to 8F (up to 15 ports on) or B1 to BF (up to 15 back)",
    ),
    "route too long": (
        {ROUTES: "0 1:81.81\n1 0:BF\n"},
        "grim_routes_myri.txt:1: route to nowhere, 'paris' to 'metz': "
        "it arrives at host 'metz' with 1 route byte left; drop them",
    ),
    "route to another host": (
        ring("h0 h1:83.81.BE h2:82.BD\nh1 h0:82.BD h2:83.BE\nh2 h0:83.BE h1:82.BD\n"),
        "ring_routes:1: route arrives at another host, 'h0' to 'h1': 83 81 BE leads to 'h2'; correct its bytes",
    ),
    "cyclic routes": (
        ring("h0 h1:83.BE h2:83.81.BE\nh1 h2:83.BE h0:83.81.BE\nh2 h0:83.BE h1:83.81.BE\n"),
        "ring_routes:3: cyclic routes: packets can wait for each other in a circle: s0.3->s1.2 (then h0 to h2), "
        "s1.3->s2.2 (then h1 to h0), s2.3->s0.2 (then h2 to h1); "
        "use up*/down* routes (ROUTES COMPUTED) or break the cycle at one link",
    ),
}


@pytest.mark.parametrize(("changed", "text"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistake_is_named(tmp_path: Path, changed: dict[str, str], text: str) -> None:
    assert error_text(tmp_path, changed) == text
