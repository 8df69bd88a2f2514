"""`make cluster`: write the files of a regular cluster for `make run CLUSTER=`, with computed and checked routes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from pymodels.builders import clos, fat_tree, host_names, ring, torus
from pymodels.config import load_cluster
from pymodels.config.generate import cluster_on
from pymodels.config.writer import write
from pymodels.errors import ConfigError, SanlabError, nearest
from pymodels.numerals import is_whole
from pymodels.topology import SWITCH_SIZES, Topology
from tb.plan.limits import MOST_HOSTS, check_size
from tb.tools.paths import OUT

SHAPES: Mapping[str, Callable[..., Topology]] = {"clos": clos, "fat_tree": fat_tree, "ring": ring, "torus": torus}
TITLES = {"clos": "a Clos network", "fat_tree": "a fat tree", "ring": "a ring", "torus": "a torus"}
FOLDER = OUT / "clusters"


def draw(shape: str, hosts: int, ports: int, folder: Path) -> str:
    """Write a cluster and return its description in one line. Raises SanlabError before anything is written.

    Args:
        shape: Name in SHAPES.
        hosts: Number of hosts.
        ports: Number of ports of each switch.
        folder: Folder for the files.
    """
    if shape not in SHAPES:
        cause = f"SHAPE is one of {', '.join(SHAPES)}"
        raise ConfigError("SHAPE", 0, f"unknown shape {shape!r}", cause, nearest(shape, SHAPES))
    _check("HOSTS", hosts, range(2, MOST_HOSTS + 1))
    if ports not in SWITCH_SIZES:
        sizes = " or ".join(map(str, SWITCH_SIZES))
        raise ConfigError("PORTS", 0, "value out of range", f"PORTS is {ports}", f"switches have {sizes} ports")
    topology = SHAPES[shape](host_names(hosts), ports)
    check_size(hosts, 0, len(topology.switches), f"{shape}{hosts}")
    cluster = cluster_on(f"{shape}{hosts}", topology)
    said = f"{hosts} hosts on {TITLES[shape]} of {len(topology.switches)} {ports}-port switches"
    file = write(cluster, folder, said)
    longest = max(len(route) for _, route in load_cluster(file).routes.each())
    return f"{said}, {len(topology.links)} cables, routes of at most {longest} switches, deadlock-free"


def _check(name: str, value: int, allowed: range) -> None:
    if value not in allowed:
        remedy = f"{allowed.start} to {allowed.stop - 1}"
        raise ConfigError(name, 0, "value out of range", f"{name} is {value}", remedy)


def _number(name: str, text: str) -> int:
    if not is_whole(text):
        raise ConfigError(name, 0, "not a number", f"{name} is {text!r}", "give a whole number")
    return int(text)


def main(argv: list[str] | None = None) -> int:
    """Write the cluster that the command line describes and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab cluster", description=__doc__)
    parser.add_argument("--shape", default="clos", help=", ".join(SHAPES))
    parser.add_argument("--hosts", default="64")
    parser.add_argument("--ports", default="16", help="ports of each switch")
    parser.add_argument("--out", default="", help="folder (default sim_build/clusters/<shape><hosts>)")
    words = parser.parse_args(argv)
    try:
        hosts, ports = _number("HOSTS", words.hosts or "64"), _number("PORTS", words.ports or "16")
        shape = words.shape or "clos"
        folder = Path(words.out) if words.out else FOLDER / f"{shape}{hosts}"
        said = draw(shape, hosts, ports, folder)
    except SanlabError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"{said}\nmake run STUDY=grim_streaming CLUSTER={os.path.relpath(folder)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
