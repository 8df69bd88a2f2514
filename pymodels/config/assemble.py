"""Assembly of a checked Cluster from the lines of a configuration."""

from __future__ import annotations

from pathlib import Path

from pymodels.config.grammar import (
    RawCluster,
    RawFile,
    RawHost,
    check_circuits_wanted,
    connection_of,
    parse_config,
    parse_resources,
    queue_resource,
)
from pymodels.config.lines import Line, integer
from pymodels.config.model import FPGA_CARD, HOST_QUEUE, MAX_HOSTS, Cluster, Connection, Host, QueueRequest
from pymodels.config.network import Network
from pymodels.config.tables import RouteTable, read_circuits, read_host_map, read_routes
from pymodels.errors import ConfigError, nearest
from pymodels.profiles import check_profile_name
from pymodels.routes import RouteError, Routes, check_routes
from pymodels.topology import Topology
from pymodels.updown import up_down

MIN_QUEUE = 64
MAX_QUEUE = 1 << 30
MAX_ROUTES = 16


def load_cluster(path: Path, host: str | None = None, allow_cycles: bool = False) -> Cluster:
    """Return the cluster of a configuration file and the files that it names.

    Args:
        path: The application configuration file.
        host: Host whose cluster is chosen if the file has several (paper 003, C.1.1).
        allow_cycles: True to accept given routes that can deadlock, for studies of deadlock.

    Raises:
        ConfigError: The first mistake in the files.
    """
    raw_file = parse_config(path)
    raw = _choose(raw_file, host)
    parse_resources(raw)
    used = _used_hosts(raw_file, raw)
    host_map = read_host_map(raw.once.get("HOST_MAP_MYRI"))
    topology = Network(raw, used, host_map).topology()
    pnn = {name: topology.running_port(topology.attachment(name)) for name in topology.hosts}
    names = {place.pnn: name for name, place in host_map.items()} | {number: name for name, number in pnn.items()}
    circuit_line = raw.once.get("CIRCUITS_CELOXICA")
    cards = {card for h in used for card in h.cards}
    return Cluster(
        name=raw.name,
        file=raw_file.path,
        hosts=tuple(
            Host(h.name, vnn, pnn[h.name], tuple(h.cards), _queues(raw, h), _channels(raw, h))
            for vnn, h in enumerate(used)
        ),
        topology=topology,
        routes=_routes(raw_file, raw, topology, names, allow_cycles),
        profile=_profile(raw.once.get("PROFILE")),
        circuits=read_circuits(circuit_line, lambda line: check_circuits_wanted(line, cards)) if circuit_line else (),
    )


def _choose(raw: RawFile, host: str | None) -> RawCluster:
    if not raw.clusters:
        raise ConfigError(raw.path, 0, "no cluster", "the file has no CLUSTER line", "add CLUSTER <name> and its hosts")
    if host is not None:
        if host not in raw.owner:
            raise ConfigError(
                raw.path, 0, "unknown host", f"{host!r} is in no CLUSTER of this file", nearest(host, raw.owner)
            )
        return raw.owner[host]
    if len(raw.clusters) > 1:
        names = ", ".join(c.name for c in raw.clusters)
        cause = f"the file has {len(raw.clusters)} clusters ({names}) and no host was named"
        line = raw.clusters[1].line
        raise line.error("which cluster", cause, "name a host of yours by GRIM_HOST: its cluster is taken")
    return raw.clusters[0]


def _used_hosts(raw_file: RawFile, raw: RawCluster) -> list[RawHost]:
    """Return the hosts in use: the first NUM_NODES of the cluster, or all without NUM_NODES."""
    if not raw.hosts:
        raise raw.line.error("cluster without hosts", f"{raw.name!r} has no HOST line", "add HOST <name> and USE MYRI")
    line = raw_file.once.get("NUM_NODES")
    count = integer(line, line.words[1], "NUM_NODES", 1, MAX_HOSTS) if line else len(raw.hosts)
    if line and count > len(raw.hosts):
        cause = f"NUM_NODES is {count}, but cluster {raw.name!r} lists {len(raw.hosts)} hosts"
        raise line.error("value out of range", cause, "add HOST lines or lower NUM_NODES")
    if count > MAX_HOSTS:
        cause = f"host {raw.hosts[MAX_HOSTS].name!r} would have VNN {MAX_HOSTS}"
        raise raw.hosts[MAX_HOSTS].line.error(
            "value out of range", cause, f"a VNN is at most {MAX_HOSTS - 1}; use fewer hosts"
        )
    return raw.hosts[:count]


def _queues(raw: RawCluster, host: RawHost) -> tuple[QueueRequest, ...]:
    """Return the queue requests of a host; its own lines override those of the cluster."""
    cards, everyone = tuple(host.cards), _cards(raw)
    general = _requests(raw.repeated["QUEUE_SIZE"], everyone, f"no host of cluster {raw.name!r}")
    own = _requests(host.repeated["QUEUE_SIZE"], cards, f"host {host.name!r}")
    return tuple(r for r in (general | own).values() if r.resource == HOST_QUEUE or r.resource in cards)


