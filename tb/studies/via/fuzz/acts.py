"""Random programs for VIA: options, faults, connections, and the acts on each connection."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tb.fuzz.draw import Draw, nics
from tb.fuzz.program import Act, Program, Value
from tb.studies.via.fuzz.changes import UNLIKE
from tb.studies.via.fuzz.choices import options
from tb.studies.via.fuzz.invalid import WRONGS
from tb.studies.via.fuzz.lending import USES
from tb.studies.via.fuzz.misuse import MISUSES

LINKS = 4
KINDS: Mapping[str, tuple[str, ...]] = {
    "message": ("side", "bytes", "pieces", "parts", "extra", "immediate"),
    "message too": ("side", "bytes", "pieces", "parts", "extra", "immediate"),
    "messages": ("side", "bytes", "times"),
    "burst": ("side", "bytes", "many"),
    "long message": ("side", "kilobytes", "cuts"),
    "write": ("side", "bytes", "pieces", "immediate"),
    "read": ("side", "bytes", "pieces"),
    "wrong": ("side", "what"),
    "wrong receive": ("side", "bytes", "pieces", "parts", "extra", "immediate", "what"),
    "take": ("side", "how"),
    "two threads": ("side", "bytes", "queue", "how"),
    "resize": ("side", "queue", "entries", "threads"),
    "receive nothing": ("side", "bytes"),
    "too long": ("side", "bytes"),
    "forbidden": ("side", "bytes", "operation", "memory"),
    "renew": ("side", "role", "load"),
    "remake": ("side", "role", "load"),
    "reshape": ("side", "role", "load", "level", "most", "denied"),
    "refuse": ("side", "role", "load", "how refused"),
    "early": ("side", "role", "load", "bytes", "times"),
    "lend": ("side", "bytes", "use", "rights"),
    "lend too": ("side", "bytes", "use", "rights"),
    "ask": ("side",),
    "misuse": ("side", "misuse"),
    "garbage": ("side", "seed", "times"),
    "garbage too": ("side", "seed", "times"),
    "stop": ("us",),
}
"""Random parameters of each act, by the name of the act."""
WORDS: Mapping[str, tuple[str, ...]] = {
    "what": WRONGS,
    "misuse": tuple(MISUSES),
    "how": ("done", "poll", "wait", "notify"),
    "how refused": ("reject", *UNLIKE),
    "operation": ("write", "read"),
    "memory": ("closed", "beyond", "foreign", "nothing", "far", "odd"),
    "role": ("client", "server", "peer"),
    "level": ("unreliable", "delivery", "reception"),
    "use": tuple(USES),
    "queue": ("sends", "receives"),
    "completions": ("each", "both", "process"),
}
MOST, ENTRIES = (0, 4096), (1024, 1024, 40, 8, 2)
CHOICES: Mapping[str, tuple[int, ...]] = {"most": MOST, "entries": ENTRIES}
NUMBERS: Mapping[str, tuple[int, int]] = {
    "side": (0, 1),
    "pieces": (1, 4),
    "parts": (1, 4),
    "extra": (0, 100),
    "immediate": (0, 1),
    "times": (2, 12),
    "many": (8, 40),
    "kilobytes": (10, 60),
    "cuts": (1, 60),
    "load": (0, 3),
    "rights": (0, 3),
    "denied": (0, 15),
    "threads": (1, 2),
    "us": (1, 300),
    "seed": (0, 9999),
}

EXACT = 6
"""Inverse share of the programs that check the length of each packet to the byte."""


def program(draw: Draw) -> Program:
    """Return a random program for VIA. Its first acts define the connections; the node of a later act is its
    connection.
    """
    nodes = draw.whole(2, 4)
    nic = draw.one_of(nics("via", 4))
    chosen = options(draw, nodes, nic)
    faults = _faults(draw)
    hostile = draw.once_in(4)
    links = [_link(draw, nodes, number, hostile) for number in range(draw.whole(1, LINKS))]
    acts = draw.items(partial(_act, links=len(links)), 12, 25)
    if draw.once_in(EXACT):
        chosen["exact"] = 1  # does not change the rest of the program
    return Program(nodes, nic, chosen, faults, (*links, *acts))


def _faults(draw: Draw) -> dict[str, int]:
    if not draw.once_in(4):
        return {}
    faults = {"seed": draw.whole(0, 999)}
    for name in ("loss", "damage", "reorder", "double"):
        if draw.once_in(2):
            faults[name] = draw.whole(1, 60)
    return faults


def _link(draw: Draw, nodes: int, number: int, hostile: bool) -> Act:
    """Return a random connection: its nodes, processes, level, client, and completion queues.

    If there are hostile connections, they use the second process of each node, and the others the first.
    """
    bad = int(hostile and (number == 0 or draw.once_in(3)))
    first = draw.whole(0, nodes - 1)
    values: dict[str, Value] = {
        "first": first,
        "second": (first + draw.whole(1, nodes - 1)) % nodes,
        "process": bad if hostile else draw.whole(0, 1),
        "hostile": bad,
        "level": draw.one_of(WORDS["level"]),
        "role": draw.one_of(WORDS["role"]),
        "queues": draw.whole(0, 15),
        "most": draw.one_of(MOST),
        "completions": draw.one_of(WORDS["completions"]),
        "entries": draw.one_of(ENTRIES),
    }
    return Act(number, "connection", values, who="link")


def _act(draw: Draw, links: int) -> Act:
    link = draw.whole(0, links - 1)
    name = draw.one_of(tuple(KINDS))
    return Act(link, name, {value: _value(draw, value) for value in KINDS[name]}, who="link")


def _value(draw: Draw, name: str) -> Value:
    if name in WORDS:
        return draw.one_of(WORDS[name])
    if name == "bytes":
        return draw.one_of((64, 0, 1, 4, 8, 9, 1000, 4096, 5000, draw.whole(0, 9000)))
    if name in CHOICES:
        return draw.one_of(CHOICES[name])
    low, high = NUMBERS[name]
    return draw.whole(low, high)
