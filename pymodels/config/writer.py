"""Writer of configuration files, for examples and generated networks."""

from __future__ import annotations

from pathlib import Path

from pymodels.config.model import Cluster

CONFIG = "grim_config"
HOST_MAP = "grim_hosts_myri.txt"
ROUTES = "grim_routes_myri.txt"


def render(cluster: Cluster, title: str) -> dict[str, str]:
    """Return the files of a cluster by name; `load_cluster` reads the same cluster from them. Circuits are left out."""
    resource = f"{cluster.name}_config.txt"
    routing = [] if cluster.routes.computed else [f"ROUTING_MYRI     {ROUTES}"]
    config = [f"NUM_NODES {len(cluster.hosts)}", "", f"!-- {title}", f"CLUSTER          {cluster.name}"]
    config += [f"CLUSTER_RESOURCE {resource}", *routing]
    for host in cluster.hosts:
        config += ["", f"HOST {host.name}", *(f"    USE {card}" for card in host.cards)]
        config += [f"    QUEUE_SIZE {q.resource} {q.size}" for q in host.queues]
        config += [f"    CHANNEL {connection}" for connection in host.channels]
    static = [f"!-- {title}: the network, switch by switch and cable by cable", f"HOST_MAP_MYRI {HOST_MAP}"]
    static += [f"PROFILE {cluster.profile}"] * (cluster.profile is not None)
    if cluster.routes.computed:
        static.append("ROUTES COMPUTED" + f" {cluster.routes.most}" * (cluster.routes.most > 1))
    static += cluster.topology.config_lines(mapped=True)
    hosts = ["!-- host, physical ID = its switch port, counted through all switches"]
    hosts += [f"{host.name} {host.pnn}" for host in cluster.hosts]
    files = {CONFIG: config, resource: static, HOST_MAP: hosts}
    if not cluster.routes.computed:
        files[ROUTES] = [
            "!-- source, then destination:route bytes; hosts by physical ID, bytes in hexadecimal",
            *_route_lines(cluster),
        ]
    return {name: "\n".join(lines) + "\n" for name, lines in files.items()}


def _route_lines(cluster: Cluster) -> list[str]:
    lines = []
    for source in cluster.hosts:
        targets = sorted((host.pnn, host.name) for host in cluster.hosts if host is not source)
        paths = ((pnn, route) for pnn, target in targets for route in cluster.routes.ways(source.name, target))
        words = (f"{pnn}:{route.hex('.').upper()}" for pnn, route in paths)
        lines.append(" ".join([str(source.pnn), *words]))
    return lines


def write(cluster: Cluster, folder: Path, title: str) -> Path:
    """Write the files of a cluster into a folder and return the path of the application configuration file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in render(cluster, title).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / CONFIG