def _cards(raw: RawCluster) -> tuple[str, ...]:
    """Return the cards that any host of the cluster uses."""
    return tuple({card for host in raw.hosts for card in host.cards})


def _channels(raw: RawCluster, host: RawHost) -> tuple[Connection, ...]:
    """Return the connected channels of a host by number.

    A line of the host replaces the cluster's lines for the same channel, and for the same card or process.
    """
    general = _connections(raw.repeated["CHANNEL"], _cards(raw), f"no host of cluster {raw.name!r}")
    own = _connections(host.repeated["CHANNEL"], tuple(host.cards), f"host {host.name!r}")
    replaced = {_key(connection) for connection in own}
    found = {connection.channel: connection for connection in own}
    for connection in general:
        absent = connection.endpoint == FPGA_CARD and FPGA_CARD not in host.cards
        if not absent and _key(connection) not in replaced:
            found.setdefault(connection.channel, connection)
    return tuple(found[channel] for channel in sorted(found))


def _key(connection: Connection) -> tuple[object, ...]:
    """Return what only one connection of a host can have: the card or process, or the channel of a host's line."""
    own = connection.channel if connection.endpoint == HOST_QUEUE else connection.process
    return connection.endpoint, own


def _connections(lines: list[Line], cards: tuple[str, ...], owner: str) -> list[Connection]:
    """Return the connections of the lines of one level; a repeated channel, card or process is an error."""
    found: dict[object, Connection] = {}
    for line in lines:
        connection = connection_of(line, cards, owner)
        for key, what in ((connection.channel, f"channel {connection.channel}"), (_key(connection), "")):
            first = found.setdefault(key, connection)
            if first is not connection:
                name = what or " ".join(filter(None, (connection.endpoint, connection.process)))
                raise line.error(f"{name} connected twice", f"CHANNEL {first} at {first.place}", "remove one line")
    return list(dict.fromkeys(found.values()))


def _requests(lines: list[Line], cards: tuple[str, ...], owner: str) -> dict[str, QueueRequest]:
    """Return queue requests by resource; a repeated resource is an error."""
    found: dict[str, QueueRequest] = {}
    for line in lines:
        resource = queue_resource(line, cards, owner)
        if resource in found:
            raise line.error(f"QUEUE_SIZE {resource} given twice", f"first at {found[resource].place}", "remove one")
        size = integer(line, line.words[2], f"the queue size of {resource}", MIN_QUEUE, MAX_QUEUE)
        found[resource] = QueueRequest(resource, size, line.place)
    return found


def _profile(line: Line | None) -> str | None:
    if line is None:
        return None
    try:
        return check_profile_name(line.words[1])
    except ConfigError as error:
        raise line.error(error.what, error.cause, error.remedy) from None


def _routes(
    raw_file: RawFile, raw: RawCluster, topology: Topology, names: dict[int, str], allow_cycles: bool
) -> Routes:
    """Return the given routes after verification, or computed ones if requested or if no file is named."""
    computed, given = raw.once.get("ROUTES"), raw.once.get("ROUTING_MYRI")
    if computed and computed.words[1] != "COMPUTED":  # the number after it is checked where it is used
        raise computed.error("unknown word after ROUTES", f"{computed.words[1]!r}", "write ROUTES COMPUTED")
    if computed and given:
        raise computed.error(
            "routes given twice", f"ROUTING_MYRI names a file at {given.place}", "keep one of the two lines"
        )
    given = given or (None if computed else raw_file.once.get("LCP_FILE"))
    if given is None:
        return _computed(topology, computed)
    table = read_routes(given, names)
    used = {pair: ways for pair, ways in table.routes.items() if set(topology.hosts).issuperset(pair)}
    others = {pair: tuple(more) for pair, (_, *more) in used.items() if more}
    routes = Routes({pair: ways[0] for pair, ways in used.items()}, others=others)
    try:
        check_routes(topology, routes, allow_cycles)
    except RouteError as error:
        raise _at_its_line(error, table, given) from None
    return routes


def _computed(topology: Topology, line: Line | None) -> Routes:
    """Return computed routes: one for each pair, or the number on the line if the network has as many."""
    most = integer(line, line.words[2], "the routes of a pair", 1, MAX_ROUTES) if line and len(line.words) > 2 else 1
    routes = up_down(topology, most=most)
    if line and routes.most < most:
        cause = f"no two hosts have {most} shortest ways from one to the other; the most is {routes.most}"
        raise line.error("more routes than there are", cause, f"write ROUTES COMPUTED {routes.most}, or add cables")
    return routes


def _at_its_line(error: RouteError, table: RouteTable, given: Line) -> ConfigError:
    """Return a route error at the line of the route's source, or at the line that names the file."""
    line = table.lines.get(error.pair[0], given) if error.pair else given
    return line.error(error.what, error.cause, error.remedy)
