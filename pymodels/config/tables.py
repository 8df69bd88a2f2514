"""Parsers of a cluster's static files: host map, routing table, circuits (paper 003, C.1.2). The formats are ours.

host map    <host> <physical ID>
routes      <source> <destination>:<byte>.<byte>... ...     bytes in hexadecimal; hosts by physical ID or name;
                                                            a repeated destination adds a further route
circuits    <image file> <slot> <circuit> [<module>:<function>]
            <image file> <slot> <module>:<function>         circuit in Python, named as its function
                                                            at the end of either, most=<bytes>: its longest message
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from pymodels.card.fabric import PLACES, Circuit, places
from pymodels.card.python import built, is_python, load, short_name
from pymodels.card.registers import CIRCUITS, MOST_MESSAGE, SLOTS
from pymodels.config.lines import Line, check_arguments, check_name, integer, named_file, read_lines
from pymodels.errors import SanlabError, nearest
from pymodels.numerals import is_whole, whole
from pymodels.routes import Pair

MAX_SLOT = SLOTS - 1
LIMIT = "most="
"""Start of the word of a circuit's line that names its longest message in bytes."""


class Place(NamedTuple):
    """Physical ID of a host, and its line in the host map."""

    pnn: int
    line: Line


def read_host_map(asked_by: Line | None) -> dict[str, Place]:
    """Return the physical IDs by host name, including hosts that the cluster does not use."""
    places: dict[str, Place] = {}
    owner: dict[int, str] = {}
    for line in read_lines(named_file(asked_by), asked_by) if asked_by else ():
        check_arguments(line, "<host> <physical_ID>")
        name = check_name(line, line.words[0], "host")
        pnn = integer(line, line.words[1], f"the physical ID of {name!r}", 0, 0xFFFF)
        if name in places:
            raise line.error(f"duplicate name {name!r}", f"already at {places[name].line.place}", "remove one line")
        if pnn in owner:
            cause = f"physical ID {pnn} already belongs to {owner[pnn]!r} at {places[owner[pnn]].line.place}"
            raise line.error("port used twice", cause, "give each host its own switch port")
        places[name], owner[pnn] = Place(pnn, line), name
    return places


class RouteTable(NamedTuple):
    """Content of a routes file: the routes of each pair in order, and the line of each source."""

    routes: dict[Pair, list[bytes]]
    lines: dict[str, Line]


def read_routes(asked_by: Line, names: dict[int, str]) -> RouteTable:
    """Return the routes by host names, given the host name of each physical ID."""
    table = RouteTable({}, {})
    for line in read_lines(named_file(asked_by), asked_by):
        source = _node(line, line.words[0], names)
        if source in table.lines:
            raise line.error(
                f"duplicate name {source!r}",
                f"its routes are already at {table.lines[source].place}",
                "one line per source",
            )
        table.lines[source] = line
        for target, route in _paths(line, names):
            if target == source:
                raise line.error("route to itself", f"{source!r} has a path to {target!r}", "list the other hosts only")
            ways = table.routes.setdefault((source, target), [])
            if route in ways:
                cause = f"{route.hex('.').upper()} leads from {source!r} to {target!r} twice"
                raise line.error("the same route again", cause, "keep one of the two, or give another way")
            ways.append(route)
    return table


def _paths(line: Line, names: dict[int, str]) -> Iterator[tuple[str, bytes]]:
    for word in line.words[1:]:
        target, colon, digits = word.partition(":")
        try:
            route = bytes(whole(part, 16) for part in digits.split("."))
        except ValueError:
            route = b""
        if not colon or not route:
            remedy = "write <destination>:<byte>.<byte>..., bytes in hexadecimal"
            raise line.error("wrong type", f"path {word!r}", remedy)
        yield _node(line, target, names), route


def _node(line: Line, word: str, names: dict[int, str]) -> str:
    if word in names.values():
        return word
    if is_whole(word):
        if int(word) in names:
            return names[int(word)]
        known = ", ".join(str(pnn) for pnn in sorted(names))
        raise line.error("unknown host", f"no host has the physical ID {word}", f"known: {known}")
    raise line.error("unknown host", f"{word!r} is not in the cluster", nearest(word, names.values()))


def read_circuits(asked_by: Line, check: Callable[[Line], None]) -> tuple[Circuit, ...]:
    """Return the circuits of the FPGA card; `check` checks the line that names their file."""
    check(asked_by)
    taken: dict[tuple[str, int], Line] = {}
    circuits: list[Circuit] = []
    for whole_line in read_lines(named_file(asked_by), asked_by):
        line, most = _limit(whole_line)
        image, name, python, beside = _circuit(line)
        slot = integer(line, line.words[1], f"the slot of {name!r}", 0, MAX_SLOT)
        first = taken.setdefault((image, slot), line)
        if first is not line:
            raise line.error(
                "slot used twice",
                f"slot {slot} of {image!r} holds {first.words[2]!r} ({first.place})",
                "use a free slot",
            )
        if any((c.image, c.name) == (image, name) and c.python != python for c in circuits):
            cause = f"another circuit of {image!r} is named {name!r}, too"
            raise line.error(f"duplicate name {name!r}", cause, "use another image, or rename the function")
        circuits.append(Circuit(image, slot, name, python, beside, most))
        if len({circuit.name for circuit in circuits}) > CIRCUITS:
            raise line.error("too many circuits", f"the card's tables hold {CIRCUITS}", "leave some out")
        if len(places(circuits)) > PLACES:
            raise line.error("too many circuits", f"the slots of all images hold {PLACES}", "leave some out")
    return tuple(circuits)


def _limit(line: Line) -> tuple[Line, int]:
    """Return a line of the circuit file without its limit, and its circuit's longest message in bytes."""
    last = line.words[-1]
    if not last.startswith(LIMIT):
        return line, MOST_MESSAGE
    most = integer(line, last.removeprefix(LIMIT), "the longest message in bytes", 1, MOST_MESSAGE)
    return line._replace(words=line.words[:-1]), most


def _circuit(line: Line) -> tuple[str, str, str, str]:
    """Return image, name, function in Python, and function beside the circuit in SystemVerilog, of a line."""
    check_arguments(line, "<image> <slot> <circuit> [<module>:<function>]")
    image, word, *more = (line.words[0], *line.words[2:])
    try:
        if is_python(word):
            load(word)
        if more:
            load(more[0])
    except SanlabError as error:
        raise line.error(error.what, error.cause, error.remedy) from error
    if is_python(word):
        if more:
            raise line.error("two circuits in Python", f"{word} and {more[0]} for one slot", "remove one")
        return image, check_name(line, short_name(word), "circuit"), word, ""
    name = check_name(line, word, "circuit")
    if name not in built():
        cause = f"hdl/card/myri_circuit_{name}.sv does not exist"
        raise line.error("unknown circuit", cause, nearest(name, built()))
    return image, name, "", more[0] if more else ""
