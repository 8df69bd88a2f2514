"""Cluster configuration as `grim_enable` reads it (paper 003, C.1 and C.2): a host finds its cluster by its name."""

from __future__ import annotations

from pathlib import Path

from firmware.grim.host.errors import GrimError
from firmware.view import ClusterView
from pymodels.config import Cluster, load_cluster

_read: dict[tuple[str, int], list[Cluster]] = {}
"""Clusters that hosts of this process have read, by file and time of the last change in its directory."""


def read(view: ClusterView) -> Cluster | None:
    """Return the checked cluster of this host, or None without configuration files.

    Routes that can deadlock are accepted here; the start of a run checks them.

    Raises:
        ConfigError: The files have a mistake.
        GrimError: The files differ from the configuration with which the NIs were started.
    """
    if not view.config:
        return None
    name, path = view.names[view.me], Path(view.config)
    known = _read.setdefault((view.config, _changed(path)), [])
    cluster = next((cluster for cluster in known if name in cluster.names), None)
    if cluster is None:
        cluster = load_cluster(path, name, allow_cycles=True)
        known.append(cluster)
    if cluster.names != view.names:
        cause = f"{cluster.file} lists hosts {', '.join(cluster.names)} in cluster {cluster.name!r}"
        raise GrimError("configuration", cause, f"restart the NIs, which were started for {', '.join(view.names)}")
    return cluster


def _changed(path: Path) -> int:
    """Return the time of the last change to a file in the configuration's directory in ns, or 0 without files."""
    return max((file.stat().st_mtime_ns for file in path.parent.glob("*")), default=0)
