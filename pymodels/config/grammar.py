"""Parser of the application configuration file and the cluster's resource file, by keyword (paper 003, C.1).

The result contains the unchecked lines by keyword; `assemble` checks them against each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pymodels.config.lines import Line, check_arguments, check_name, integer, named_file, read_lines, unknown
from pymodels.config.model import CARDS, ENDPOINT_CARDS, FPGA_CARD, HOST_QUEUE, MAX_CHANNEL, PROCESS, Connection

FILE_WIDE = {"NUM_NODES": "NUM_NODES <hosts>", "LCP_FILE": "LCP_FILE <file>"}
"""Keywords allowed once in a file."""
ONCE = {
    "ROUTING_MYRI": "ROUTING_MYRI <file>",
    "HOST_MAP_MYRI": "HOST_MAP_MYRI <file>",
    "CIRCUITS_CELOXICA": "CIRCUITS_CELOXICA <file>",
    "PROFILE": "PROFILE <name>",
    "ROUTES": "ROUTES COMPUTED [<routes_of_a_pair>]",
}
"""Keywords allowed once in a cluster, in either of its two files."""
REPEATED = {
    "SWITCH": "SWITCH <name> <ports>",
    "LINK": "LINK <node> <port> <node> <port> [metres]",
    "QUEUE_SIZE": "QUEUE_SIZE <resource> <bytes>",
    "CHANNEL": "CHANNEL <number> <endpoint> [process]",
}
"""Keywords allowed any number of times in a cluster, in either of its two files."""
STRUCTURE = {
    "CLUSTER": "CLUSTER <name>",
    "CLUSTER_RESOURCE": "CLUSTER_RESOURCE <file>",
    "HOST": "HOST <name>",
    "USE": "USE <resource>",
}
"""Keywords allowed only in the application configuration file."""
OF_HOSTS = ("QUEUE_SIZE", "CHANNEL")
"""Keywords of REPEATED that concern one host if they follow its HOST line, and otherwise all hosts."""
ENDPOINTS = (HOST_QUEUE, FPGA_CARD, PROCESS)
"""Endpoints that a CHANNEL line connects."""
IN_RESOURCE_FILE = ONCE | REPEATED
IN_CONFIG_FILE = FILE_WIDE | STRUCTURE | IN_RESOURCE_FILE


@dataclass
class RawHost:
    """Lines of a HOST."""

    name: str
    line: Line
    cards: dict[str, Line] = field(default_factory=dict)
    repeated: dict[str, list[Line]] = field(default_factory=lambda: {key: [] for key in OF_HOSTS})
    """Lines of OF_HOSTS that concern this host alone."""


@dataclass
class RawCluster:
    """Lines of a CLUSTER, including those of its resource file."""

    name: str
    line: Line
    hosts: list[RawHost] = field(default_factory=list)
    once: dict[str, Line] = field(default_factory=dict)
    repeated: dict[str, list[Line]] = field(default_factory=lambda: {key: [] for key in REPEATED})


@dataclass
class RawFile:
    """Lines of an application configuration file."""

    path: str
    once: dict[str, Line] = field(default_factory=dict)
    clusters: list[RawCluster] = field(default_factory=list)
    owner: dict[str, RawCluster] = field(default_factory=dict)
    """Cluster of each host name."""


def parse_config(path: Path) -> RawFile:
    """Return the lines of an application configuration file. Raises ConfigError for the first mistake."""
    raw = RawFile(str(path))
    for line in read_lines(path):
        _keyword(line, IN_CONFIG_FILE)
        if line.words[0] in FILE_WIDE:
            _once(raw.once, line)
        elif line.words[0] == "CLUSTER":
            if any(c.name == line.words[1] for c in raw.clusters):
                raise line.error(f"duplicate name {line.words[1]!r}", "two clusters carry it", "rename one of them")
            raw.clusters.append(RawCluster(check_name(line, line.words[1], "cluster"), line))
        elif not raw.clusters:
            raise line.error(
                f"{line.words[0]} outside a cluster", "no CLUSTER line before it", "begin with CLUSTER <name>"
            )
        else:
            _cluster_line(raw, raw.clusters[-1], line)
    return raw


def parse_resources(cluster: RawCluster) -> None:
    """Add the lines of the file in CLUSTER_RESOURCE to the cluster. Raises ConfigError for the first mistake."""
    asked_by = cluster.once.get("CLUSTER_RESOURCE")
    for line in read_lines(named_file(asked_by), asked_by) if asked_by else ():
        _keyword(line, IN_RESOURCE_FILE)
        if line.words[0] in ONCE:
            _once(cluster.once, line)
        else:
            cluster.repeated[line.words[0]].append(line)


def _keyword(line: Line, known: dict[str, str]) -> None:
    word = line.words[0]
    if word not in known:
        if word in IN_CONFIG_FILE:
            raise line.error(
                f"{word} in a resource file", "it belongs to the application configuration file", "move it there"
            )
        raise unknown(line, "keyword", word, known)
    check_arguments(line, known[word])


def _once(lines: dict[str, Line], line: Line) -> None:
    first = lines.setdefault(line.words[0], line)
    if first is not line:
        raise line.error(f"{line.words[0]} given twice", f"first at {first.place}", "remove one")


def _cluster_line(raw: RawFile, cluster: RawCluster, line: Line) -> None:
    word = line.words[0]
    host = cluster.hosts[-1] if cluster.hosts else None
    if word == "HOST":
        _host(raw, cluster, line)
    elif word == "USE":
        _use(host, line)
    elif word in OF_HOSTS and host:
        host.repeated[word].append(line)
    elif word in REPEATED:
        cluster.repeated[word].append(line)
    else:
        _once(cluster.once, line)


def _host(raw: RawFile, cluster: RawCluster, line: Line) -> None:
    name = check_name(line, line.words[1], "host")
    other = raw.owner.setdefault(name, cluster)
    first = next((h.line for h in other.hosts if h.name == name), None)
    if first:
        remedy = "list each host once in the whole file, since its name selects the cluster"
        raise line.error(f"duplicate name {name!r}", f"HOST {name} is already at {first.place}", remedy)
    cluster.hosts.append(RawHost(name, line))


def _use(host: RawHost | None, line: Line) -> None:
    card = line.words[1]
    if host is None:
        raise line.error("USE outside a host", "no HOST line before it", "begin with HOST <name>")
    if card not in CARDS:
        raise unknown(line, "resource", card, CARDS)
    if card in host.cards:
        cause = f"host {host.name!r} already uses it at {host.cards[card].place}"
        raise line.error(f"duplicate name {card!r}", cause, "remove one USE line")
    if card in ENDPOINT_CARDS and (other := next((one for one in ENDPOINT_CARDS if one in host.cards), "")):
        cause = f"host {host.name!r} uses {other} at {host.cards[other].place}, and has one card that takes messages"
        raise line.error("second endpoint", cause, "remove one USE line")
    host.cards[card] = line


def queue_resource(line: Line, cards: tuple[str, ...], owner: str) -> str:
    """Return the resource of a QUEUE_SIZE line: HOST, or a card that `owner` has."""
    resource = line.words[1]
    if resource not in (HOST_QUEUE, *CARDS):
        raise unknown(line, "resource", resource, (HOST_QUEUE, *CARDS))
    if resource != HOST_QUEUE and resource not in cards:
        raise line.error(
            "resource not in use",
            f"{owner} uses {resource}" if owner.startswith("no ") else f"{owner} does not use {resource}",
            f"add USE {resource} or remove the line",
        )
    return resource


def connection_of(line: Line, cards: tuple[str, ...], owner: str) -> Connection:
    """Return the connection of a CHANNEL line of `owner`, which has these cards. Raises ConfigError."""
    _, number, endpoint, *rest = line.words
    channel = integer(line, number, "the channel", 0, MAX_CHANNEL)
    if endpoint not in ENDPOINTS:
        if endpoint in CARDS:
            chosen = "has the highest channel that no line connects"
            cause = f"{endpoint} {chosen if endpoint in ENDPOINT_CARDS else 'takes no messages'}"
            raise line.error("wrong endpoint", cause, f"connect {', '.join(ENDPOINTS[:-1])} or {PROCESS}")
        raise unknown(line, "endpoint", endpoint, ENDPOINTS)
    if (endpoint == PROCESS) != bool(rest):
        cause = f"{PROCESS} without a name" if endpoint == PROCESS else f"{rest[0]!r} behind {endpoint}"
        raise line.error("wrong endpoint", cause, f"write CHANNEL {channel} {endpoint}{' <name>' * (not rest)}")
    if endpoint == FPGA_CARD and endpoint not in cards:
        cause = f"{owner} uses {endpoint}" if owner.startswith("no ") else f"{owner} does not use {endpoint}"
        raise line.error("resource not in use", cause, f"add USE {endpoint} or remove the line")
    if not channel and endpoint != HOST_QUEUE:
        cause = f"channel 0 carries the messages between the hosts' libraries, so it is {HOST_QUEUE}'s"
        raise line.error("value out of range", cause, f"connect {endpoint} to 1 to {MAX_CHANNEL}")
    return Connection(channel, endpoint, check_name(line, rest[0], "process") if rest else "", line.place)


def check_circuits_wanted(line: Line, cards: set[str]) -> None:
    """Raise ConfigError if circuits are listed but no host uses an FPGA card."""
    if FPGA_CARD not in cards:
        remedy = f"add USE {FPGA_CARD} to a host or remove the line"
        raise line.error("resource not in use", f"no host of the cluster uses {FPGA_CARD}", remedy)
