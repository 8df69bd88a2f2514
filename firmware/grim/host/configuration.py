"""The configuration as `grim_enable` reads it (paper 003, C.1 and C.2): every host finds itself in the files by its
name, and so the cluster that it is a part of.
"""

from __future__ import annotations

from pathlib import Path

from firmware.grim.host.errors import GrimError
from firmware.view import ClusterView
from pymodels.config import Cluster, load_cluster

_read: dict[tuple[str, int], list[Cluster]] = {}
"""By file and the time of the latest change beside it: the clusters that hosts of this process have read."""


def read(view: ClusterView) -> Cluster | None:
    """The cluster that this host belongs to, checked; None without files. Routes that can deadlock are not refused:
    that is decided where the run is started. Raises ConfigError at the first mistake in the files, GrimError when they
    do not say what the NIs were started with.
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
        cause = f"{cluster.file} lists the hosts {', '.join(cluster.names)} in cluster {cluster.name!r}"
        raise GrimError("configuration", cause, f"the NIs were started for {', '.join(view.names)}: start them again")
    return cluster


def _changed(path: Path) -> int:
    """When a file beside the configuration has changed last; 0 when there is none."""
    return max((file.stat().st_mtime_ns for file in path.parent.glob("*")), default=0)
